"""Version space: every hypothesis that is consistent with the training data."""

from __future__ import annotations

import math
import time
from typing import NamedTuple

import numpy as np
from scipy import linalg, optimize

from .._runtime.interrupt import interrupts
from .gram import ROUNDING, Gram

# A margin below this is lost in the rounding of the Gram matrix: perturbing its entries
# in the last place moves a unit point by the square root of that.
SMALLEST_MARGIN = 1e-8
# The perceptron gives up once it has shown that no margin is larger than this
# (Novikoff: at most 1 / margin^2 mistakes); the light trap after this many bounces.
MIN_PERCEPTRON_MARGIN = 1e-3
MAX_LIGHT_TRAP_BOUNCES = 100_000
# A combination of unit vectors below this length has vanished.
MAX_VANISHING_LENGTH = 1e-10
# Seconds that the linear program has at least, whatever the deadline.
MIN_PROGRAM_SECONDS = 1.0
# How many conflicting points an error message names.
MAX_NAMED_POINTS = 10


class NoVersionSpaceError(ValueError):
    """No hypothesis is consistent with the training data.

    `conflict` holds the indices of training points that contradict each other, and
    `weights` the non-negative weights with which their signed unit vectors add up to
    zero, which proves it.
    """

    def __init__(self, message: str, conflict: np.ndarray, weights: np.ndarray):
        super().__init__(message)
        self.conflict = conflict
        self.weights = weights

    def __reduce__(self):
        return type(self), (str(self), self.conflict, self.weights)


class VersionSpace(NamedTuple):
    """The unit vectors w with signs_i <w, x_i> > 0 for all unit training points x_i.

    With label noise eta, the probability that a label was flipped, every unit vector is
    possible: its posterior weight is (eta / (1 - eta))^n where it makes n errors
    (000, eq. 4).

    Hypotheses are given in the coordinates of `gram.factor`. All classes of a
    one-vs-rest problem share one `gram` and differ in `signs` alone.
    """

    gram: Gram
    signs: np.ndarray
    names: np.ndarray | None = None  # of the points in errors; their numbers by default
    label_noise: float = 0.0

    @property
    def error_cost(self) -> float:
        """Return beta, by which an error lowers the logarithm of the posterior."""
        eta = self.label_noise
        return math.inf if eta == 0 else math.log((1 - eta) / eta)

    @property
    def walls(self) -> np.ndarray:
        """Return the signed unit constraints z_i, one a row."""
        return self.gram.factor * self.signs[:, None]

    def named(self, points: np.ndarray) -> np.ndarray:
        """Return what the user calls these points."""
        return points if self.names is None else self.names[points]

    def margins(self, w: np.ndarray) -> np.ndarray:
        """Return the margins <w, z_i> of hypotheses, one in a row or a single one."""
        return (w @ self.gram.factor.T) * self.signs

    def combine(self, coef: np.ndarray) -> np.ndarray:
        """Return sum_i coef_i z_i in coordinates."""
        return (coef * self.signs) @ self.gram.factor

    def dual(self, w: np.ndarray) -> np.ndarray:
        """Return coefficients on the z_i of hypotheses given in coordinates."""
        return self.gram.dual(w) * self.signs

    def contains(self, w: np.ndarray) -> bool:
        """Tell whether w classifies every training point correctly."""
        return bool(self.margins(w).min() > 0)

    def enter(self, rng: np.random.Generator, deadline: float = math.inf) -> np.ndarray:
        """Return a hypothesis in version space, or say why there is none.

        The linear program gives up at the deadline, a value of `time.perf_counter()`.

        Tried in turn: equal margins by a direct solve, where the points are linearly
        independent; the kernel perceptron (000, algorithm 1); the light trap (002, sec.
        18.5.2); a linear program, which decides.
        """
        _check_origin(self)
        _check_opposites(self)
        for attempt in (solve_directly, learn_perceptron, trap_light):
            w = attempt(self, rng)
            if w is not None and self.margins(w).min() > SMALLEST_MARGIN:
                return w
        return solve_program(self, deadline)


def solve_directly(space: VersionSpace, rng=None) -> np.ndarray | None:
    """Return the hypothesis with equal margins, if the points are independent."""
    gram = space.gram
    if gram.rank < len(space.signs):
        return None
    w = linalg.solve_triangular(gram.factor[gram.pivots], space.signs[gram.pivots], lower=True)
    return _unit(w)


def learn_perceptron(
    space: VersionSpace, rng: np.random.Generator, smallest_margin: float = MIN_PERCEPTRON_MARGIN
) -> np.ndarray | None:
    """Return what the kernel perceptron learns on a random permutation.

    None when it made 1 / smallest_margin^2 mistakes, which no problem with a larger
    margin needs (Novikoff).
    """
    from .._jit.perceptron import learn

    order = rng.permutation(len(space.signs))
    margins = np.zeros(len(space.signs))
    limit = int(np.ceil(smallest_margin**-2))
    with interrupts() as interrupted:
        before = bool(interrupted)
        count, mistakes = learn(space.gram.matrix, space.signs, order, margins, limit)
        if interrupted and not before:
            raise KeyboardInterrupt
    return _unit(space.combine(count)) if mistakes < limit else None


