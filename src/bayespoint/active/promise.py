"""Promise the error among the rows that a model answers, at every moment of a session.

A checkpoint is a model that learned from some answers. Which rows it learned from depends on
their labels alone, never on audits. So the order in which rows are audited, which is random, is
independent of all checkpoints: for each of them the audited rows are a random sample of the rows
that it did not learn from. A person who chooses what is learned may have audits in mind. Models
that learn such rows are tested in a new random order. See docs/notes/labeling.md.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ..classifiers.reject.anytime import log_evidence, most_wrong_rows
from ..classifiers.reject.confidence import confidence_of
from .answers import NO_ANSWER, Answers

__all__ = ["Certificate", "Checkpoint", "Promise"]

# Each checkpoint tests a few sets of rows: the most certain ones for which the model itself
# expects these shares of max_error. They share the checkpoint's risk equally.
EXPECTED_SHARES = (1 / 4, 1)
# For classifiers without probabilities: these shares of the pool.
RANKS = (0.4, 0.8)
# Each test makes further ones harder. So the first one waits for this many answers and for a
# model that expects to answer this share of the pool, and each further one for twice as many
# answers. The first has half of the risk, the next a quarter, and so on.
MIN_LEARNED, MIN_SHARE, MIN_LEARNED_GROWTH = 20, 0.6, 2.0
# After this many answers a smaller share is worth a test, too.
PATIENCE, MIN_SHARE_LATER = 100, 0.2
# The share of the risk for tests in the first random order. Later orders, which are drawn when a
# person chooses what is learned, share the rest: half of it for the first of them, and so on.
FIRST_ORDER_SHARE = 0.8
# Confidences that differ by less than this may change places when they are computed again.
CONFIDENCE_DIGITS = 1e-9
# Smaller sets than this share of the pool are not tested.
MIN_SET_SHARE = 0.1
# What is certified next should answer this many times as many rows as what is certified already.
MIN_GAIN = 1.05
# The model's own expectation counts like this many audited rows when the work ahead is estimated.
EXPECTATION_ROWS = 20
# Evidence that is lost to chance on the way, when the work ahead is estimated.
LOST_EVIDENCE = 1.0


class Certificate(NamedTuple):
    """What is promised about the rows without a label, now.

    Examples
    --------
    >>> from bayespoint import active
    >>> session = active.Session(None, [[0.0], [1.0], [2.0]], max_error=0.1, random_state=0)
    >>> session.tell(2, "yes")
    >>> session.certificate().holds
    False
    """

    holds: bool
    max_error: float | None
    confidence_level: float
    error_bound: float  # the error among the rows that it answers is at most this
    share_answered: float  # of the rows without a label
    n_answered: int
    n_audited: int  # blind random rows among those that it answers, with a label
    n_audit_errors: int  # where the model is wrong, or nobody knows
    message: str


class Sample(NamedTuple):
    """A set of rows that a checkpoint answers, in the order in which they are audited."""

    checkpoint: Checkpoint
    rows: np.ndarray
    threshold: float  # of confidence: between its rows and the others
    expected_error: float  # as the model itself says
    risk: float


class Progress(NamedTuple):
    """What is known about a sample."""

    sample: Sample
    n_seen: int  # its first rows, in the order of audits, that were asked about
    n_audited: int  # those of them that have a label, or are not known
    n_wrong: int
    n_rest: int  # rows without a label
    evidence: float  # log evidence that the promise holds, minus what is needed
    next_row: int | None  # to audit

    @property
    def holds(self) -> bool:
        """Return whether the promise holds."""
        return self.evidence >= 0 and self.n_rest > 0


class Checkpoint(NamedTuple):
    """A model, and what it says about all rows of the pool."""

    model: Any
    codes: np.ndarray  # (n_rows,), the position of the predicted class in the session's classes
    confidence: np.ndarray  # (n_rows,)
    learned: np.ndarray  # (n_rows,), whether the model learned from the row
    n_choices: int  # how often the person had chosen what is learned


class Lottery(NamedTuple):
    """A random order of rows to audit."""

    n_choices: int  # of the checkpoints that it can test
    order: np.ndarray
    risk: float  # of the next test


class Promise:
    """Follow the evidence about the error of checkpoints.

    Parameters
    ----------
    n_rows : int
        Number of rows in the pool.
    seed : int
        Of the random order of audits, which nothing else may depend on.
    max_error : float
        The error to promise.
    risk : float
        The probability that a promise is ever broken.
    """

    def __init__(self, n_rows: int, seed: int, max_error: float, risk: float):
        self._n_rows = n_rows
        self._seed = seed
        self._lottery = Lottery(0, self._draw(0), FIRST_ORDER_SHARE * risk / 2)
        self._rest_of_risk = (1 - FIRST_ORDER_SHARE) * risk
        self._max_error = max_error
        self.samples: list[Sample] = []
        self._followed: tuple[tuple[int, int], list[Progress]] = (0, 0), []

    def add(self, checkpoint: Checkpoint, answers: Answers) -> None:
        """Test a checkpoint, if the model expects to answer enough rows well."""
        self._renew(checkpoint, answers)
        sets = list(self._sets(checkpoint))
        if not sets or not self._is_worth_it(checkpoint, sets[-1][0]):
            return
        order, risk = self._lottery.order, self._lottery.risk
        self._lottery = self._lottery._replace(risk=risk / 2)
        for threshold, expected in sets:
            answered = ~checkpoint.learned & (checkpoint.confidence >= threshold)
            rows = order[answered[order]]
            self.samples.append(
                Sample(checkpoint, rows, threshold, expected, risk / len(EXPECTED_SHARES))
            )

    def _renew(self, checkpoint: Checkpoint, answers: Answers) -> None:
        """Draw a new order if the person chose what the checkpoint learned, and knew audits.

        Only rows that have no label yet can test what was learned since, in an order that nobody
        has seen. Before the first test there are no audits.
        """
        if checkpoint.n_choices <= self._lottery.n_choices:
            return
        if not self.samples:
            self._lottery = self._lottery._replace(n_choices=checkpoint.n_choices)
            return
        order = self._draw(checkpoint.n_choices)
        order = order[answers.codes[order] == NO_ANSWER]
        self._rest_of_risk /= 2
        self._lottery = Lottery(checkpoint.n_choices, order, self._rest_of_risk / 2)

    def _draw(self, n_choices: int) -> np.ndarray:
        return np.random.default_rng([self._seed, 2, n_choices]).permutation(self._n_rows)

    def _is_worth_it(self, checkpoint: Checkpoint, threshold: float) -> bool:
        """Return whether a test may gain much: each one makes all further tests harder.

        This must not depend on audits.
        """
        n_learned = int(checkpoint.learned.sum())
        size = int(np.sum(~checkpoint.learned & (checkpoint.confidence >= threshold)))
        share = MIN_SHARE if n_learned < PATIENCE else MIN_SHARE_LATER
        if n_learned < MIN_LEARNED or size < share * self._n_rows:
            return False
        before = self.samples[-1].checkpoint.learned.sum() if self.samples else 0
        return bool(n_learned >= MIN_LEARNED_GROWTH * before)

    def _sets(self, checkpoint: Checkpoint) -> Iterator[tuple[float, float]]:
        """Yield thresholds of confidence, from high to low, and the errors that are expected."""
        confidence = np.sort(checkpoint.confidence[~checkpoint.learned])[::-1]
        if not hasattr(checkpoint.model, "predict_proba"):
            yield from self._sets_by_rank(confidence)
            return
        expected = np.cumsum(1 - confidence) / np.arange(1, len(confidence) + 1)
        fewest = max(1.0, MIN_SET_SHARE * self._n_rows)
        before = 0
        for share in EXPECTED_SHARES:
            n = int(np.searchsorted(expected, share * self._max_error, side="right"))
            if n >= fewest and n > before:
                threshold, before = _cut(confidence, n)
                yield threshold, float(expected[before - 1])

    def _sets_by_rank(self, confidence: np.ndarray) -> Iterator[tuple[float, float]]:
        """Yield thresholds for confidences that are not probabilities."""
        for rank, share in zip(RANKS, EXPECTED_SHARES, strict=True):
            n = 1 + int(rank * (len(confidence) - 1))
            yield _cut(confidence, n)[0], share * self._max_error

    def follow(self, sample: Sample, answers: Answers) -> Progress:
        """Return what the answers say about a sample."""
        codes = answers.codes[sample.rows]
        wrong = codes != sample.checkpoint.codes[sample.rows]
        # A row that was skipped counts as wrong as long as it has no label.
        waiting = codes == NO_ANSWER
        open_ = waiting & ~np.isin(sample.rows, list(answers.skipped))
        n = int(np.argmax(open_)) if open_.any() else len(codes)
        n_rest = int(waiting.sum())
        known_wrong = int(np.sum(wrong & ~waiting))
        n_tested = math.floor(self._max_error * n_rest) + known_wrong + 1
        counts = np.append(0, np.cumsum(wrong[:n]))
        path = log_evidence(counts, np.arange(n + 1), len(codes), n_tested, self._max_error)
        evidence = float(path.max()) + math.log(sample.risk)
        next_row = int(sample.rows[n]) if n < len(codes) else None
        n_audited = n - int(np.sum(waiting[:n]))
        return Progress(sample, n, n_audited, int(counts[-1]), n_rest, evidence, next_row)

    def bound(self, progress: Progress, answers: Answers) -> float:
        """Return an upper limit of the error among the rows of a sample without a label."""
        sample, n = progress.sample, progress.n_seen
        if not progress.n_rest:
            return 0.0
        codes = answers.codes[sample.rows]
        wrong = codes != sample.checkpoint.codes[sample.rows]
        counts = np.append(0, np.cumsum(wrong[:n]))
        most = most_wrong_rows(counts, np.arange(n + 1), len(codes), self._max_error, sample.risk)
        known = int(np.sum(wrong & (codes != NO_ANSWER)))
        return min(1.0, max(0, most - known) / progress.n_rest)

    def best(self, answers: Answers) -> Progress | None:
        """Return the largest set of rows for which the promise holds."""
        found = [p for p in self._follow_all(answers) if p.holds]
        return max(found, key=lambda p: p.n_rest, default=None)

    def in_work(self, answers: Answers) -> Progress | None:
        """Return the sample that is worth the next audit: the one with most answers an audit.

        It must answer more rows than what is certified already. This may depend on audits: the
        evidence about a sample does not depend on when its rows are asked about.
        """
        all_ = self._follow_all(answers)
        certified = max((p.n_rest for p in all_ if p.holds), default=0)

        def price(progress: Progress) -> float:
            ahead = self.audits_ahead(progress)
            n_answered = progress.n_rest - ahead
            return ahead / n_answered if n_answered > MIN_GAIN * certified else math.inf

        open_ = [p for p in all_ if not p.holds and p.next_row is not None]
        best = min(open_, key=price, default=None)
        return None if best is None or price(best) == math.inf else best

    def audits_ahead(self, progress: Progress) -> float:
        """Return about how many more rows have to be audited until the promise holds."""
        # Models are often too cautious here: let audits say if they are not.
        expected = min(progress.sample.expected_error, self._max_error / 2)
        error = (progress.n_wrong + EXPECTATION_ROWS * expected) / (
            progress.n_audited + EXPECTATION_ROWS
        )
        limit = self._max_error
        if error >= limit:
            return math.inf
        gain = (1 - error) * math.log((1 - error) / (1 - limit))
        gain += error * math.log(error / limit) if error else 0.0
        return max(1.0, (LOST_EVIDENCE - progress.evidence) / gain)

    def _follow_all(self, answers: Answers) -> list[Progress]:
        # Several questions are asked between two answers.
        state = len(answers.actions), len(self.samples)
        if state != self._followed[0]:
            self._followed = state, [self.follow(sample, answers) for sample in self.samples]
        return self._followed[1]


def _cut(confidence: np.ndarray, n: int) -> tuple[float, int]:
    """Return a threshold below the n largest confidences, and how many are above it.

    Confidences are sorted, the largest first. The threshold is in the middle of the next gap, so
    that rows of equal confidence belong together, also if it is computed again and rounded.
    """
    gaps = confidence[:-1] - confidence[1:]
    wide = gaps > CONFIDENCE_DIGITS * np.maximum(1.0, np.abs(confidence[1:]))
    after = np.flatnonzero(wide[n - 1 :])
    if not len(after):
        lowest = float(confidence[-1])
        return lowest - CONFIDENCE_DIGITS * max(1.0, abs(lowest)), len(confidence)
    n += int(after[0])
    return float(confidence[n - 1] + confidence[n]) / 2, n


def checkpoint_of(model, X, classes: list, rows: np.ndarray, n_choices: int) -> Checkpoint:
    """Return what a model, which learned from some rows, says about all of them."""
    position = np.array([classes.index(c) for c in model.classes_.tolist()])
    predicted = np.searchsorted(model.classes_, model.predict(X))
    learned = np.zeros(len(predicted), dtype=bool)
    learned[rows] = True
    return Checkpoint(model, position[predicted], confidence_of(model, X), learned, n_choices)
