"""Watch the rows that a model gets, and tell how they differ from those it was trained with."""

from __future__ import annotations

from typing import Any

from ..evaluation.drift import drift
from .terminal import listed, note, percent

# Compare about this many rows with training; more would not tell more.
MAX_COMPARED_ROWS = 20_000
# Time goes on: these parts of a date always differ.
MOVING_PARTS = ("(days)", "(year)")
# Categories listed for a column.
MAX_CATEGORIES_LISTED = 3


class Watch:
    """Collects new categories, and rows to compare with the summary in the model."""

    def __init__(self, trained: Any):
        self._reference = trained.info.get("reference")
        self._known = _known_categories(trained)
        self._new: dict[str, dict[str, int]] = {}
        self._rows: list[Any] = []
        self._n_rows = 0

    def see(self, X) -> None:
        """Look at some rows."""
        for name, known in self._known.items():
            counts = X[name].value_counts()
            for category, count in counts.items():
                if category not in known:
                    new = self._new.setdefault(name, {})
                    new[str(category)] = new.get(str(category), 0) + int(count)
        if self._reference and self._n_rows < MAX_COMPARED_ROWS:
            self._rows.append(X)
            self._n_rows += len(X)

    def tell(self) -> None:
        """Note all new categories and all columns that have drifted."""
        for name, new in self._new.items():
            n_rows = sum(new.values())
            frequent_first = sorted(new, key=lambda category: (-new[category], category))
            names = listed([repr(category) for category in frequent_first], MAX_CATEGORIES_LISTED)
            note(
                f"column {name!r} has categories that training did not have: {names} ({n_rows:,} "
                f"{'row' if n_rows == 1 else 'rows'})"
            )
        drifted = self._drifted()
        if drifted:
            note(f"these columns differ from training (share of rows that moved): {drifted}")

    def _drifted(self) -> str:
        if not self._rows:
            return ""
        import pandas as pd

        found = drift(self._reference, pd.concat(self._rows, ignore_index=True))
        moved = [c for c in found if c.drifted and not c.column.endswith(MOVING_PARTS)]
        return ", ".join(f"{c.column!r} {percent(c.distance)}" for c in moved)


def _known_categories(trained: Any) -> dict[str, set[str]]:
    """Return the categories of each column that the encoder has seen."""
    if trained.columns is None or not trained.columns.categories:
        return {}
    prepare = trained.pipeline[0]
    encoder = getattr(prepare, "named_transformers_", {}).get("categories")
    levels = getattr(encoder, "categories_", ())
    return {
        name: set(known) for name, known in zip(trained.columns.categories, levels, strict=False)
    }
