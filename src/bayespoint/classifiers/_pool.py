"""Probabilities of a pool of rows while a machine learns: one kernel column for each new row."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from .._runtime.threads import one_blas_thread
from ..geometry.mixture import SeenPoints
from ..geometry.points import canonical, in_double
from ._tables import read_table

# When the kernel columns are full, there is room for this many times as many.
ROOM = 1.5
# Support vectors whose kernel with the pool is computed at once.
BLOCK_VECTORS = 64


class PoolKernel:
    """A pool of rows, and their kernel with the support vectors of a machine.

    `proba(model)` gives what `model.predict_proba(X)` gives, up to rounding. A call computes the
    kernel with support vectors that the last call did not have. The rest is one product of the
    kernel columns with the coefficients. A new choice of parameters makes everything anew. It
    takes 8 bytes for each row of the pool and each support vector.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_pool, n_features)
        The pool, as `predict_proba` gets it.
    """

    def __init__(self, X):
        self._X = X
        self._choice: tuple = ()

    def decisions(self, model) -> np.ndarray:
        """Return the decision function with a column for each output, (n_pool, n_outputs)."""
        if hasattr(model, "cell_centers_") or model.kernel == "precomputed":
            return model._decide(self._X)
        with one_blas_thread():
            self._follow(model)
            slots = self._slots_of(model.support_vectors_)
            coef = np.zeros((len(model.dual_coef_), self._n_slots))
            for of_output, values in zip(coef, model.dual_coef_, strict=True):
                np.add.at(of_output, slots, values)  # equal points share a column
            return ((coef @ self._columns[: self._n_slots]) / self._lengths).T

    def proba(self, model) -> np.ndarray:
        """Return the probability of each class, (n_pool, n_classes)."""
        return model._probabilities(model.probit_scale_ * self.decisions(model))

    def _follow(self, model) -> None:
        """Begin anew if columns or kernel of the model are others."""
        kernel = model._fitted_kernel()
        # A new choice makes new objects.
        arrays = model.columns_, model.mixture_, model.origin_
        numbers = kernel._replace(origin=0.0, mixture=None)
        same = bool(self._choice) and numbers == self._choice[0]
        if same and all(a is b for a, b in zip(arrays, self._choice[1], strict=True)):
            return
        points = in_double(canonical(read_table(model, self._X)))
        lengths = kernel.lengths(points)
        self._lengths = np.where(lengths > 0, lengths, 1.0)
        self._kernel, self._points = kernel, points
        self._seen = None if kernel.mixture is None else SeenPoints(kernel.mixture, points)
        self._slots: dict[Any, int] = {}
        self._columns, self._n_slots = np.empty((0, points.shape[0])), 0
        self._choice = numbers, arrays

    def _slots_of(self, support) -> np.ndarray:
        """Return where the kernel columns of support vectors are; compute those that are new."""
        keys = _keys(support)
        if len(self._slots) > 2 * len(keys):  # most are of forgotten rows
            self._slots, self._n_slots = {}, 0
        fresh = {}
        for i, key in enumerate(keys):
            if key not in self._slots and key not in fresh:
                fresh[key] = i
        rows = np.array(list(fresh.values()), dtype=np.intp)
        self._make_room(len(rows))
        for start in range(0, len(rows), BLOCK_VECTORS):
            some = in_double(support[rows[start : start + BLOCK_VECTORS]])
            at = self._n_slots + start
            self._columns[at : at + some.shape[0]] = self._values(some).T
        for key in fresh:
            self._slots[key] = self._n_slots
            self._n_slots += 1
        return np.array([self._slots[key] for key in keys], dtype=np.intp)

    def _make_room(self, n_new: int) -> None:
        n, needed = self._n_slots, self._n_slots + n_new
        if needed > len(self._columns):
            larger = np.empty((max(int(ROOM * n), needed), self._columns.shape[1]))
            larger[:n] = self._columns[:n]
            self._columns = larger

    def _values(self, some) -> np.ndarray:
        """Return the kernel of the pool with some points."""
        if self._seen is None:
            return self._kernel(self._points, some)
        return self._seen.matrix(some) + self._kernel.constant


def _keys(support) -> list:
    """Return something for each point that is equal for equal points."""
    if sparse.issparse(support):
        bounds = zip(support.indptr[:-1], support.indptr[1:], strict=True)
        return [(support.indices[a:b].tobytes(), support.data[a:b].tobytes()) for a, b in bounds]
    return [row.tobytes() for row in np.ascontiguousarray(support)]
