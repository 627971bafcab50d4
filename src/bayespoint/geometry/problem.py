"""From a kernel matrix and labels to version spaces."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._runtime.warn import warn
from .gram import unit_gram
from .version_space import VersionSpace


class Problem(NamedTuple):
    """A version space for each output."""

    rows: np.ndarray  # the rows of the training points that bound them
    spaces: list[VersionSpace]


def pose_problem(
    matrix: np.ndarray,
    rows: np.ndarray,
    signs: np.ndarray,
    softness: float,
    label_noise: float = 0.0,
    weight: np.ndarray | None = None,
) -> Problem:
    """Make the Gram matrix and the version space of every output.

    Parameters
    ----------
    matrix : array of shape (n_rows, n_rows)
        Kernel matrix of the training points `rows`.
    rows : array of shape (n_rows,)
        Their indices in the training set.
    signs : array of shape (n_outputs, n_samples)
        Labels, +1 and -1, of the whole training set.
    softness, label_noise : float
        As in `BayesPointClassifier`.
    weight : array of shape (n_samples,), default=None
        Positive weights of the whole training set; all one by default.

    Returns
    -------
    Problem
        Its rows leave out points at the origin, unless the boundary is hard. Then there is no
        version space with these points, and entering it raises an error.
    """
    if softness or label_noise:
        kept = off_origin(np.diagonal(matrix))
        if len(kept) < len(rows):
            matrix, rows = matrix[np.ix_(kept, kept)], rows[kept]
    weight = None if weight is None else weight[rows]
    gram = unit_gram(matrix, softness, rows, weight)
    spaces = [VersionSpace(gram, s, rows, label_noise, weight) for s in signs[:, rows]]
    return Problem(rows, spaces)


def off_origin(lengths: np.ndarray) -> np.ndarray:
    """Return the points that are not at the origin of feature space; warn about the others.

    `lengths` of the points may be squared or not: only zeros count.
    """
    kept = np.flatnonzero(lengths)
    if not kept.size:
        raise ValueError(
            "All training points lie at the origin of feature space, where every hypothesis "
            "gives zero. Pass fit_intercept=True, or another kernel."
        )
    if len(kept) < len(lengths):
        warn(
            f"{len(lengths) - len(kept)} training points lie at the origin of feature "
            "space, where every hypothesis gives zero; they are ignored. fit_intercept=True "
            "moves them away from it.",
        )
    return kept
