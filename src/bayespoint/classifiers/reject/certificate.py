"""Watch a promise after deployment: does it still hold?"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from scipy.special import logsumexp
from sklearn.utils.validation import column_or_1d

from .groups import UNKNOWN, as_groups, group_codes, group_name, is_missing

__all__ = ["Certificate", "Watched"]

# Errors that are bet on, as multiples of the promised one.
MULTIPLES = (1.25, 1.5, 2.0, 3.0, 5.0, 10.0)
# A new bet begins after so many answers. Bets that began before a change are spoiled by the good
# rows before it; a new one is not.
ROWS_PER_BET = 100
# Evidence is not told beyond this logarithm, where a float would overflow.
LARGEST_LOG = 700.0
# The group of all rows, if promises are not kept by group.
ALL_ROWS = "all rows"


class Watched(NamedTuple):
    """What is known about the answers to the rows of a group."""

    group: object
    n_answers: int
    n_wrong: int
    evidence: float  # against the promise; the largest so far
    holds: bool  # False once the evidence was enough


@dataclass
class _Bets:
    """Bets against a promise, begun at different times."""

    n_answers: int = 0
    n_wrong: int = 0
    # The log of what all bets on each error own together: they win and lose alike.
    worth: np.ndarray = field(default_factory=lambda: np.full(len(MULTIPLES), -np.inf))
    largest: float = 0.0  # log evidence


class Certificate:
    """A promise about the error of answers, and the evidence against it since deployment.

    `RejectOptionClassifier.certificate` makes it. Give it the true classes of answered rows as
    they become known, in their order and without a choice by their outcome.

    Parameters
    ----------
    max_error : float
        The promise: at most this share of the answers is wrong.
    confidence_level : float, default=0.95
        If the promise holds for all time, the certificate says that it does not with a
        probability of at most 1 - confidence_level, however often one looks.
    reject_label : label, default=None
        What stands for rows that were not answered; they do not count.
    groups : array-like, default=None
        The groups for each of which the promise is made.

    Notes
    -----
    The evidence is what a gambler owns who starts with one unit and bets on errors, at odds that
    are fair if the error is `max_error`. Parts of the unit are bet on several larger errors, and
    from several moments on, so that a change after a long good time is noticed too. If the
    promise holds, wealth reaches G / (1 - confidence_level) in one of G groups with probability
    1 - confidence_level at most (Ville's inequality), at any time.

    Examples
    --------
    >>> import numpy as np
    >>> from bayespoint.classifiers.reject.certificate import Certificate
    >>> certificate = Certificate(max_error=0.05)
    >>> rng = np.random.default_rng(0)
    >>> y, answers = np.ones(2000, dtype=int), np.where(rng.random(2000) < 0.04, 0, 1)
    >>> certificate.update(y, answers).holds
    True
    >>> answers = np.where(rng.random(500) < 0.15, 0, 1)
    >>> certificate.update(y[:500], answers).holds
    False
    """

    def __init__(
        self, max_error: float, confidence_level: float = 0.95, reject_label=None, groups=None
    ):
        for name, value in (("max_error", max_error), ("confidence_level", confidence_level)):
            if not 0 < value < 1:
                raise ValueError(f"{name} should be between 0 and 1, but is {value!r}.")
        self.max_error, self.confidence_level = float(max_error), float(confidence_level)
        self.reject_label = reject_label
        self.groups = [ALL_ROWS] if groups is None else np.asarray(groups).tolist()
        self.by_group = groups is not None
        self._bets = [_Bets() for _ in self.groups]

    @property
    def holds(self) -> bool:
        """Whether there is not enough evidence against the promise."""
        return all(watched.holds for watched in self.watched())

    def update(self, y_true, answers, groups=None) -> Certificate:
        """Take note of the true classes of more rows.

        Parameters
        ----------
        y_true : array-like of shape (n_rows,)
            True classes.
        answers : array-like of shape (n_rows,)
            What the model predicted.
        groups : array-like of shape (n_rows,), default=None
            The group of each row, if the promise is made for each group.

        Returns
        -------
        Certificate
            The same object.
        """
        y_true, answers = column_or_1d(y_true), column_or_1d(answers)
        if len(y_true) != len(answers):
            raise ValueError(
                f"y_true and answers should have one entry for each row, but have {len(y_true)} "
                f"and {len(answers)}."
            )
        self._check_labels(y_true, answers)
        answered = np.ones(len(answers), dtype=bool)
        if self.reject_label is not None:
            answered = np.asarray(answers != self.reject_label, dtype=bool)
        codes = self._codes_of(groups, answered)
        wrong = np.asarray(answers != y_true, dtype=bool)
        for place, bets in enumerate(self._bets):
            self._bet(bets, wrong[answered & (codes == place)])
        return self

    def watched(self) -> list[Watched]:
        """Return what is known about each group."""
        enough = math.log(len(self.groups)) - math.log1p(-self.confidence_level)
        return [
            Watched(
                group,
                bets.n_answers,
                bets.n_wrong,
                math.exp(min(bets.largest, LARGEST_LOG)),
                bets.largest < enough,
            )
            for group, bets in zip(self.groups, self._bets, strict=True)
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return everything, ready for JSON."""
        return {
            "max_error": self.max_error,
            "confidence_level": self.confidence_level,
            "reject_label": self.reject_label,
            # JSON has no NaN, which is the group of missing numbers.
            "groups": [None if is_missing(group) else group for group in self.groups]
            if self.by_group
            else None,
            "bets": [
                {
                    "n_answers": bets.n_answers,
                    "n_wrong": bets.n_wrong,
                    "worth": bets.worth.tolist() if bets.n_answers else [],
                    "largest": bets.largest,
                }
                for bets in self._bets
            ],
        }

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> Certificate:
        """Return the certificate that `to_dict` described."""
        names = ("max_error", "confidence_level", "reject_label", "groups")
        facts = {name: content[name] for name in names}
        if facts["groups"] is not None:
            if not len(facts["groups"]):
                raise ValueError("The description of a certificate has no groups.")
            facts["groups"] = [math.nan if one is None else one for one in facts["groups"]]
        certificate = cls(**facts)
        if len(content["bets"]) != len(certificate.groups):
            raise ValueError("The description of a certificate does not fit to its groups.")
        for bets, stored in zip(certificate._bets, content["bets"], strict=True):
            bets.n_answers, bets.n_wrong = int(stored["n_answers"]), int(stored["n_wrong"])
            # Earlier versions stored each bet, begun at another time, in a row of its own.
            worth = np.array(stored["worth"], dtype=float).reshape(-1, len(MULTIPLES))
            bets.worth = logsumexp(worth, axis=0) if len(worth) else bets.worth
            bets.largest = float(stored["largest"])
            is_known = bets.n_answers == 0 or np.isfinite(bets.worth).all()
            is_known = is_known and 0 <= bets.largest < math.inf
            if not (is_known and 0 <= bets.n_wrong <= bets.n_answers):
                raise ValueError("The description of a certificate has impossible numbers.")
        return certificate

    def _check_labels(self, y_true: np.ndarray, answers: np.ndarray) -> None:
        """Raise if true classes and answers cannot be compared."""
        for name, labels in (("y_true", y_true), ("answers", answers)):
            if labels.dtype.kind in "fO":
                missing = np.flatnonzero([is_missing(label) for label in labels])
                if len(missing):
                    raise ValueError(
                        f"{name} has no class in row {missing[0]}. Leave out rows whose true class "
                        "is not known yet."
                    )
        kinds = {"number" if x.dtype.kind in "biuf" else x.dtype.kind for x in (y_true, answers)}
        if kinds == {"number", "U"}:
            raise ValueError(
                "y_true and answers should be of one kind, but one of them is numbers and the "
                "other texts."
            )
        if self.reject_label is not None and np.any(y_true == self.reject_label):
            raise ValueError(
                f"y_true has {self.reject_label!r}, which stands for rows that were not answered. "
                "True classes come first, then answers."
            )

    def _codes_of(self, groups, answered: np.ndarray) -> np.ndarray:
        """Return the place of each row's group."""
        if not self.by_group:
            return np.zeros(len(answered), dtype=int)
        if groups is None:
            raise ValueError(
                f"The promise is made for each of {len(self.groups)} groups: pass the groups of "
                "the rows."
            )
        values = as_groups(groups)
        if values.shape != answered.shape:
            raise ValueError(
                f"groups should have {len(answered)} entries, but has "
                f"{len(values) if values.ndim == 1 else values.shape}."
            )
        codes = group_codes(np.asarray(self.groups), values)
        strange = np.flatnonzero(answered & (codes == UNKNOWN))
        if len(strange):
            raise ValueError(
                f"Row {strange[0]} was answered, but nothing is promised for its group "
                f"{group_name(values[strange[0]])!r}. Pass what the model answered, and its groups."
            )
        return codes

    def _bet(self, bets: _Bets, wrong: np.ndarray) -> None:
        """Let all bets play against some answers, one after the other."""
        errors = np.minimum(np.array(MULTIPLES) * self.max_error, (1 + self.max_error) / 2)
        won = np.log(errors / self.max_error)
        lost = np.log1p(-errors) - math.log1p(-self.max_error)
        start = 0
        while start < len(wrong):
            number = bets.n_answers // ROWS_PER_BET + 1
            if bets.n_answers % ROWS_PER_BET == 0:
                # The new bet gets 1 / (number (number + 1)) of the unit, in equal parts.
                share = -math.log(number * (number + 1) * len(MULTIPLES))
                bets.worth = np.logaddexp(bets.worth, share)
            stop = min(len(wrong), start + ROWS_PER_BET - bets.n_answers % ROWS_PER_BET)
            steps = np.where(wrong[start:stop, None], won, lost)
            paths = bets.worth + np.cumsum(steps, axis=0)
            # What is left for later bets: 1 / (number + 1) of the unit.
            owned = np.logaddexp(logsumexp(paths, axis=1), -math.log(number + 1))
            bets.largest = max(bets.largest, float(owned.max()))
            bets.worth = paths[-1]
            bets.n_answers += stop - start
            bets.n_wrong += int(np.count_nonzero(wrong[start:stop]))
            start = stop