def trap_light(
    space: VersionSpace, rng: np.random.Generator, n_bounces: int = MAX_LIGHT_TRAP_BOUNCES
) -> np.ndarray | None:
    """Return where a ray ends that passes every wall inwards and none outwards.

    It starts at the difference of the class means, which makes few errors. None when
    n_bounces were not enough.
    """
    from .._jit.light_trap import shine

    sizes = np.where(space.signs > 0, np.sum(space.signs > 0), np.sum(space.signs < 0))
    w = _unit(space.combine(1.0 / sizes))
    if w is None or space.gram.rank == 1:
        return w if w is not None and space.contains(w) else None
    v = random_tangent(w, rng)
    gram = space.gram
    d, u = space.margins(np.stack([w, v]))
    with interrupts() as interrupted:
        shine(gram.matrix, gram.factor, space.signs, w, v, d, u, n_bounces)
    if interrupted:
        raise KeyboardInterrupt
    # The ray enters through a wall and is still on it.
    w = _unit(halfway(space, w, v)[0])
    return w if w is not None and space.contains(w) else None


def halfway(space: VersionSpace, b: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Move along a great circle half the way to the next wall."""
    d, u = space.margins(np.stack([b, v]))
    ahead = d > SMALLEST_MARGIN
    t = math.atan2(1.0, np.max(-u[ahead] / d[ahead], initial=-1e9)) / 2
    return b * math.cos(t) + v * math.sin(t), v * math.cos(t) - b * math.sin(t)


def solve_program(space: VersionSpace, deadline: float = math.inf) -> np.ndarray:
    """Return the hypothesis of largest margin in a box, or raise with a proof.

    The linear program: maximise t subject to <w, z_i> >= t, |w_j| <= 1. At its optimum
    either t > 0, or the multipliers of the constraints are a non-negative combination
    of signed points that vanishes (Gordan's theorem).
    """
    m, rank = space.gram.factor.shape
    objective = np.append(np.zeros(rank), -1.0)
    result = optimize.linprog(
        objective,
        A_ub=np.column_stack([-space.walls, np.ones(m)]),
        b_ub=np.zeros(m),
        bounds=[(-1, 1)] * rank + [(None, 1)],
        method="highs",
        options={"time_limit": max(deadline - time.perf_counter(), MIN_PROGRAM_SECONDS)},
    )
    if result.status == 0:
        w = _unit(result.x[:rank])
        if w is not None and space.margins(w).min() > SMALLEST_MARGIN:
            return w
    weights = np.zeros(m) if result.status else np.maximum(-result.ineqlin.marginals, 0.0)
    conflict, weights, residual = _sharpen(space, weights)
    conflict = space.named(conflict)
    if residual < MAX_VANISHING_LENGTH:
        reason = f"training points {_name(conflict)} contradict each other"
    else:
        reason = (
            "no hypothesis could be found that classifies all training points with a margin "
            f"above {SMALLEST_MARGIN:g}, and no proof that there is none: the problem is at "
            "the limit of double precision, or time was up"
        )
    raise NoVersionSpaceError(_no_version_space(reason), conflict, weights)


def _sharpen(space: VersionSpace, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Return points and weights of a vanishing combination, and how far it vanishes."""
    conflict = np.flatnonzero(weights > 1e-7 * weights.max(initial=0.0))
    if not conflict.size:
        return conflict, weights[conflict], np.inf
    columns = space.walls[conflict].T
    try:
        sharp, _ = optimize.nnls(
            np.vstack([columns, np.ones(len(conflict))]), np.append(np.zeros(len(columns)), 1.0)
        )
    except RuntimeError:  # it takes too many iterations
        return conflict, weights[conflict], np.inf
    conflict, sharp = conflict[sharp > 0], sharp[sharp > 0]
    sharp = sharp / sharp.sum()
    return conflict, sharp, float(np.linalg.norm(sharp @ space.walls[conflict]))


def random_tangent(w: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return a random unit vector orthogonal to the unit vector w."""
    if len(w) < 2 or not np.isfinite(w).all():
        raise ValueError(f"w should be finite and have two components or more, but is {w}.")
    while True:
        v = rng.standard_normal(len(w))
        # Twice: after one projection rounding may leave a component along w.
        for _ in range(2):
            v -= (v @ w) * w
        length = np.linalg.norm(v)
        if length > 1e-8:
            return v / length


def _unit(w: np.ndarray) -> np.ndarray | None:
    """Scale w to unit length; None if that cannot be done."""
    length = float(np.linalg.norm(w))
    return w / length if np.isfinite(length) and length > 1e-12 else None


def _check_origin(space: VersionSpace) -> None:
    """Raise if a point is at the origin, where every hypothesis gives zero."""
    at_origin = np.flatnonzero(np.diagonal(space.gram.matrix) == 0)
    if at_origin.size:
        at_origin = space.named(at_origin)
        reason = (
            f"training points {_name(at_origin)} lie at the origin of feature space, where every "
            "hypothesis gives zero (fit_intercept=True moves them away from it)"
        )
        weights = np.full(at_origin.size, 1 / at_origin.size)
        raise NoVersionSpaceError(_no_version_space(reason), at_origin, weights)


def _check_opposites(space: VersionSpace) -> None:
    """Raise if the same point was seen with both labels."""
    signs = space.signs
    positive, negative = np.flatnonzero(signs > 0), np.flatnonzero(signs < 0)
    same = space.gram.matrix[np.ix_(positive, negative)] >= 1 - 4 * ROUNDING
    # Each point of a group weighs as much as the points it contradicts.
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
    raise NoVersionSpaceError(_no_version_space(reason), space.named(conflict), weights)


def _no_version_space(reason: str) -> str:
    return (
        f"There is no version space: {reason}. Allow training errors with softness > 0 "
        '(or softness="auto") or label_noise > 0, give the kernel more freedom (a larger gamma '
        "or degree, fit_intercept=True), or check these labels."
    )


def _name(indices: np.ndarray) -> str:
    names = ", ".join(str(i) for i in indices[:MAX_NAMED_POINTS])
    more = len(indices) - MAX_NAMED_POINTS
    return f"[{names}] and {more} more" if more > 0 else f"[{names}]"
