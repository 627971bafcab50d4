"""The model that chooses the next question: it learns every answer."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from ..classifiers._learned_rows import MAX_LEARNED_ROWS
from ..classifiers._pool import PoolKernel
from .margin import lead_to_margin

# A classifier that cannot learn single rows is trained again when it has this share more rows.
REFIT_GROWTH = 0.05
# The kernel of the pool with the learned rows is kept up to this many numbers (1 GB).
MAX_POOL_ENTRIES = 2**27


class Learner:
    """Keep a model that has learned from given rows, as cheaply as it can.

    Parameters
    ----------
    estimator : classifier
        It is cloned. Our kernel machine learns and unlearns single rows, which gives the same
        model as a new fit with the same parameters. Others are trained again.
    X : array-like or data frame
        The pool.
    """

    def __init__(self, estimator, X):
        self.estimator = estimator
        self.X = X
        self.model: Any = None
        self._learned: dict[int, Any] = {}  # row to class, in the order of the model
        self._scores: np.ndarray | None = None
        self._pool = PoolKernel(X)

    def fit(self, rows, labels) -> Any:
        """Return a new model that has learned from these rows, with parameters chosen anew."""
        return clone(self.estimator).fit(_safe_indexing(self.X, rows), np.asarray(labels))

    def start_from(self, model, rows, labels) -> None:
        """Go on with a model that has learned from these rows."""
        self.model, self._scores = model, None
        self._learned = dict(zip(map(int, rows), labels, strict=True))

    def can_wait(self, labels) -> bool:
        """Return whether rows with these labels can as well be learned later, together."""
        known = self.model is not None and not set(labels) - set(self.model.classes_.tolist())
        return known and learns_rows(self.model, len(labels))

    def update(self, rows, labels) -> None:
        """Learn and unlearn rows, until the model has learned these."""
        wanted = dict(zip(map(int, rows), labels, strict=True))
        if self.model is None or set(labels) - set(self.model.classes_.tolist()):
            self.start_from(self.fit(rows, labels), rows, labels)
            return
        changed = [r for r, label in self._learned.items() if wanted.get(r, _NONE) != label]
        new = [r for r, label in wanted.items() if self._learned.get(r, _NONE) != label]
        if not changed and not new:
            return
        if not learns_rows(self.model, len(wanted) + len(changed)):
            if changed or len(new) > REFIT_GROWTH * len(self._learned):
                self.start_from(self.fit(rows, labels), rows, labels)
            return
        self._scores = None
        if changed:
            order = list(self._learned)
            self.model.forget([order.index(r) for r in changed], choose=False)
            self._learned = {r: k for r, k in self._learned.items() if r not in changed}
        if new:
            labels = np.asarray([wanted[r] for r in new])
            self.model.partial_fit(_safe_indexing(self.X, new), labels, choose=False)
            self._learned |= {r: wanted[r] for r in new}

    def usefulness(self) -> np.ndarray:
        """Return how useful the label of each row of the pool would be."""
        scores = self.scores()
        return -np.abs(scores) if scores.ndim == 1 else lead_to_margin(scores)

    def scores(self) -> np.ndarray:
        """Return probabilities of the classes for all rows, or decision values without them."""
        if self._scores is None:
            self._scores = np.asarray(self._decide())
        return self._scores

    def _decide(self) -> np.ndarray:
        model, n_learned = self.model, len(self._learned)
        small = n_learned * np.shape(self.X)[0] <= MAX_POOL_ENTRIES
        if small and learns_rows(model, n_learned):
            return self._pool.proba(model)
        return (getattr(model, "predict_proba", None) or model.decision_function)(self.X)

    def left_out(self) -> tuple[list[int], np.ndarray] | None:
        """Return the rows learned from, and the probability of their class if left out."""
        found = getattr(self.model, "loo_proba_", None)
        if found is None or len(found) != len(self._learned):
            return None
        position = {c: i for i, c in enumerate(self.model.classes_.tolist())}
        places = [position[label] for label in self._learned.values()]
        return list(self._learned), found[np.arange(len(places)), places]


def with_seed(estimator, seed: int) -> Any:
    """Return a copy whose random states are set, so that the same answers give the same model."""
    found = clone(estimator)
    names = [n for n, value in found.get_params().items() if value is None]
    unset = [n for n in names if n == "random_state" or n.endswith("__random_state")]
    return found.set_params(**dict.fromkeys(unset, seed)) if unset else found


def learns_rows(model, n_rows: int) -> bool:
    """Return whether a model can learn and unlearn single rows, with this many in all."""
    has_rows = hasattr(model, "forget") and getattr(model, "_learned", None) is not None
    return has_rows and n_rows <= MAX_LEARNED_ROWS


_NONE = object()
