"""Portions of the training rows on workers, and the tasks that workers run on them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from .._runtime.threads import one_blas_thread
from ..fitting.weights_fit import Table
from ..solvers.weights.belief import Belief
from ..solvers.weights.model import LinearModel
from ..solvers.weights.row_order import chosen_rows
from ..solvers.weights.rows import Rows
from .calls import here


class Portion:
    """The rows of one or more partitions, on a worker.

    Their sites change in place. The stamp is the number of the last update. If it differs from
    the stamp that the client knows, the portion was made again after a worker was lost.
    """

    def __init__(self, rows: Rows):
        self.rows = rows
        self.stamp = 0


class Answer(NamedTuple):
    """The answer of a worker. The value is None if the sites of the portion were lost."""

    value: Any
    address: str
    mixable_sweeps: int


def make_portion(model: LinearModel, partitions: list[Table]) -> Portion:
    """Return the rows of partitions, with their sites."""
    # Empty partitions are sparse, whatever the others are.
    filled = [part for part in partitions if part.n_rows] or partitions[:1]
    points, *others = zip(*filled, strict=True)
    X = sparse.vstack(points, "csr") if sparse.issparse(points[0]) else np.vstack(points)
    return Portion(model.rows(X, *map(np.concatenate, others)))


def take_share(part: Table, share: float) -> Table:
    """Return a share of the rows of a partition."""
    return part.take(chosen_rows(part.n_rows, round(share * part.n_rows)))


def load_loops(model: LinearModel) -> None:
    """Load the compiled loops on a worker, by a sweep over one row for each class."""
    n = model.n_classes
    labels = np.arange(n) if n > 2 else np.array([-1.0, 1.0])
    X = sparse.csr_array((n, len(model.prior_variances) - model.fit_intercept))
    rows = model.rows(X.toarray() if model.full else X, labels, np.ones(n))
    rows.log_constant(model.prior().times(rows.sweep(model.prior(), 1.0)))


def move(portion: Portion) -> Portion:
    """Bring a portion to the worker that runs this task."""
    return portion


def sweep(
    portion: Portion, known: int, stamp: int, belief: Belief, share: float, weights: np.ndarray
) -> Answer:
    """Mix the sites if there are weights, refine them, and return their product."""
    if portion.stamp != known:
        return _answer(None, portion)
    if len(weights):
        portion.rows.mix(weights)
    with one_blas_thread():
        product = portion.rows.sweep(belief, share)
    portion.stamp = stamp
    return _answer(product, portion)


def recover(portion: Portion, stamp: int, *request) -> Answer:
    """Find the sites again, in any state of the portion."""
    with one_blas_thread():
        product = portion.rows.recover(*request)
    portion.stamp = stamp
    return _answer(product, portion)


def log_constant(portion: Portion, known: int, belief: Belief) -> Answer:
    """Return the part of the log evidence that comes from a portion."""
    with one_blas_thread():
        value = portion.rows.log_constant(belief) if portion.stamp == known else None
    return _answer(value, portion)


def _answer(value, portion: Portion) -> Answer:
    return Answer(value, here(), portion.rows.mixable_sweeps)
