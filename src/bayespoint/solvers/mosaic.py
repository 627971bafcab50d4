"""Label regression in cells that landmarks join: for more points than one matrix can hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from numbers import Integral
from typing import NamedTuple

import numpy as np
from sklearn.utils._param_validation import Interval

from .._runtime.share_done import advance, between
from .._runtime.threads import one_blas_thread
from .regression import Solution, freedom_of
from .solver import Solver
from .tiled_cholesky import (
    factor,
    invert,
    multiply_by_lower,
    subtract_square,
    tiles_of,
    times_upper,
)
from .watch import Watch

# Share of the time that the first pass over the cells takes, measured with 15,000 points.
SHARE_OF_FIRST_PASS = 0.7


class Patch(NamedTuple):
    """The unit points of a cell."""

    features: np.ndarray  # (n, r), coordinates in the span of the landmarks
    kernel: np.ndarray  # (n, n), the Gram matrix; only its lower triangle is read


class Joined(NamedTuple):
    """The posterior of a mosaic; rows are those of the cells that were reached in time."""

    rows: np.ndarray  # increasing
    solution: Solution  # of these rows
    of_cells: np.ndarray  # (n_cells, r, n_outputs), what each cell leaves to the landmarks
    root: np.ndarray  # (r, r), root' root is the posterior covariance of the landmarks' part
    n_done: int  # cells that were reached


class Mosaic(Solver):
    """Label regression where points of different cells know each other through landmarks.

    For training sets whose whole Gram matrix is too large. Landmarks, training points chosen at
    random, span a global hypothesis. Each cell adds a local one, which sees what the landmarks
    cannot express. Global and local parts are found together, from all points, in closed form.

    Parameters
    ----------
    n_landmarks : int, default=3000
        Number of landmarks. More of them express smoother detail across cells; time grows with
        the square of this number.
    n_points : int, default=2000
        Approximate number of training points in a cell; no cell has more than twice this number.
        More of them have fewer borders, where the answer may jump; time grows with the square
        of this number.
    n_draws : int, default=256
        Number of hypotheses drawn from the posterior, for votes; with several classes fewer, as
        in `Regression`. They differ in their global part.

    Notes
    -----
    With Q the kernel in the span of the landmarks, the kernel of the mosaic is k inside a cell
    and Q between cells (the partially independent conditional of Snelson and Ghahramani 2007).
    It is a kernel like any other. Each of m points costs O(r^2 + r n + n^2) for r landmarks and
    cells of n points. If every point is a landmark, or if there is one cell, this is the exact
    regression.

    In units of the noise let D be the block diagonal matrix of k - Q plus noise, D = L L', and
    V = L^-1 Phi with the features Phi of the landmarks. The global weights have the posterior
    precision S = I + V'V and the mean w = S^-1 V'L^-1 Y. The coefficients of a cell are
    L'^-1 (L^-1 Y - V w), and the diagonal of the inverse of the whole matrix, which leaves out
    one point after the other, is that of D^-1 - L'^-1 V S^-1 V' L^-1.

    References
    ----------
    Snelson, Ghahramani (2007), Local and global sparse Gaussian process approximations, AISTATS.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from bayespoint import BayesPointClassifier
    >>> from bayespoint.solvers import Mosaic
    >>> X, y = make_moons(100, noise=0.3, random_state=0)
    >>> solver = Mosaic(20, 50)
    >>> model = BayesPointClassifier("rbf", gamma=1.0, softness=0.1, solver=solver, random_state=0)
    >>> model.fit(X, y).landmarks_.shape
    (20,)
    """

    needs = "mosaic"
    supports_weights = True
    _parameter_constraints = {
        "n_landmarks": [Interval(Integral, 1, None, closed="left")],
        "n_points": [Interval(Integral, 10, None, closed="left")],
        "n_draws": [Interval(Integral, 2, None, closed="left")],
    }

    def __init__(self, n_landmarks=3000, n_points=2000, *, n_draws=256):
        self.n_landmarks = n_landmarks
        self.n_points = n_points
        self.n_draws = n_draws

    def solve(
        self,
        cells: Sequence[np.ndarray],
        patch_of: Callable[[int], Patch],
        codes: np.ndarray,
        softness: float,
        weight: np.ndarray,
        *,
        watch: Watch,
        n_held: int | None = None,
        n_at_once: int = 1,
        thread_map: Callable = map,
    ) -> Joined:
        """Return the posterior of the hypotheses of all outputs.

        Parameters
        ----------
        cells : sequence of arrays
            The rows of each cell.
        patch_of : callable
            Returns the points of a cell, given its number. All patches have one dtype.
        codes : array of shape (m, n_outputs)
            Labels as numbers.
        softness : float
            Variance of the noise, positive; the prior variance of an output is 1.
        weight : array of shape (m,)
            Weights of the points.
        watch : Watch
            Says when to stop. Cells that were not reached have a global part alone.
        n_held : int, default=None
            Number of cells to keep in memory between the two passes, by default all. Others are
            computed twice.
        n_at_once : int, default=1
            Number of cells that are given to `thread_map` at a time, to limit memory.
        thread_map : callable, default=map
            A `map` that may use threads; the result does not depend on it.
        """
        self._validate_params()
        n_held = len(cells) if n_held is None else n_held

        def condense_cell(number: int) -> Half:
            rows = cells[number]
            return condense(patch_of(number), codes[rows], softness, weight[rows])

        with one_blas_thread():
            batches = _batches(len(cells), n_at_once)
            halves = (half for batch in batches for half in thread_map(condense_cell, batch))
            sums, held = _add_up(halves, len(cells), n_held, watch)
            whole = solve_sums(sums, thread_map)

            def finish_cell(number: int) -> Finished:
                half = held.pop(number, None)
                return finish(condense_cell(number).half if half is None else half, whole)

            batches = _batches(sums.n_cells, n_at_once)
            found = _collect((thread_map(finish_cell, batch) for batch in batches), sums.n_cells)
        return join(cells, found, whole, codes, softness, weight)


class Factored(NamedTuple):
    """A cell after its own factorization."""

    inverse: np.ndarray  # (n, n), L^-1
    features: np.ndarray  # (n, r), V
    codes: np.ndarray  # (n, n_outputs), L^-1 Y


class Half(NamedTuple):
    """A cell after the first pass, and what it adds to the sums."""

    half: Factored
    square: np.ndarray  # (r, r), V'V
    log_det: float


class Sums:
    """What cells say together about the global weights.

    Sums are in double precision: then the answer does not depend on their order, in all digits
    that single precision has, and cells on different machines can be added up.
    """

    def __init__(self, n_features: int, n_outputs: int):
        self.square = np.zeros((n_features, n_features))  # V'V
        self.pull = np.zeros((n_features, n_outputs))  # V'L^-1 Y
        self.log_det, self.n_cells = 0.0, 0

    def add(self, found: Half) -> None:
        """Add a cell."""
        self.square += found.square
        self.pull += found.half.features.T @ found.half.codes
        self.log_det += found.log_det
        self.n_cells += 1

    def add_sums(self, others: Sums) -> None:
        """Add the sums of other cells."""
        self.square += others.square
        self.pull += others.pull
        self.log_det += others.log_det
        self.n_cells += others.n_cells


class Whole(NamedTuple):
    """The posterior of the global weights."""

    mean: np.ndarray  # (r, n_outputs), w
    root: np.ndarray  # (r, r), root' root is the inverse of S
    log_det: float  # of the whole matrix

    def astype(self, dtype) -> Whole:
        """Return the posterior in the precision of the cells."""
        return Whole(self.mean.astype(dtype), self.root.astype(dtype), self.log_det)


class Finished(NamedTuple):
    """The answer of a cell."""

    coef: np.ndarray  # (n, n_outputs)
    inverse_diagonal: np.ndarray  # (n,)
    left: np.ndarray  # (r, n_outputs), the global weights minus what the cell says itself


def condense(patch: Patch, codes: np.ndarray, softness: float, weight: np.ndarray) -> Half:
    """Factor what the landmarks leave of the kernel of a cell; the patch is overwritten."""
    features, matrix = patch
    dtype = features.dtype
    subtract_square(matrix, features)
    matrix *= dtype.type(1 / softness)
    matrix.flat[:: len(matrix) + 1] += 1 / weight
    _, log_det = factor(matrix)
    invert(matrix)
    multiply_by_lower(matrix, features)
    features *= dtype.type(softness**-0.5)
    half = Factored(matrix, features, matrix @ codes.astype(dtype))
    return Half(half, features.T @ features, log_det)


def solve_sums(sums: Sums, thread_map: Callable = map) -> Whole:
    """Return the posterior of the global weights; the matrix of the sums is overwritten."""
    root = sums.square
    root.flat[:: len(root) + 1] += 1
    log_det = sums.log_det + factor(root, thread_map)[1]
    invert(root, thread_map)
    return Whole(root.T @ (root @ sums.pull), root, log_det)


def _batches(n: int, size: int) -> list[range]:
    return [range(start, min(start + size, n)) for start in range(0, n, size)]


def _add_up(halves, n_cells: int, n_held: int, watch: Watch) -> tuple[Sums, dict]:
    """Sum over cells; keep some of them in memory."""
    held: dict[int, Factored] = {}
    sums = None
    for number, found in enumerate(halves):
        if sums is None:
            sums = Sums(len(found.square), found.half.codes.shape[1])
        sums.add(found)
        if number < n_held:
            held[number] = found.half
        with between(0, SHARE_OF_FIRST_PASS):
            over = watch.end_round({"n_done": number + 1, "n_cells": n_cells})
        if over:
            break
    assert sums is not None  # there are cells
    return sums, held


def _collect(answers: Iterable[Iterable[Finished]], n_cells: int) -> list[Finished]:
    """Return the answers of all cells, and say how much of the second pass is done."""
    found: list[Finished] = []
    with between(SHARE_OF_FIRST_PASS, 1):
        for some in answers:
            found += some
            advance(len(found) / n_cells, "fitting")
    return found


def finish(half: Factored, whole: Whole) -> Finished:
    """Return the answer of a cell, given the global weights."""
    mean, root, _ = whole.astype(half.features.dtype)
    gap = half.codes - half.features @ mean
    diagonal = np.einsum("ij,ij->j", half.inverse, half.inverse, dtype=np.float64)
    for here in tiles_of(len(gap)):  # the inverse is lower triangular
        seen = half.inverse[here.start :, here].T @ half.features[here.start :]
        seen = times_upper(seen, root.T)
        diagonal[here] -= np.einsum("ij,ij->i", seen, seen, dtype=np.float64)
    left = whole.mean - half.features.T @ gap
    return Finished(half.inverse.T @ gap, diagonal, left)


def join(
    cells: Sequence[np.ndarray],
    found: list[Finished],
    whole: Whole,
    codes: np.ndarray,
    softness: float,
    weight: np.ndarray,
) -> Joined:
    """Put the answers of all cells together; those that were not reached have only the mean."""
    rows = np.concatenate(cells[: len(found)])
    order = np.argsort(rows)
    rows = rows[order]
    precision = np.finfo(found[0].coef.dtype).eps
    coef = np.concatenate([cell.coef for cell in found])[order].astype(np.float64)
    diagonal = np.concatenate([cell.inverse_diagonal for cell in found])[order]
    codes, weight = codes[rows], weight[rows]
    freedom, _ = freedom_of(np.maximum(diagonal, precision), weight)
    outputs = codes - coef / freedom[:, None]
    squared = np.sum(coef * (codes - coef / weight[:, None]), axis=0) / softness
    missing = [whole.mean] * (len(cells) - len(found))
    of_cells = np.stack([*(cell.left for cell in found), *missing]) / np.sqrt(softness)
    solution = Solution(coef, diagonal, whole.log_det, outputs, squared)
    return Joined(rows, solution, of_cells, whole.root, len(found))
