"""What a model file remembers of its training, besides the model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import hypergeom

from .baselines import Baseline, take
from .fingerprints import Fingerprints
from .intervals import Share, share
from .seen import SeenRows

# Rows that equal training rows are chance, unless chance makes so many with a smaller probability.
MIN_CHANCE = 0.01
LEVEL = 0.95


class ToJudge(NamedTuple):
    """Rows to judge a model with, and how they were chosen."""

    X: Any
    y: np.ndarray
    seen: SeenRows | None  # None if the model does not know its training rows


@dataclass(frozen=True)
class TrainingRecord:
    """What a model file remembers of its training.

    Attributes
    ----------
    fingerprints : Fingerprints
        Of the rows that trained it and of those that were held out.
    by_chance : Share
        Rows that were held out and equal a training row in all columns.
    baselines : list of Baseline
        This model, then other classifiers that learned from its training rows, all judged on
        the rows that were held out.
    reason : str or None
        Why other classifiers are missing.
    """

    fingerprints: Fingerprints
    by_chance: Share
    baselines: list[Baseline]
    reason: str | None = None

    def to_judge(self, X, y, *, include_seen: bool = False) -> ToJudge:
        """Leave out the rows that trained the model, unless they are equal by chance.

        Raises
        ------
        ValueError
            If no other rows are left.
        """
        look = self.fingerprints.look(X)
        n_checked, n_seen = int(look.checked.sum()), int(look.trained.sum())
        keep_all = include_seen or n_seen == 0 or self.is_chance(n_seen, n_checked)
        judged = np.ones(len(y), bool) if keep_all else look.checked & ~look.trained
        if not judged.any():
            raise ValueError(
                f"All {len(y):,} rows were used to train the model, so they cannot tell how good "
                "it is on new rows. Give other rows, or judge these with "
                "include_training_rows=True."
            )
        seen = SeenRows(
            n_given=len(y),
            n_checked=n_checked,
            n_seen=n_seen,
            n_judged=int(judged.sum()),
            n_held_out=int((look.held_out & ~look.trained & judged).sum()),
            by_chance=self.by_chance,
            judged="all" if keep_all else "unseen",
            requested=include_seen,
        )
        return ToJudge(X, y, seen) if keep_all else ToJudge(take(X, judged), y[judged], seen)

    def is_chance(self, n_seen: int, n_checked: int) -> bool:
        """Tell whether as many rows as that equal training rows among rows that are new.

        Fisher's exact test against the held-out rows. If none of these equals a training row,
        rows that do are taken for training rows: leaving them out costs nothing.
        """
        number, total = self.by_chance.number, self.by_chance.total
        if not number:
            return False
        at_least = hypergeom.sf(n_seen - 1, total + n_checked, number + n_seen, n_checked)
        return bool(at_least >= MIN_CHANCE)

    def to_dict(self) -> dict[str, Any]:
        """Return everything, ready for JSON."""
        return {
            "fingerprints": self.fingerprints.to_dict(),
            "by_chance": [self.by_chance.number, self.by_chance.total],
            "baselines": [
                {
                    "name": one.name,
                    "how": one.how,
                    "errors": [one.error.number, one.error.total],
                    "log_loss": one.log_loss,
                }
                for one in self.baselines
            ],
            "reason": self.reason,
        }

    @classmethod
    def from_dict(cls, content: dict[str, Any] | None) -> TrainingRecord | None:
        """Return what `to_dict` described, or None for None; other content raises an error."""
        if content is None:
            return None
        baselines = [
            Baseline(
                str(one["name"]),
                str(one["how"]),
                _share(one["errors"]),
                float(one["log_loss"]),
            )
            for one in content["baselines"]
        ]
        reason = content["reason"]
        return cls(
            Fingerprints.from_dict(content["fingerprints"]),
            _share(content["by_chance"]),
            baselines,
            None if reason is None else str(reason),
        )


def _share(number_and_total: list[int]) -> Share:
    number, total = number_and_total
    return share(number, total, LEVEL)
