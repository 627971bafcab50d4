"""Regression on the labels as numbers: a Gaussian posterior in closed form, all classes at once."""

from __future__ import annotations

import time
from collections.abc import Callable
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils._param_validation import Interval

from .._runtime.threads import one_blas_thread, run_all
from .definite_inverse import invert_definite
from .regression_draws import draw_posterior
from .solver import Solver
from .tiled_cholesky import factor, invert
from .watch import Watch

# Draws of all outputs together, so that a hundred classes do not take a hundred times as long.
MAX_DRAWS_OF_ALL_OUTPUTS = 512
MIN_DRAWS = 16
# The least noise of a point, relative to the largest squared length. With less, as huge
# weights ask for, equal points with different labels would be lost in rounding errors.
MIN_NOISE = 1e-10
# Rows of a large triangular matrix that are multiplied at once.
BLOCK_ROWS = 1024


class LeftOut(NamedTuple):
    """The solution of a label regression, and what it says about points that were left out."""

    inverse: np.ndarray  # of the Gram matrix with noise
    coef: np.ndarray  # (m, n_outputs), inverse @ codes
    freedom: np.ndarray  # (m,), the divisor of leave-one-out residuals
    slope: np.ndarray  # (m,), its derivative by the diagonal of the inverse
    log_det: float  # of the Gram matrix with noise
    outputs: np.ndarray  # (m, n_outputs), outputs at left-out points

    def slope_of_pairs(
        self,
        by_outputs: np.ndarray,
        pieces: list[np.ndarray],
        sum_up: Callable[[slice, np.ndarray], np.ndarray],
        thread_map: Callable = map,
    ) -> tuple[np.ndarray, float]:
        """Return the derivative of a function of the outputs by the Gram matrix.

        It is a sum over pairs of points, and the derivative by the whole diagonal. Pairs are those
        of a matrix, above its diagonal, row by row. `sum_up` gets the pairs of a piece, which are
        the borders of tiles of rows, and their derivatives, and returns their sums.
        """
        from .._jit.slopes import prepare_slopes, slopes_of_rows

        given = self.inverse, self.coef, self.freedom, self.slope, by_outputs
        by_diagonal, left, right = prepare_slopes(*given)

        def compute(borders: np.ndarray) -> tuple[np.ndarray, float]:
            by_pair, trace = slopes_of_rows(self.inverse, by_diagonal, left, right, borders)
            return sum_up(pairs_of(borders, len(left)), by_pair), trace

        sums, traces = zip(*run_all(thread_map, compute, pieces), strict=True)
        return np.add.reduce(sums), sum(traces) / 2


class Solution(NamedTuple):
    """The solution of a label regression without its matrix."""

    coef: np.ndarray  # (m, n_outputs), in units of the noise
    inverse_diagonal: np.ndarray  # (m,), of the inverse of the Gram matrix with noise
    log_det: float
    outputs: np.ndarray  # (m, n_outputs), outputs at left-out points
    squared: np.ndarray  # (n_outputs,), squared lengths of the mean hypotheses


class Units(NamedTuple):
    """The units of codes and hypotheses, and the evidence that they have."""

    scale: float  # prior deviation of outputs, in units of the codes
    length: float  # that hypotheses are divided by, so that no decision is larger than one
    resultant: np.ndarray  # (n_outputs,), length of the mean hypothesis
    log_evidence: np.ndarray  # (n_outputs,)


class RegressionPosterior(NamedTuple):
    """Gaussian posterior of hypotheses, one for each output, on unit points.

    Outputs of `coef`, times `length`, predict the codes of the labels.
    """

    coef: np.ndarray  # (n_outputs, m)
    draws: np.ndarray | None  # (n_outputs, n_draws, m); None if they are drawn later
    resultant: np.ndarray  # (n_outputs,), length of the mean hypothesis
    left_out: np.ndarray  # (m, n_outputs), predicted codes of left-out points
    length: float
    info: dict[str, Any]  # entries for all outputs; `log_evidence` has one for each


