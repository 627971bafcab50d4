"""Hill climbing over a grid of parameters, with short runs of expectation propagation."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple, cast

import numpy as np

from ..geometry.gram import is_definite, noise_share, soften, unit_matrix
from ..solvers.propagation.approximation import Approximation
from ..solvers.propagation.on_gram import propagate
from ..solvers.propagation.sites import copies_of
from .probabilities import exactly_one
from .sampling import sample_each_class
from .task import TrainingSet
from .training_points import kernel_matrix

# Candidates are judged on at most this many training points. With more outputs than
# FULL_SAMPLE_OUTPUTS there are fewer points, so that a candidate takes at most half a second.
MAX_POINTS = 600
FULL_SAMPLE_OUTPUTS = 10
# A candidate takes about this many passes of m^3 operations each, on a slow machine.
TYPICAL_PASSES = 8
SLOW_FLOPS = 1e10
# Short runs of expectation propagation: tolerance of the moments, and number of passes.
SHORT_RUN_TOL = 0.02
SHORT_RUN_MAX_ITER = 40
# With a larger mismatch of moments the evidence is meaningless. A candidate that only just
# missed the tolerance keeps its score, so that it does not block the way to a better one.
MAX_CREDIBLE_RESIDUAL = 0.5

# The position of a candidate on each of the four axes: gamma, intercept, softness, label noise.
Place = tuple[int, int, int, int]


class Candidate(NamedTuple):
    """The score of a candidate, and the run that gave it."""

    score: float
    found: list[Approximation]


IMPOSSIBLE = Candidate(-np.inf, [])


def sample_size(n_outputs: int) -> int:
    """Return the number of points that candidates are judged on."""
    return int(MAX_POINTS * min(1, FULL_SAMPLE_OUTPUTS / n_outputs) ** (1 / 3))


class Search:
    """Candidates that were tried so far, by their places on the axes."""

    judges_each_output = True

    def __init__(self, data: TrainingSet, axes: list[np.ndarray], neighborhoods):
        n_outputs, points = len(data.signs), data.points
        if neighborhoods is None:
            n = sample_size(n_outputs)
            neighborhoods = [points[sample_each_class(data.target[points], n)]]
        self.rows = np.concatenate(neighborhoods)
        sizes = [len(group) for group in neighborhoods]
        self.neighborhood = np.repeat(np.arange(len(neighborhoods)), sizes)
        self.data = data
        self.signs = data.signs[:, self.rows]
        self.weight = None if data.weight is None else data.weight[self.rows]
        self.seconds = n_outputs * TYPICAL_PASSES * len(self.rows) ** 3 / SLOW_FLOPS
        self.axes = axes
        self.matrices: dict[tuple[int, int], np.ndarray] = {}
        self.known: dict[Place, Candidate] = {}
        # Threads share the outputs of a candidate, or if there is only one, candidates.
        share_outputs = self.judges_each_output and n_outputs > 1
        self._output_map = data.thread_map if share_outputs else map
        self._candidate_map = map if share_outputs else data.thread_map

    def values(self, place: Place) -> list[Any]:
        """Return the four parameters of a candidate."""
        return [axis[i] for axis, i in zip(self.axes, place, strict=True)]

    def loo_error(self, place: Place) -> float:
        """Return the share of left-out points that are on the wrong side, over all outputs."""
        found = self.known.get(place, IMPOSSIBLE).found
        if not found:
            return np.nan
        sides = np.array([f.cavity_mean for f in found]) * self.signs
        return float(np.mean(np.average(sides <= 0, axis=1, weights=self.weight)))

    def class_error(self, place: Place) -> float:
        """Return the share of left-out points for which another class has a larger output.

        For two classes this is `loo_error`.
        """
        found = self.known.get(place, IMPOSSIBLE).found
        if len(found) < 2:
            return self.loo_error(place)
        outputs = np.array([f.cavity_mean / np.sqrt(f.cavity_variance) for f in found])
        wrong = outputs.argmax(axis=0) != self.signs.argmax(axis=0)
        return float(np.average(wrong, weights=self.weight))

    def climb(self, best: Place, should_stop: Callable[[float], bool]) -> Place:
        """Return the place from which no step leads up, or the best one when it must stop.

        The neighbors of a place all start from its sites, so that threads can share them.
        """
        places = [best]
        while places:
            begun: list[Place] = []
            for _ in self._candidate_map(
                partial(self.evaluate, near=best), self._begin(places, begun, should_stop)
            ):
                pass
            best = max([best, *begun], key=lambda p: self.known.get(p, IMPOSSIBLE).score)
            if len(begun) < len(places):
                return best
            places = self._neighbors(best)
            if not places and self.known[best].score == -np.inf:
                # No neighbor is possible: look further and further away.
                places = [p for place in self.known for p in self._neighbors(place)][:1]
        return best

    def _begin(
        self, places: list[Place], begun: list[Place], should_stop: Callable[[float], bool]
    ) -> Iterator[Place]:
        """Yield places until time is up, and note them in this order, whatever threads do."""
        for place in places:
            if should_stop(self.seconds):
                return
            begun.append(place)
            self.known[place] = IMPOSSIBLE
            yield place

    def _neighbors(self, place: Place) -> list[Place]:
        """Return the places one step away that were not tried yet."""
        places = []
        for i, axis in enumerate(self.axes):
            for number in (place[i] - 1, place[i] + 1):
                moved = cast(Place, (*place[:i], number, *place[i + 1 :]))
                if 0 <= number < len(axis) and moved not in self.known:
                    places.append(moved)
        return places

    def evaluate(self, place: Place, near: Place) -> None:
        """Find the score of a candidate, starting from the sites of another one."""
        _, _, softness, label_noise = self.values(place)
        try:
            unit = self._matrix(place)
        except ValueError:  # invalid parameters; if they are fixed, the fit raises this error
            return
        matrix = soften(unit, softness, self.weight)
        copies = copies_of(self.weight, noise_share(softness))
        if not is_definite(matrix):
            return
        starts: list[Any] = [found.sites for found in self.known[near].found]
        starts = starts or [None] * len(self.signs)
        found = list(
            self._output_map(
                lambda given: self._propagate(matrix, given[0], label_noise, given[1], copies),
                zip(self.signs, starts, strict=True),
            )
        )
        credible = all(f.residual <= MAX_CREDIBLE_RESIDUAL for f in found)
        score = self._score(found, label_noise) if credible else -np.inf
        self.known[place] = Candidate(score, found)

    def _propagate(self, matrix, signs, label_noise: float, sites, copies) -> Approximation:
        """Run EP from given sites, and from scratch if it does not converge from there."""
        quick = partial(
            propagate,
            copies=copies,
            max_iter=SHORT_RUN_MAX_ITER,
            tol=SHORT_RUN_TOL,
            one_by_one=False,
        )
        found = quick(matrix, signs, label_noise, sites=sites)
        if found.residual > SHORT_RUN_TOL and sites is not None:
            fresh = quick(matrix, signs, label_noise)
            found = fresh if fresh.residual < found.residual else found
        return found

    def _score(self, found: list[Approximation], label_noise: float) -> float:
        if len(found) == 1:
            return found[0].log_evidence
        outputs = [f.cavity_mean / np.sqrt(f.cavity_variance) for f in found]
        probability = exactly_one(np.stack(outputs, axis=1), label_noise=label_noise)
        target = np.argmax(self.signs, axis=0)
        right = np.log(probability[np.arange(len(target)), target])
        return float(np.sum(right if self.weight is None else self.weight * right))

    def _matrix(self, place: Place) -> np.ndarray:
        """Return the unit Gram matrix for the gamma and the intercept of a candidate."""
        key = place[:2]
        if key not in self.matrices:
            gamma, fit_intercept, *_ = self.values(place)
            kernel = self.data.kernel_for(gamma, fit_intercept)
            matrix = kernel_matrix(kernel, self.data.X, self.rows)
            unit, lengths = unit_matrix(matrix, self.rows)
            if not lengths.any():
                raise ValueError("all points at the origin")
            unit[self.neighborhood[:, None] != self.neighborhood] = 0.0
            np.fill_diagonal(unit, 1.0)  # also for a point at the origin, which is then pure noise
            self.matrices[key] = unit
        return self.matrices[key]
