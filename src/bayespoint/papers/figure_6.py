"""Figure 6 of 000: version spaces of toy problems, with Bayes point and largest ball.

Ten points in a cube, labeled by a random plane. The paper does not publish its two toys, so
we make many: the left panel shows the toy whose two centers are closest, the right panel the
toy whose centers are farthest apart.
"""

from __future__ import annotations

import numpy as np

from ..classifiers.bayes_point import BayesPointClassifier
from ..evaluation.displays.version_space import VersionSpaceDisplay
from ..geometry.largest_ball import largest_ball
from ..solvers import Billiard
from .experiment import Measured, Outcome, Plan, average
from .figure_18_11 import angle
from .picture import canvas

N_POINTS, N_TEST = 10, 10_000
SOLVER = Billiard(n_bounces=100_000, n_chains=4, tol=0.01)
# By how much the Bayes point is better in the paper's elongated toy, in percent.
PAPER_GAIN = 15.1 - 8.0


def run(plan: Plan) -> Outcome:
    """Make toys, and test both centers."""
    n_toys = plan.choose(20, 1000)
    toys = plan.repeat(judge_toy, [(plan.seed * n_toys + i,) for i in range(n_toys)], "toys")
    apart, svm, bpm = np.array(toys).T
    left, right = int(apart.argmin()), int(apart.argmax())
    numbers = {
        "left, SVM error %": Measured(svm[left]),
        "left, BPM error %": Measured(bpm[left]),
        "right, SVM error %": Measured(svm[right]),
        "right, BPM error %": Measured(bpm[right]),
        "all toys, SVM error %": average(svm),
        "all toys, BPM error %": average(bpm),
        "all toys, what the BPM gains, %": average(svm - bpm),
        f"toys with a gain of {PAPER_GAIN:.1f} or more, %": average(
            100 * (svm - bpm >= PAPER_GAIN)
        ),
    }
    lines = [
        {"seed": plan.seed * n_toys + i, "angle": a, "svm": s, "bpm": b}
        for i, (a, s, b) in enumerate(toys)
    ]
    seeds = [plan.seed * n_toys + k for k in (left, right)]
    return Outcome(numbers, lines, lambda: _draw(seeds), (f"{n_toys} toys.",))


def make_toy(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return training points, labels, test points and the rule."""
    rng = np.random.default_rng(seed)
    while True:
        X, test = rng.uniform(-1, 1, (N_POINTS, 3)), rng.uniform(-1, 1, (N_TEST, 3))
        rule = rng.standard_normal(3)
        y = np.where(X @ rule > 0, 1, -1)
        if abs(y.sum()) < N_POINTS:
            return X, y, test, rule


def fit_toy(X, y, seed: int) -> BayesPointClassifier:
    """Return the Bayes point machine of a toy."""
    return BayesPointClassifier(
        "linear", fit_intercept=False, softness=0.0, solver=SOLVER, random_state=seed, n_jobs=1
    ).fit(X, y)


def judge_toy(seed: int) -> tuple[float, float, float]:
    """Return the angle between the centers, and their errors in percent, SVM first."""
    X, y, test, rule = make_toy(seed)
    bayes_point = fit_toy(X, y, seed).decision_function(np.eye(3))
    # In the paper the points have unit length.
    svm = largest_ball(y[:, None] * X / np.linalg.norm(X, axis=1, keepdims=True)).center
    errors = (100 * np.mean((test @ w > 0) != (test @ rule > 0)) for w in (svm, bayes_point))
    return angle(svm, bayes_point), *errors


def _draw(seeds: list[int]):
    figure, axes = canvas(1, 2, height=3.6)
    for ax, seed, title in zip(axes, seeds, ("most regular", "most elongated"), strict=True):
        X, y, *_ = make_toy(seed)
        model = fit_toy(X, y, seed)
        VersionSpaceDisplay.from_estimator(model, X, y, n_bounces=60, random_state=0, ax=ax)
        ax.get_legend().remove()
        ax.set_title(title)
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False)
    return figure
