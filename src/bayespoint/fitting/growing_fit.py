"""Learn and unlearn rows with the parameters of an earlier fit: the answer of a fit on all rows."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol

import numpy as np

from .._runtime.progress import Progress
from .._runtime.threads import one_blas_thread
from ..geometry.gram import noise_share, soften, unit_matrix
from ..geometry.points import in_double
from ..solvers.ep import describe as describe_propagation
from ..solvers.growing import GrowingInverse, GrowingSquare
from ..solvers.posterior import mean_length
from ..solvers.propagation.growing import GrowingPropagation
from ..solvers.propagation.sites import Copies
from ..solvers.regression import describe, heeded, left_out, posterior_of
from .dispatch import solve_task
from .gram_fit import MAX_COPIED_POINTS
from .gram_fit import left_out as left_out_scale
from .regression_fit import MIN_SOFTNESS, Found, answer_of, label_codes, weights_of
from .task import Answer, Task, needs_of
from .temperature import tempered
from .training_points import heed_weights, kernel_matrix

# A learner of m rows takes in at most this share of m new rows at once; for more it begins anew,
# which takes about as long.
MAX_NEW_SHARE = 0.5
# With less softness the points may be linearly dependent, and version space has fewer dimensions.
MIN_GROWING_SOFTNESS = 1e-6


class NotSettledError(Exception):
    """A learner cannot find the answer; a fit on all rows can, or says why not."""


class Learner(Protocol):
    """What is kept of a fit to add and remove rows in O(m^2) each."""

    def __init__(self, task: Task):
        """Learn all rows."""

    def add(self, task: Task) -> None:
        """Learn the rows of the task that are new."""

    def remove(self, task: Task, rows: np.ndarray) -> None:
        """Forget rows; the task is the one without them."""

    def answer(self, task: Task) -> Answer:
        """Return what `solve_task` returns, without draws."""

    @property
    def n_rows(self) -> int:
        """Return the number of rows that were learned."""


def solve_changed(
    task: Task,
    learner: Learner | None,
    removed: np.ndarray,
    start_progress: Callable[[int], Progress],
) -> tuple[Answer, Learner | None]:
    """Return the answer of `solve_task`, and a learner for the next change.

    Parameters
    ----------
    task : Task
        All rows, after the change.
    learner : Learner or None
        What the last call returned. Rows of the task beyond those that it has learned are new.
    removed : array of int
        Rows that the learner has learned and the task does not have.
    start_progress : callable
        As in `solve_task`, for a fit on all rows.
    """
    task = heed_weights(task)
    if can_grow(task):
        with one_blas_thread():
            try:
                learner = _changed(task, learner, removed)
                return tempered(task, learner.answer(task)), learner
            except NotSettledError:
                pass
    return solve_task(task, start_progress), None


def can_grow(task: Task) -> bool:
    """Tell whether rows can be added to an answer: enough memory, and not too many rows."""
    needs, m, n_outputs = needs_of(task.solver), task.n_samples, len(task.signs)
    if not getattr(task.solver, "grows", False) or needs not in LEARNERS:
        return False
    n_matrices = 4 if needs == "regression" else 4 + n_outputs
    fits = 8 * m**2 * n_matrices / 2**20 <= task.cache_size
    is_soft = needs == "regression" or task.softness >= MIN_GROWING_SOFTNESS
    return fits and is_soft and m <= MAX_COPIED_POINTS


def _changed(task: Task, learner: Learner | None, removed: np.ndarray) -> Learner:
    """Return a learner that knows the rows of the task."""
    if learner is not None and len(removed):
        learner.remove(task, removed)
        return learner
    n_new = 0 if learner is None else task.n_samples - learner.n_rows
    if learner is None or n_new > MAX_NEW_SHARE * learner.n_rows:
        return LEARNERS[needs_of(task.solver)](task)
    if n_new:
        learner.add(task)
    return learner


class UnitRows:
    """Inner products of unit training points, for old rows with new ones."""

    def __init__(self, task: Task):
        self.unit, self.lengths = unit_matrix(kernel_matrix(task.kernel, task.X))

    def add(self, task: Task) -> tuple[np.ndarray, np.ndarray]:
        """Return the products of old rows with new ones, and of new ones with each other."""
        m = len(self.lengths)
        old, new = in_double(task.X[:m]), in_double(task.X[m:])
        corner, lengths = unit_matrix(task.kernel(new, new), np.arange(m, task.n_samples))
        across = task.kernel(old, new)
        across /= np.where(self.lengths > 0, self.lengths, 1.0)[:, None]
        across /= np.where(lengths > 0, lengths, 1.0)
        self.lengths = np.concatenate([self.lengths, lengths])
        return across, corner

    def remove(self, rows: np.ndarray) -> None:
        """Forget rows."""
        self.lengths = np.delete(self.lengths, rows)


class RegressionLearner:
    """Label regression: the inverse of the noisy Gram matrix gains and loses rows."""

    def __init__(self, task: Task):
        self._softness = max(task.softness, MIN_SOFTNESS)
        self._rows = UnitRows(task)
        matrix = self._rows.unit / self._softness
        del self._rows.unit
        matrix.flat[:: len(matrix) + 1] += 1 / self._weight(task)
        self._inverse = GrowingInverse(matrix)

    @property
    def n_rows(self) -> int:
        """Return the number of rows that were learned."""
        return len(self._rows.lengths)

    def add(self, task: Task) -> None:
        """Learn the rows of the task that are new."""
        m = self.n_rows
        across, corner = (part / self._softness for part in self._rows.add(task))
        corner.flat[:: len(corner) + 1] += 1 / self._weight(task)[m:]
        self._inverse.add(across, corner)

    def remove(self, task: Task, rows: np.ndarray) -> None:
        """Forget rows; the task is the one without them."""
        self._rows.remove(rows)
        self._inverse.remove(rows)

    def answer(self, task: Task) -> Answer:
        """Return the answer of a fit, without draws."""
        began = time.perf_counter()
        codes, rows = label_codes(task.signs), np.arange(task.n_samples)
        found = left_out(self._inverse.values, self._inverse.log_det, codes, self._weight(task))
        posterior, units = posterior_of(found, codes, self._softness, weights_of(task, rows))
        info = describe(units, time.perf_counter() - began)
        info["n_factors"] = self._inverse.n_factorizations
        return answer_of(
            task, Found(posterior._replace(info=info), rows, self._rows.lengths, False)
        )

    def _weight(self, task: Task) -> np.ndarray:
        return heeded(weights_of(task, np.arange(task.n_samples)), 1 / self._softness)


class PropagationLearner:
    """Expectation propagation: covariances of the outputs of each class gain and lose rows."""

    def __init__(self, task: Task):
        self._rows = UnitRows(task)
        self._require_lengths()
        self._matrix = GrowingSquare(soften(self._rows.unit, task.softness, task.weight))
        del self._rows.unit
        solver = task.solver
        limits = {"max_iter": solver.max_iter, "tol": solver.tol, "damping": solver.damping}
        given = task.label_noise, self._copies(task), limits
        self._outputs = [GrowingPropagation(self._matrix.values, s, *given) for s in task.signs]

    @property
    def n_rows(self) -> int:
        """Return the number of rows that were learned."""
        return self._matrix.size

    def add(self, task: Task) -> None:
        """Learn the rows of the task that are new."""
        m = self.n_rows
        across, corner = self._rows.add(task)
        self._require_lengths()
        weight = None if task.weight is None else task.weight[m:]
        self._matrix.append(across / (1 + task.softness), soften(corner, task.softness, weight))
        for output, signs in zip(self._outputs, task.signs, strict=True):
            output.add(self._matrix.values, signs, self._copies(task))

    def remove(self, task: Task, rows: np.ndarray) -> None:
        """Forget rows; the task is the one without them."""
        self._rows.remove(rows)
        self._matrix.delete(rows)
        for output, signs in zip(self._outputs, task.signs, strict=True):
            output.remove(rows, self._matrix.values, signs, self._copies(task))

    def answer(self, task: Task) -> Answer:
        """Return the answer of a fit, without draws."""
        found = [output.found for output in self._outputs]
        if any(f.residual > task.solver.tol for f in found):
            raise NotSettledError
        n_dimensions = self.n_rows if task.weight is None else float(task.weight.sum())
        coef = np.array([f.coef for f in found]) / mean_length(n_dimensions)
        resultant = np.sqrt(np.maximum(np.sum(coef * (coef @ self._matrix.values), axis=1), 0.0))
        # The mean of unit vectors is at most one long, but its approximation may be longer.
        coef /= np.maximum(resultant, 1.0)[:, None]
        coef /= self._rows.lengths * np.sqrt(1 + task.softness)
        infos = [describe_propagation(f, "tol") | {"seconds": 0.0} for f in found]
        scale, loo = left_out_scale(infos, task.softness, n_dimensions, task.weight)
        return Answer(
            rows=np.arange(self.n_rows),
            coef=coef,
            draws=None,
            chains=np.stack([coef, coef], axis=1),
            resultant=np.minimum(resultant, 1.0),
            softness=task.softness,
            label_noise=task.label_noise,
            probit_scale=scale,
            probit_df=np.inf,
            infos=infos,
            loo=loo,
        )

    def _copies(self, task: Task) -> Copies:
        weight = weights_of(task, np.arange(task.n_samples))
        return Copies(weight, np.full(task.n_samples, noise_share(task.softness)))

    def _require_lengths(self) -> None:
        """Points at the origin of feature space are no part of version space."""
        if not self._rows.lengths.all():
            raise NotSettledError


LEARNERS: dict[str, type[Learner]] = {
    "regression": RegressionLearner,
    "gram": PropagationLearner,
}
