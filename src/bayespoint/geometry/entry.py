"""Ways into version space: a first hypothesis that is consistent with the training data."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

import numpy as np
from scipy import linalg, optimize

from .._runtime.interrupt import interrupts
from .conflicts import NoVersionSpaceError, find_conflict, list_points, no_version_space_message
from .great_circle import MIN_RELIABLE_MARGIN, halfway, random_tangent, unit_vector

if TYPE_CHECKING:
    from .version_space import VersionSpace

# The perceptron gives up once it has shown that no margin is larger than this
# (Novikoff: at most 1 / margin^2 mistakes).
MIN_PERCEPTRON_MARGIN = 1e-3
# The light trap gives up after this many bounces.
MAX_LIGHT_TRAP_BOUNCES = 100_000
# The linear program has at least this many seconds, whatever the deadline.
MIN_PROGRAM_SECONDS = 1.0


def solve_directly(space: VersionSpace, rng=None) -> np.ndarray | None:
    """Return the hypothesis with equal margins, or None if the points are dependent."""
    gram = space.gram
    if gram.rank < len(space.signs):
        return None
    w = linalg.solve_triangular(gram.factor[gram.pivots], space.signs[gram.pivots], lower=True)
    return unit_vector(w)


def learn_perceptron(
    space: VersionSpace, rng: np.random.Generator, smallest_margin: float = MIN_PERCEPTRON_MARGIN
) -> np.ndarray | None:
    """Return the hypothesis that the kernel perceptron learns in a random order.

    Return None if it makes 1 / smallest_margin^2 mistakes: a problem with a larger margin
    needs fewer (Novikoff).
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
    return unit_vector(space.combine(count)) if mistakes < limit else None


def trap_light(
    space: VersionSpace, rng: np.random.Generator, n_bounces: int = MAX_LIGHT_TRAP_BOUNCES
) -> np.ndarray | None:
    """Return the end of a ray that passes every wall inwards and none outwards.

    It starts at the difference of the class means, which makes few errors. Return None if
    n_bounces were not enough.
    """
    from .._jit.light_trap import shine

    sizes = np.where(space.signs > 0, np.sum(space.signs > 0), np.sum(space.signs < 0))
    w = unit_vector(space.combine(1.0 / sizes))
    if w is None or space.gram.rank == 1:
        return w if w is not None and space.contains(w) else None
    v = random_tangent(w, rng)
    gram = space.gram
    d, u = space.margins(np.stack([w, v]))
    with interrupts() as interrupted:
        shine(gram.matrix, gram.factor, space.signs, w, v, d, u, n_bounces)
    if interrupted:
        raise KeyboardInterrupt
    # The ray has entered through a wall and is still on it: move away from it.
    w = unit_vector(halfway(space, w, v)[0])
    return w if w is not None and space.contains(w) else None


def solve_program(space: VersionSpace, deadline: float = math.inf) -> np.ndarray:
    """Return the hypothesis of largest margin in a box, or raise with a proof.

    The linear program: maximize t subject to <w, z_i> >= t, |w_j| <= 1. At its optimum
    either t > 0, or the multipliers of the constraints are the weights of a combination of
    signed points that vanishes (Gordan's theorem).
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
        w = unit_vector(result.x[:rank])
        if w is not None and space.margins(w).min() > MIN_RELIABLE_MARGIN:
            return w
    weights = np.zeros(m) if result.status else np.maximum(-result.ineqlin.marginals, 0.0)
    conflict, weights, proved = find_conflict(space, weights)
    conflict = space.named(conflict)
    if proved:
        reason = f"training points {list_points(conflict)} contradict each other"
    else:
        reason = (
            "no hypothesis was found that classifies all training points with a margin above "
            f"{MIN_RELIABLE_MARGIN:g}, and no proof that none exists: the problem is at the limit "
            "of double precision, or time was up"
        )
    raise NoVersionSpaceError(no_version_space_message(reason), conflict, weights)