class Regression(Solver):
    """Regression on the labels: the exact posterior if labels are numbers with Gaussian noise.

    The label of a point is a code with an entry for each class: 1 for its own class, 0 for the
    others, minus 1 / n_classes (for two classes a single entry, 1/2 or -1/2). Every entry is the
    output of a hypothesis plus noise; softness is the ratio of the noise to the prior variance.
    Mean, draws and left-out outputs have closed forms. One factorization serves all classes,
    which are comparable, because all of them share kernel and noise. Outputs are estimates of
    probabilities; a power of them, fitted to left-out points, gives the probabilities.

    Parameters
    ----------
    n_draws : int, default=256
        Number of hypotheses drawn from the posterior, for votes. With several classes fewer are
        drawn: 512 for all classes together, but at least 16 for each.

    Notes
    -----
    With C = K + diag(noise) and codes Y, the coefficients are A = C^-1 Y. Leaving out one of the
    w copies of point i gives the output Y_i - A_i / q_i with
    q_i = w - 1 + C^-1_ii / w, in units in which the noise of one copy is 1. For w = 1 this is the
    usual formula (Rasmussen and Williams 2006, eq. 5.12). For w < 1 it is q_i = C^-1_ii.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from bayespoint import BayesPointClassifier
    >>> from bayespoint.solvers import Regression
    >>> X, y = make_moons(100, noise=0.3, random_state=0)
    >>> model = BayesPointClassifier(
    ...     "rbf", gamma=1.0, softness=0.1, solver=Regression()
    ... ).fit(X, y)
    >>> model.loo_proba_.shape
    (100, 2)
    """

    needs = "regression"
    supports_weights = True
    grows = True
    n_factors = 3
    n_matrices = 5
    _parameter_constraints = {"n_draws": [Interval(Integral, 2, None, closed="left")]}

    def __init__(self, *, n_draws=256):
        self.n_draws = n_draws

    def draws_of_each(self, n_outputs: int) -> int:
        """Return the number of draws of one of several outputs."""
        return draws_of_each(self.n_draws, n_outputs)

    def solve(
        self,
        unit: np.ndarray,
        codes: np.ndarray,
        softness: float,
        rng: np.random.Generator | None,
        weight: np.ndarray | None = None,
        thread_map: Callable = map,
    ) -> RegressionPosterior:
        """Return the posterior of the hypotheses of all outputs.

        Parameters
        ----------
        unit : array of shape (m, m)
            Gram matrix of unit points, without softness. Without draws it is overwritten.
        codes : array of shape (m, n_outputs)
            Labels as numbers.
        softness : float
            Variance of the noise, positive; the prior variance of an output is 1.
        rng : numpy.random.Generator or None
            Source of the draws; with None there are none.
        weight : array of shape (m,), default=None
            Weights of the points; by default all are 1.
        thread_map : callable, default=map
            A `map` that may use threads; the result does not depend on it.

        Returns
        -------
        RegressionPosterior
            Its `info` holds what `diagnostics_` reports for each output.
        """
        self._validate_params()
        began = time.perf_counter()
        weight = np.ones(len(unit)) if weight is None else weight
        with one_blas_thread():
            matrix = np.divide(unit, softness, out=unit if rng is None else None)
            found = leave_one_out(matrix, codes, weight, thread_map, overwrite=True)
            posterior, units = posterior_of(found, codes, softness, weight)
            if rng is not None:
                inverse, factor = found.inverse / softness, units.scale / units.length
                given = unit, inverse, softness / weight, codes / units.scale
                each = self.draws_of_each(codes.shape[1])
                draws = draw_posterior(*given, each, rng, factor, thread_map)
                posterior = posterior._replace(draws=draws)
        info = describe(units, time.perf_counter() - began) | {"n_factors": self.n_factors}
        return posterior._replace(info=info)

    def solve_large(
        self,
        unit: np.ndarray,
        codes: np.ndarray,
        softness: float,
        weight: np.ndarray,
        thread_map: Callable = map,
        watch: Watch | None = None,
        n_least: int = 0,
    ) -> tuple[Solution, Units]:
        """Return the same mean and left-out outputs for many points, without draws.

        If the watch says so, the answer is that of the first points alone.

        Parameters
        ----------
        unit : array of shape (m, m)
            The lower triangle of the Gram matrix of unit points, in single or double precision.
            It is overwritten.
        codes, softness, weight
            As in `solve`.
        thread_map : callable, default=map
            A `map` that may use threads; the result does not depend on it.
        watch : Watch, default=None
            Says when to stop.
        n_least : int, default=0
            Number of points that are needed in any case.
        """
        self._validate_params()
        # Without lengths any weight will do; here the largest length is one.
        weight = np.minimum(weight, softness / MIN_NOISE)

        def is_over(n_done: int) -> bool:
            if watch is None:
                return False
            return watch.end_round({"n_done": n_done, "n_points": len(unit)}) and n_done >= n_least

        with one_blas_thread():
            solution = _solve_in_tiles(unit, codes, softness, weight, thread_map, is_over)
        n = len(solution.coef)
        return solution, units_of(solution, codes[:n], softness, weight[:n])


