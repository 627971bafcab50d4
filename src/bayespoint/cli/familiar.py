"""Tell if rows to predict are rows that trained the model."""

from __future__ import annotations

from typing import Any

from ..evaluation.record import TrainingRecord
from .terminal import note

# Look at about this many rows; more would not tell more.
MAX_ROWS = 20_000
# A smaller share of training rows hardly changes the answers as a whole.
MIN_SHARE = 0.01


class Familiar:
    """Counts rows that equal rows of the training, as far as the model file knows them."""

    def __init__(self, record: TrainingRecord | None):
        self._record = record  # None if an earlier version wrote the model
        self._n_rows = self._n_checked = self._n_seen = 0

    def see(self, X: Any) -> None:
        """Look at some rows."""
        if self._record is None or self._n_rows >= MAX_ROWS:
            return
        X = X[: MAX_ROWS - self._n_rows]
        look = self._record.fingerprints.look(X)
        self._n_rows += len(look.checked)
        self._n_checked += int(look.checked.sum())
        self._n_seen += int(look.trained.sum())

    def tell(self) -> None:
        """Note that answers to training rows say little about new rows."""
        if self._record is None or self._n_seen < max(1, MIN_SHARE * self._n_checked):
            return
        if self._record.is_chance(self._n_seen, self._n_checked):
            return
        note(
            f"{self._n_seen:,} of the {self._n_checked:,} rows that were checked equal rows that "
            "trained the model. It is surer of these than of new rows, and refuses fewer; what it "
            "promises is about new rows"
        )
