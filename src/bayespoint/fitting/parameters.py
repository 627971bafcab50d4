"""Choose gamma, softness, label noise and intercept from the labels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, cast

import numpy as np

from .parameter_search import Place, Search
from .task import TrainingSet

# Candidates. Gamma is relative to gamma="scale". Steps are half decades, because the evidence
# is flat on smaller scales (docs/notes/parameters.md).
GAMMA = 10.0 ** np.arange(-2.5, 2.1, 0.5)
SOFTNESS = 10.0 ** np.arange(-3, 1.1, 0.5)
LABEL_NOISE = np.array([0.0, 0.01, 0.03, 0.1, 0.2])
INTERCEPT = np.array([True, False])
# Where the search begins.
FIRST_GAMMA, FIRST_SOFTNESS = 10**-0.5, 0.1


class Settings(NamedTuple):
    """The parameters of a candidate; "auto" marks a parameter to choose."""

    gamma: Any
    fit_intercept: Any
    softness: Any
    label_noise: Any


class Choice(NamedTuple):
    """The best candidate, and the scores of all candidates that were tried."""

    best: Settings
    score: dict[Settings, float]
    loo_error: float = np.nan  # leave-one-out error of one class against the rest, for the best
    class_error: float = np.nan  # leave-one-out error of all classes
    kernel: str = ""  # what was chosen instead of a gamma, in words

    def __str__(self) -> str:
        values = [
            f"{name}={value:.3g}" if isinstance(value, float) else f"{name}={value}"
            for name, value in self.best._asdict().items()
            if not (self.kernel and name == "gamma")
        ]
        chosen = ", ".join([self.kernel, *values] if self.kernel else values)
        return f"{chosen}: the best of {len(self.score)} candidates"

    def columns(self) -> dict[str, np.ndarray]:
        """Return all candidates as a table."""
        names = (*Settings._fields, "score")
        rows = [(*settings, value) for settings, value in self.score.items()]
        return {name: np.array([row[i] for row in rows]) for i, name in enumerate(names)}


def choose(
    data: TrainingSet,
    given: Settings,
    should_stop: Callable[[float], bool],
    neighborhoods: list[np.ndarray] | None = None,
    score_given: bool = False,
    search: type[Search] = Search,
) -> Choice:
    """Climb to the best score, one step of one parameter at a time.

    Parameters
    ----------
    data : TrainingSet
        Points and labels, and the kernel for a gamma and a fit_intercept.
    given : Settings
        Fixed values, and "auto" for the parameters to choose.
    should_stop : callable
        Called with the seconds that the next candidate may take. If true, the best candidate so
        far is returned.
    neighborhoods : list of index arrays, default=None
        Judge candidates on these points, with a kernel that is zero between different
        neighborhoods. The default is a random sample.
    score_given : bool, default=False
        Whether to compute the score even if there is nothing to choose.
    search : type, default=Search
        How candidates are judged.

    Notes
    -----
    For two classes the score is the evidence, log p(y), from expectation propagation. For more
    classes it is the logarithm of the leave-one-out probability of the right classes, from the
    same run: classes against the rest are separate models, and the product of their evidences is
    not the evidence of the labels. docs/notes/parameters.md compares both.
    """
    if "auto" not in given and not score_given:
        return Choice(given, {})
    given, axes, start = _axes(data, given)
    candidates = search(data, axes, neighborhoods)
    best = candidates.climb(start, should_stop)
    scores = {Settings(*candidates.values(p)): c.score for p, c in candidates.known.items()}
    errors = candidates.loo_error(best), candidates.class_error(best)
    return Choice(Settings(*candidates.values(best)), scores, *errors)


def _axes(data: TrainingSet, given: Settings) -> tuple[Settings, list[np.ndarray], Place]:
    """Return the candidates of each parameter, and where the search begins."""
    scale = data.kernel_for("scale", True).gamma if given.gamma in ("auto", "scale") else 1.0
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
    return given, axes, cast(Place, tuple(first))