def draws_of_each(n_draws: int, n_outputs: int) -> int:
    """Return the number of draws of one of several outputs."""
    return min(n_draws, max(MAX_DRAWS_OF_ALL_OUTPUTS // n_outputs, MIN_DRAWS))


def posterior_of(
    found: LeftOut, codes: np.ndarray, softness: float, weight: np.ndarray
) -> tuple[RegressionPosterior, Units]:
    """Return the posterior of a solved regression, without draws and info, and its units."""
    solution = Solution(
        found.coef,
        np.diagonal(found.inverse),
        found.log_det,
        found.outputs,
        squared_lengths(found.coef, codes, heeded(weight, 1 / softness), softness),
    )
    units = units_of(solution, codes, softness, weight)
    coef = found.coef.T / (softness * units.length)
    posterior = RegressionPosterior(coef, None, units.resultant, found.outputs, units.length, {})
    return posterior, units


def squared_lengths(coef: np.ndarray, codes, weight: np.ndarray, softness: float) -> np.ndarray:
    """Return the squared length of each mean hypothesis from coefficients in units of the noise.

    The kernel matrix times the coefficients is what the noise leaves of the codes.
    """
    return np.sum(coef * (codes - coef / weight[:, None]), axis=0) / softness


def units_of(solution: Solution, codes: np.ndarray, softness: float, weight: np.ndarray) -> Units:
    """Return the scale of the codes that makes them most probable, and what follows from it."""
    misfit = np.sum(codes * (solution.coef / softness), axis=0)
    scale = np.sqrt(max(np.mean(misfit) / weight.sum(), np.finfo(float).tiny))
    informed = float(np.sum(1 - solution.inverse_diagonal / weight))
    squared = np.maximum(solution.squared, 0.0)
    length = float(np.sqrt(squared.max() + scale**2 * max(informed, 1.0)))
    evidence = _log_density(misfit, scale, softness, weight, solution.log_det)
    return Units(float(scale), length, np.sqrt(squared) / length, evidence)


def describe(units: Units, seconds: float) -> dict[str, Any]:
    """Return what `diagnostics_` reports about an exact answer."""
    return {
        "log_evidence": units.log_evidence,
        "angle": 0.0,
        "ess": np.inf,
        "mixed": True,
        "stop": "done",
        "seconds": seconds,
    }


def _solve_in_tiles(
    matrix, codes, softness: float, weight, thread_map: Callable, is_over: Callable[[int], bool]
) -> Solution:
    """Solve a large regression in place; the matrix ends as the inverse of its factor."""
    m = len(matrix)
    matrix *= matrix.dtype.type(1 / softness)
    matrix.flat[:: m + 1] += 1 / weight
    m, log_det = factor(matrix, thread_map, is_over=is_over)
    matrix, codes, weight = matrix[:m, :m], codes[:m], weight[:m]
    invert(matrix, thread_map)
    blocks = [slice(start, start + BLOCK_ROWS) for start in range(0, m, BLOCK_ROWS)]
    half = np.concatenate([matrix[rows] @ codes.astype(matrix.dtype) for rows in blocks])
    coef, inverse_diagonal = np.zeros(codes.shape), np.zeros(m)
    for rows in blocks:  # of a lower triangular matrix
        here = matrix[rows, : rows.stop]
        coef[: rows.stop] += here.T @ half[rows]
        inverse_diagonal[: rows.stop] += np.einsum("ij,ij->j", here, here)
    freedom, _ = freedom_of(inverse_diagonal, weight)
    outputs = codes - coef / freedom[:, None]
    squared = squared_lengths(coef, codes, weight, softness)
    return Solution(coef, inverse_diagonal, log_det, outputs, squared)


def _log_density(misfit, scale, softness, weight, log_det) -> np.ndarray:
    """Return the log density of the codes of each output, as that of repeated rows.

    `log_det` is that of the noisy Gram matrix in units of the softness. The copies of a point
    beyond the first have the density of the noise alone.
    """
    m = len(weight)
    of_noise = np.sum((weight - 1) * np.log(2 * np.pi * scale**2 * softness) + np.log(weight))
    of_points = m * np.log(2 * np.pi * scale**2 * softness) + log_det
    return -0.5 * (misfit / scale**2 + of_points + of_noise)


def pairs_of(borders: np.ndarray, n: int) -> slice:
    """Return which pairs of points, row by row above the diagonal, belong to a piece of rows."""
    return slice(*(int(i) * (2 * n - int(i) - 1) // 2 for i in (borders[0], borders[-1])))


def leave_one_out(
    matrix: np.ndarray,
    codes: np.ndarray,
    weight: np.ndarray,
    thread_map: Callable = map,
    overwrite: bool = False,
) -> LeftOut:
    """Solve a label regression, and predict the codes of points that are left out.

    The matrix is the Gram matrix in units of the noise of a point of weight one. A point of
    weight two is the same as two equal points, one of which is left out. A point of weight below
    one is left out as a whole.
    """
    weight = heeded(weight, np.diagonal(matrix).max())
    matrix = matrix if overwrite else matrix.copy()
    matrix.flat[:: len(matrix) + 1] += 1 / weight
    inverse, log_det = invert_definite(matrix, thread_map)
    return left_out(inverse, log_det, codes, weight)


def left_out(inverse: np.ndarray, log_det: float, codes: np.ndarray, weight: np.ndarray) -> LeftOut:
    """Return the solution that follows from the inverse of the Gram matrix with noise."""
    coef = inverse @ codes
    freedom, slope = freedom_of(np.diagonal(inverse), weight)
    return LeftOut(inverse, coef, freedom, slope, log_det, codes - coef / freedom[:, None])


def heeded(weight: np.ndarray, largest: float) -> np.ndarray:
    """Return weights that leave some noise; `largest` is a squared length in units of the noise."""
    with np.errstate(divide="ignore", over="ignore"):  # without lengths any weight will do
        return np.minimum(weight, 1 / (MIN_NOISE * np.maximum(largest, 0.0)))


def freedom_of(inverse_diagonal: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the divisor of leave-one-out residuals, and its derivative by the diagonal."""
    copy = np.minimum(weight, 1.0)
    slope = copy / weight
    return weight - copy + slope * inverse_diagonal, slope
