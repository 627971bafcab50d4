"""From a kernel matrix and labels to version spaces with a hypothesis in each."""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np

from .gram import IndefiniteKernelError, unit_gram
from .version_space import VersionSpace, learn_perceptron, solve_directly

# softness="auto" keeps the hard boundary where a hypothesis with this margin is found
# easily, and takes AUTO_SOFTNESS elsewhere.
EASY_MARGIN = 0.01
AUTO_SOFTNESS = 0.1
NOT_EASY = f"no hypothesis with a margin above {EASY_MARGIN:g} was found"


class Problem(NamedTuple):
    """A version space and a hypothesis in it for each output."""

    rows: np.ndarray  # the training points that bound them
    spaces: list[VersionSpace]
    starts: list[np.ndarray]


def pose_problem(
    matrix: np.ndarray,
    rows: np.ndarray,
    signs: np.ndarray,
    softness: float | str,
    rng: np.random.Generator,
) -> Problem:
    """Make the Gram matrix and enter the version space of every output.

    Parameters
    ----------
    matrix : array of shape (n_rows, n_rows)
        Kernel matrix of the training points `rows`.
    rows : array of shape (n_rows,)
        Their indices in the training set.
    signs : array of shape (n_outputs, n_samples)
        Labels, +1 and -1, of the whole training set.
    softness : float or "auto"
        As in `BayesPointClassifier`.
    rng : numpy.random.Generator
        For what entering takes of randomness.

    Returns
    -------
    Problem
        Its rows lack points at the origin, which only a hard boundary refuses.
    """
    if softness != 0:
        kept = off_origin(np.diagonal(matrix))
        if len(kept) < len(rows):
            matrix, rows = matrix[np.ix_(kept, kept)], rows[kept]
    signs = signs[:, rows]
    if softness == "auto":
        return _enter_softly(matrix, rows, signs, rng)
    return _enter(matrix, float(softness), rows, signs, rng)


def _enter(matrix: np.ndarray, softness: float, rows, signs, rng) -> Problem:
    """Enter all version spaces, or raise."""
    gram = unit_gram(matrix, softness, rows)
    spaces = [VersionSpace(gram, s, rows) for s in signs]
    return Problem(rows, spaces, [space.enter(rng) for space in spaces])


def off_origin(squared_lengths: np.ndarray) -> np.ndarray:
    """Return the points that are not at the origin of feature space, and warn of others."""
    kept = np.flatnonzero(squared_lengths)
    if not kept.size:
        raise ValueError(
            "All training points lie at the origin of feature space, where every hypothesis "
            "gives zero. Pass fit_intercept=True, or another kernel."
        )
    if len(kept) < len(squared_lengths):
        warnings.warn(
            f"{len(squared_lengths) - len(kept)} training points lie at the origin of feature "
            "space, where every hypothesis gives zero; they are ignored. fit_intercept=True "
            "moves them away from it.",
            UserWarning,
            stacklevel=7,
        )
    return kept


def warn_softened(softness: float, reason: str) -> None:
    """Say what softness="auto" chose instead of a hard boundary, and why."""
    warnings.warn(
        f'softness="auto" chose softness={softness:.3g}, because with a hard boundary {reason}. '
        "Pass a number to choose it yourself; 0 is a hard boundary.",
        UserWarning,
        stacklevel=7,
    )


def _enter_softly(matrix: np.ndarray, rows, signs, rng) -> Problem:
    """Keep the boundary hard if version space is easy to enter, else soften it."""
    softness = AUTO_SOFTNESS
    try:
        gram = unit_gram(matrix, 0.0, rows)
        spaces = [VersionSpace(gram, s, rows) for s in signs]
        starts = [w for w in (_easy_start(space, rng) for space in spaces) if w is not None]
        if len(starts) == len(spaces):
            return Problem(rows, spaces, starts)
        reason = NOT_EASY
    except IndefiniteKernelError as error:
        if error.needed_softness is None:
            raise
        softness = max(softness, error.needed_softness)
        reason = "the kernel matrix is not positive semi-definite"
    warn_softened(softness, reason)
    return _enter(matrix, softness, rows, signs, rng)


def _easy_start(space: VersionSpace, rng) -> np.ndarray | None:
    """Return a hypothesis with a comfortable margin, if one is found in short time."""
    if space.gram.rank == len(space.signs):
        w = solve_directly(space)
    else:
        w = learn_perceptron(space, rng, EASY_MARGIN)
    return w if w is not None and space.margins(w).min() >= EASY_MARGIN else None
