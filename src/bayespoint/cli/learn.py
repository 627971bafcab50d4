"""Learn from rows as they come, some of which are held out to test with."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline

from ..classifiers.reject.option import RejectOptionClassifier
from ..evaluation import Evaluation, evaluate

# More rows to test with than this do not make figures better.
MOST_HELD_OUT = 20_000


class HeldOut:
    """Rows that are not trained with."""

    def __init__(self, share: float, seed: int):
        self._share = share
        self._rng = np.random.default_rng(seed)
        self._parts: list[tuple[Any, np.ndarray]] = []

    def __len__(self) -> int:
        return sum(len(y) for _, y in self._parts)

    def add(self, X, y: np.ndarray) -> None:
        """Hold rows out."""
        if len(y):
            self._parts.append((X, y))

    def take(self, X, y: np.ndarray) -> tuple[Any, np.ndarray]:
        """Hold some of the rows out, and return the others."""
        out = self._rng.random(len(y)) < (self._share if len(self) < MOST_HELD_OUT else 0)
        self.add(X[out], y[out])
        return X[~out], y[~out]

    def rows(self) -> tuple[Any, np.ndarray]:
        """Return all that were held out."""
        return stacked(self._parts)


def learn(
    pipeline: Pipeline,
    parts: Iterable[tuple[Any, np.ndarray]],
    classes: np.ndarray,
    held: HeldOut,
    say: Callable[[str], None],
) -> int:
    """Teach the last step of a pipeline rows as they come, and return how many."""
    prepare, classifier, n_rows = pipeline[:-1], pipeline[-1], 0
    for X, y in parts:
        _check_known(y, classes)
        X, y = held.take(X, y)
        if len(y):
            classifier.partial_fit(prepare.transform(X), y, classes=classes)
        n_rows += len(y)
        say(f"learning, {n_rows:,} rows so far")
    return n_rows


def judge(
    pipeline: Pipeline, held: HeldOut, rejection: dict[str, Any]
) -> tuple[RejectOptionClassifier, Evaluation, dict[str, Any]]:
    """Let rows that were held out judge a pipeline, and set what it refuses.

    Returns the model, its figures, and those of them that are kept with it.
    """
    X, y = held.rows()
    model = RejectOptionClassifier(FrozenEstimator(pipeline), **rejection).fit(X, y)
    figures = evaluate(model, X, y)
    kept = {"n_held_out": len(y), "error": figures.error.value, "log_loss": figures.log_loss}
    return model, figures, kept


def stacked(parts: list[tuple[Any, np.ndarray]]) -> tuple[Any, np.ndarray]:
    """Return rows of several tables or matrices as one, and their classes."""
    points, y = [X for X, _ in parts], np.concatenate([y for _, y in parts])
    if sparse.issparse(points[0]):
        return sparse.vstack(points, format="csr"), y
    import pandas as pd

    return pd.concat(points, ignore_index=True), y


def _check_known(y: np.ndarray, classes: np.ndarray) -> None:
    """Refuse classes that come too late."""
    unknown = np.setdiff1d(y, classes)
    if len(unknown):
        raise ValueError(
            f"The class {str(unknown[0])!r} is not one that the model began with. Train with rows "
            "of all classes; if they are sorted by class, shuffle them."
        )
