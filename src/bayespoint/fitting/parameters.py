"""Choose gamma, softness, label noise and intercept by what the labels say of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, cast

import numpy as np

from ..geometry.gram import is_definite, soften, unit_matrix
from ..geometry.kernels import Kernel, in_double
from ..solvers.propagation.approximation import Approximation
from ..solvers.propagation.on_gram import propagate
from .probabilities import exactly_one

# Candidates. Gamma is relative to gamma="scale"; half decades, because the evidence is flat
# on smaller scales (docs/architecture.md).
GAMMA = 10.0 ** np.arange(-2.5, 2.1, 0.5)
SOFTNESS = 10.0 ** np.arange(-3, 1.1, 0.5)
LABEL_NOISE = np.array([0.0, 0.01, 0.03, 0.1, 0.2])
INTERCEPT = np.array([True, False])
# Where the search begins.
FIRST_GAMMA, FIRST_SOFTNESS = 10**-0.5, 0.1
# Training points that candidates are judged by, at most; fewer for more outputs than MANY,
# so that a candidate takes about half a second at most.
POINTS = 600
MANY = 10
# How long a candidate takes: passes, each the cube of the points, at so many operations a
# second on a slow day.
PASSES = 8
SLOW_FLOPS = 1e10
# Moments need to match only so well, within so many passes, for the evidence to be known.
TOL = 0.02
MAX_ITER = 40
# Further from the fixed point what is called evidence can be any number; nearer, a candidate
# that did not quite get there must not be an obstacle on the way to a better one.
BELIEVED = 0.5


# Where a candidate is on each of the four axes.
Place = tuple[int, int, int, int]


class Settings(NamedTuple):
    """A candidate; "auto" is what is to be chosen."""

    gamma: Any
    fit_intercept: Any
    softness: Any
    label_noise: Any


class Choice(NamedTuple):
    """The best candidate, and all that were looked at with their scores."""

    best: Settings
    score: dict[Settings, float]
    loo_error: float = np.nan  # of classes against the rest, with the best

    def __str__(self) -> str:
        values = [
            f"{name}={value:.3g}" if isinstance(value, float) else f"{name}={value}"
            for name, value in self.best._asdict().items()
        ]
        return f"{', '.join(values)}: the best of {len(self.score)} candidates"

    def columns(self) -> dict[str, np.ndarray]:
        """Return all candidates as a table."""
        names = (*Settings._fields, "score")
        rows = [(*settings, value) for settings, value in self.score.items()]
        return {name: np.array([row[i] for row in rows]) for i, name in enumerate(names)}


def choose(
    X,
    signs: np.ndarray,
    kernel_for: Callable[[float | str, bool], Kernel],
    given: Settings,
    should_stop: Callable[[float], bool],
    neighborhoods: list[np.ndarray] | None = None,
    look_anyway: bool = False,
) -> Choice:
    """Climb to the best score, one step of one parameter at a time.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        Training points; the kernel matrix for a precomputed kernel.
    signs : array of shape (n_outputs, n_samples)
        Labels, +1 and -1.
    kernel_for : callable
        Gives the kernel for a gamma and a fit_intercept.
    given : Settings
        What is fixed, and "auto" for what is to be chosen.
    should_stop : callable
        Called with the seconds that the next candidate may take; a true answer ends with
        the best so far.
    neighborhoods : list of arrays, default=None
        Judge candidates by these points, with a kernel that is zero between different
        neighborhoods; by some points at random if it is None.
    look_anyway : bool, default=False
        Whether to judge what is given, too, if there is nothing to choose.

    Returns
    -------
    Choice
        What was chosen.

    Notes
    -----
    For two classes the score of a candidate is the evidence, log p(y), from expectation
    propagation. For more it is the logarithm of the leave-one-out probability of the
    right classes, which the same run gives: classes against the rest are separate models,
    and the product of their evidences is not that of the labels. Which is the better guide
    was measured (docs/architecture.md).
    """
    if "auto" not in given and not look_anyway:
        return Choice(given, {})
    scale = kernel_for("scale", True).gamma if given.gamma in ("auto", "scale") else 1.0
    if given.gamma == "scale":
        given = given._replace(gamma=scale)
    ranges = (scale * GAMMA, INTERCEPT, SOFTNESS, LABEL_NOISE)
    axes = [
        range_ if value == "auto" else np.array([value], dtype=object)
        for range_, value in zip(ranges, given, strict=True)
    ]
    begin = (scale * FIRST_GAMMA, True, FIRST_SOFTNESS, 0.0)
    first = [
        int(np.argmin(np.abs(np.subtract(axis, value, dtype=float)))) if len(axis) > 1 else 0
        for axis, value in zip(axes, begin, strict=True)
    ]
    search = _Search(X, signs, kernel_for, axes, neighborhoods)
    best = search.climb(cast(Place, tuple(first)), should_stop)
    scores = {search.settings(place): known[0] for place, known in search.known.items()}
    return Choice(search.settings(best), scores, search.loo_error(best))


class _Search:
    """What is known about candidates, by their places on the axes."""

    def __init__(self, X, signs: np.ndarray, kernel_for, axes: list, neighborhoods):
        n_outputs, m = signs.shape
        if neighborhoods is None:
            n = min(m, int(POINTS * min(1, MANY / n_outputs) ** (1 / 3)))
            # The same points whatever the user's seed: the choice depends on the data alone.
            target = np.argmax(signs, axis=0) if n_outputs > 1 else signs[0]
            neighborhoods = [part_of_each_class(target, n)]
        self.rows = np.concatenate(neighborhoods)
        self.where = np.repeat(np.arange(len(neighborhoods)), [len(n) for n in neighborhoods])
        n = len(self.rows)
        self.signs = signs[:, self.rows]
        self.seconds = n_outputs * PASSES * n**3 / SLOW_FLOPS
        self.X = X
        self.kernel_for = kernel_for
        self.axes = axes
        self.matrices: dict[tuple[int, int], np.ndarray] = {}
        self.known: dict[Place, tuple[float, list[Approximation]]] = {}

    def settings(self, place: Place) -> Settings:
        return Settings(*(axis[i] for axis, i in zip(self.axes, place, strict=True)))

    def loo_error(self, place: Place) -> float:
        """Return the share of left-out points that are on the wrong side, over all outputs."""
        found = self.known[place][1] if place in self.known else []
        if not found:
            return np.nan
        sides = np.array([f.cavity_mean for f in found]) * self.signs
        return float(np.mean(sides <= 0))

    def climb(self, best: Place, should_stop: Callable[[float], bool]) -> Place:
        """Return the place from which no step leads up, or the best when it must stop."""
        places = [best]
        while places:
            for place in places:
                if should_stop(self.seconds):
                    return best
                self.evaluate(place, best)
                if self.known[place][0] > self.known[best][0]:
                    best = place
            places = self._neighbors(best)
            if not places and self.known[best][0] == -np.inf:
                # Nothing is possible around here: look further and further away.
                everywhere = [p for place in self.known for p in self._neighbors(place)]
                places = everywhere[:1]
        return best

    def _neighbors(self, place: Place) -> list[Place]:
        places = []
        for i, axis in enumerate(self.axes):
            for number in (place[i] - 1, place[i] + 1):
                moved = cast(Place, (*place[:i], number, *place[i + 1 :]))
                if 0 <= number < len(axis) and moved not in self.known:
                    places.append(moved)
        return places

    def evaluate(self, place: Place, near: Place) -> None:
        """Find the score of a candidate, beginning with the sites of another."""
        settings = self.settings(place)
        self.known[place] = -np.inf, []
        try:
            unit = self._matrix(place[:2], settings)
        except ValueError:  # no kernel with these parameters: the fit would say so
            return
        matrix = soften(unit, settings.softness)
        if not is_definite(matrix):
            return
        starts: list[Any] = [found.sites for found in self.known[near][1]]
        starts = starts or [None] * len(self.signs)
        found = [
            self._propagate(matrix, s, settings.label_noise, sites)
            for s, sites in zip(self.signs, starts, strict=True)
        ]
        reached = all(f.residual <= BELIEVED for f in found)
        self.known[place] = self._score(found, settings.label_noise) if reached else -np.inf, found

    def _propagate(self, matrix, signs, label_noise: float, sites) -> Approximation:
        """Run EP from given sites; if these are too far away, from the beginning."""
        quick = partial(propagate, max_iter=MAX_ITER, tol=TOL, one_by_one=False)
        found = quick(matrix, signs, label_noise, sites=sites)
        if found.residual > TOL and sites is not None:
            anew = quick(matrix, signs, label_noise)
            found = anew if anew.residual < found.residual else found
        return found

    def _score(self, found: list[Approximation], label_noise: float) -> float:
        if len(found) == 1:
            return found[0].log_evidence
        outputs = [f.cavity_mean / np.sqrt(f.cavity_variance) for f in found]
        probability = exactly_one(np.stack(outputs, axis=1), label_noise=label_noise)
        target = np.argmax(self.signs, axis=0)
        return float(np.sum(np.log(probability[np.arange(len(target)), target])))

    def _matrix(self, key: tuple[int, int], settings: Settings) -> np.ndarray:
        """Return the unit Gram matrix of a gamma and an intercept."""
        if key not in self.matrices:
            kernel = self.kernel_for(settings.gamma, settings.fit_intercept)
            if kernel.name == "precomputed":
                matrix = self.X[np.ix_(self.rows, self.rows)] + kernel.constant
            else:
                points = in_double(self.X[self.rows])
                matrix = kernel(points, points)
            unit, lengths = unit_matrix(matrix, self.rows)
            if not lengths.any():
                raise ValueError("all points at the origin")
            unit[self.where[:, None] != self.where] = 0.0
            np.fill_diagonal(unit, 1.0)  # a point at the origin tells nothing of others
            self.matrices[key] = unit
        return self.matrices[key]


def part_of_each_class(target: np.ndarray, n: int, rng=None) -> np.ndarray:
    """Return about n points at random, at least one of each class; all if there are fewer."""
    rng = np.random.default_rng(len(target)) if rng is None else rng
    order = rng.permutation(len(target))
    _, first = np.unique(target[order], return_index=True)
    return np.sort(order[np.union1d(first, np.arange(min(n, len(target))))])
