"""A hypothesis on fewer points, whose decisions and probabilities hardly change."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .._runtime.threads import one_blas_thread, threads
from ..geometry.kernels import Kernel
from ..geometry.unit_kernel import lengths_in_blocks
from .carriers import Carriers, NotCarriedError, TooManyCarriersError, choose_carriers
from .unit_blocks import BLOCK_ROWS, UnitBlocks, is_fast

# In a mosaic, a cell's hypothesis is not used at landmarks of other cells. They only say what it
# looks like between its own points, and its outputs there may change by this many tolerances.
FAR_TOLERANCES = 3.0
# Outputs of two classes that compete, between which the steepest probability is searched.
N_LEVELS = 2001
MAX_LEVEL = 8.0
# Step of a difference quotient, for outputs of order one.
STEP = 1e-5


class Piece(NamedTuple):
    """A hypothesis as a sum over points, and the points whose outputs it decides."""

    points: Any  # (n, n_features)
    coef: np.ndarray  # (n, n_outputs)
    far: np.ndarray  # (n,), whether the hypothesis is not used at a point


def steepest(probabilities: Callable[[np.ndarray], np.ndarray], n_outputs: int, link: bool):
    """Return how much a probability can change for each unit by which all outputs change.

    Parameters
    ----------
    probabilities : callable
        From outputs of shape (n, n_outputs) to probabilities of all classes.
    n_outputs : int
        One for two classes.
    link : bool
        Whether outputs are predicted codes, which add 1 / n_classes to a probability.

    Returns
    -------
    float
        The largest sum of absolute slopes of one probability, where two classes compete: their
        probabilities against the rest add up to one, and other classes are out of the question.
    """
    level = np.linspace(0, 1, N_LEVELS) if link else np.linspace(-1, 1, N_LEVELS) * MAX_LEVEL
    if n_outputs == 1:
        at = level[:, None] - (0.5 if link else 0.0)
    else:
        at = np.full((N_LEVELS, n_outputs), 0.0 if link else -MAX_LEVEL)
        at[:, 0], at[:, 1] = level, (1 - level if link else -level)
        at -= 1 / n_outputs if link else 0.0
    total = 0.0
    for step in STEP * np.eye(n_outputs):
        total = total + np.abs(probabilities(at + step) - probabilities(at - step)) / (2 * STEP)
    return float(np.max(total))


def compact_pieces(
    kernel: Kernel,
    pieces: list[Piece],
    limit: float,
    *,
    single: bool,
    max_bytes: float,
    n_jobs: int | None,
) -> list[Carriers | None]:
    """Choose the carriers of each piece.

    Parameters
    ----------
    kernel : Kernel
        Any kernel that is not precomputed.
    pieces : list of Piece
        Hypotheses, each on its own points.
    limit : float
        How much an output may change.
    single : bool
        Whether kernel values in single precision are exact enough.
    max_bytes : float
        Memory for each piece.
    n_jobs : int
        Number of threads. The result does not depend on it.

    Returns
    -------
    list
        For each piece its carriers, with coefficients on points of their own lengths. None for a
        piece that needs all of its points.
    """

    def work(piece: Piece) -> Carriers | None:
        for fast in (True, False)[not single :]:
            try:
                return _compact(kernel, piece, limit, fast, max_bytes)
            except TooManyCarriersError:
                return None
            except NotCarriedError:
                pass
        return None

    with one_blas_thread(), threads(n_jobs) as thread_map:
        return list(thread_map(work, pieces))


def _compact(kernel: Kernel, piece: Piece, limit: float, single: bool, max_bytes: float):
    n = piece.points.shape[0]
    lengths = lengths_in_blocks(kernel, piece.points)
    lengths = np.where(lengths > 0, lengths, 1.0)
    single = single and is_fast(kernel, piece.points)
    blocks = UnitBlocks(kernel, piece.points, np.arange(n), lengths, single)
    kernel_of = blocks.against(np.arange(n))
    unit_coef = piece.coef * lengths[:, None]
    outputs = np.empty(unit_coef.shape)
    for start in range(0, n, BLOCK_ROWS):
        some = np.arange(start, min(start + BLOCK_ROWS, n))
        outputs[some] = kernel_of(some).astype(float) @ unit_coef
    limits = np.where(piece.far, FAR_TOLERANCES, 1.0) * limit
    # A set that is hardly smaller than all points is not worth its memory.
    found = choose_carriers(kernel_of, outputs, limits, int(min(max_bytes // (8 * n), n - 1)))
    return Carriers(found.rows, found.coef / lengths[found.rows, None])
