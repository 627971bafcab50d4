"""Training points that contradict each other: why there is no version space."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import optimize

from .gram import ROUNDING

if TYPE_CHECKING:
    from .version_space import VersionSpace

# A combination of unit vectors shorter than this has vanished.
MAX_VANISHING_LENGTH = 1e-10
# An error message names at most this many conflicting points.
MAX_NAMED_POINTS = 10
# Leave points out of a conflict if their weight is below this share of the largest one.
_MIN_RELATIVE_WEIGHT = 1e-7


class NoVersionSpaceError(ValueError):
    """No hypothesis is consistent with the training data.

    `conflict` holds the indices of training points that contradict each other. `weights`
    holds non-negative weights with which their signed unit vectors add up to zero; this
    proves the contradiction.
    """

    def __init__(self, message: str, conflict: np.ndarray, weights: np.ndarray):
        super().__init__(message)
        self.conflict = conflict
        self.weights = weights

    def __reduce__(self):
        return type(self), (str(self), self.conflict, self.weights)


def check_origin(space: VersionSpace) -> None:
    """Raise if a point is at the origin, where every hypothesis gives zero."""
    at_origin = np.flatnonzero(np.diagonal(space.gram.matrix) == 0)
    if at_origin.size:
        at_origin = space.named(at_origin)
        reason = (
            f"training points {list_points(at_origin)} lie at the origin of feature space, where "
            "every hypothesis gives zero (fit_intercept=True moves them away from it)"
        )
        weights = np.full(at_origin.size, 1 / at_origin.size)
        raise NoVersionSpaceError(no_version_space_message(reason), at_origin, weights)


def check_opposites(space: VersionSpace) -> None:
    """Raise if one point of feature space has both labels."""
    signs = space.signs
    positive, negative = np.flatnonzero(signs > 0), np.flatnonzero(signs < 0)
    same = space.gram.matrix[np.ix_(positive, negative)] >= 1 - 4 * ROUNDING
    # The weight of a point is the number of points it contradicts.
    weights = np.zeros(len(signs))
    weights[positive], weights[negative] = same.sum(axis=1), same.sum(axis=0)
    if not weights.any():
        return
    pairs = [
        f"{space.named(positive[i])} and {space.named(negative[j])}"
        for i in np.flatnonzero(same.any(axis=1))[:MAX_NAMED_POINTS]
        for j in np.flatnonzero(same[i])[:MAX_NAMED_POINTS]
    ][:MAX_NAMED_POINTS]
    more = int(weights.sum()) // 2 - len(pairs)
    reason = (
        "the same point of feature space has different labels in training points "
        f"{', '.join(pairs)}" + (f" and {more} more pairs" if more else "")
    )
    conflict = np.flatnonzero(weights)
    weights = weights[conflict] / weights.sum()
    raise NoVersionSpaceError(no_version_space_message(reason), space.named(conflict), weights)


def find_conflict(space: VersionSpace, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray, bool]:
    """Return points that contradict each other, their weights, and whether this is proved.

    `weights` are approximate weights of a combination of signed points that vanishes. They
    are refined, and prove the conflict if the combination is short enough.
    """
    conflict = np.flatnonzero(weights > _MIN_RELATIVE_WEIGHT * weights.max(initial=0.0))
    if not conflict.size:
        return conflict, weights[conflict], False
    columns = space.walls[conflict].T
    try:
        sharp, _ = optimize.nnls(
            np.vstack([columns, np.ones(len(conflict))]), np.append(np.zeros(len(columns)), 1.0)
        )
    except RuntimeError:  # it takes too many iterations
        return conflict, weights[conflict], False
    conflict, sharp = conflict[sharp > 0], sharp[sharp > 0]
    sharp = sharp / sharp.sum()
    residual = float(np.linalg.norm(sharp @ space.walls[conflict]))
    return conflict, sharp, residual < MAX_VANISHING_LENGTH


def no_version_space_message(reason: str) -> str:
    """Return an error message with advice."""
    return (
        f"There is no version space: {reason}. Allow training errors with softness > 0 "
        '(or softness="auto") or label_noise > 0, give the kernel more freedom (a larger gamma '
        "or degree, fit_intercept=True), or check these labels."
    )


def list_points(indices: np.ndarray) -> str:
    """Name the first points, and count the rest."""
    names = ", ".join(str(i) for i in indices[:MAX_NAMED_POINTS])
    more = len(indices) - MAX_NAMED_POINTS
    return f"[{names}] and {more} more" if more > 0 else f"[{names}]"
