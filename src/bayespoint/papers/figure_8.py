"""Figure 8 of 000: error against softness, for Bayes point and soft margin.

The data are a toy (the points of figure 6, linear kernel) and heart (sigma = 3, 60 % of the
points for training). Both machines add softness times the kernel's diagonal to the diagonal;
in a support vector machine this penalizes squared slacks.
"""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel
from sklearn.model_selection import ShuffleSplit

from ..classifiers.bayes_point import BayesPointClassifier
from ..datasets.paper_data import load_paper_data
from ..geometry.conflicts import NoVersionSpaceError
from ..solvers import Billiard
from .contest import fit_hard_margin
from .experiment import Lines, Measured, Outcome, Plan, average
from .figure_6 import make_toy
from .picture import canvas, curve

SOFTNESSES = (0.0, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
GAMMA = 1 / (2 * 3.0**2)
SOLVER = Billiard(n_bounces=200_000, n_chains=4, tol=0.05)


def run(plan: Plan) -> Outcome:
    """Train both machines with each softness on the same splits."""
    softnesses = plan.choose(SOFTNESSES[1::3], SOFTNESSES)
    n = plan.choose(4, 100)
    toys = [(*make_toy(plan.seed * n + i), softnesses, plan.seed + i) for i in range(n)]
    heart = load_paper_data("heart", plan.data)
    splits = ShuffleSplit(plan.choose(2, 100), train_size=0.6, random_state=plan.seed)
    parts = [
        (heart.X, heart.y, *split, softnesses, plan.seed + i)
        for i, split in enumerate(splits.split(heart.X))
    ]
    errors = {
        "toy": np.array(plan.repeat(try_toy, toys, "toys")),
        "heart": np.array(plan.repeat(try_split, parts, "heart")),
    }
    numbers = {}
    for name, runs in errors.items():
        for k, machine in enumerate(("SVM", "BPM")):
            best = int(np.nanmean(runs[..., k], axis=0).argmin())
            numbers[f"{name}, smallest {machine} error %"] = average(_kept(runs[:, best, k]))
            numbers[f"{name}, best softness of the {machine}"] = Measured(softnesses[best])
        gain = _kept(runs[:, 0, 0] - runs[:, 0, 1])
        numbers[f"{name}, SVM above BPM % at softness {softnesses[0]:g}"] = average(gain)
        smallest = [np.nanmean(runs[..., k], axis=0).argmin() for k in (0, 1)]
        gain = _kept(runs[:, smallest[0], 0] - runs[:, smallest[1], 1])
        numbers[f"{name}, SVM above BPM % where each is best"] = average(gain)
    lines = [
        {"problem": name, "run": i, "softness": s, "svm": cell[0], "bpm": cell[1]}
        for name, runs in errors.items()
        for i, row in enumerate(runs)
        for s, cell in zip(softnesses, row, strict=True)
    ]
    return Outcome(numbers, lines, lambda: _draw(errors, softnesses))


def try_toy(X, y, test, rule, softnesses, seed: int) -> list[list[float]]:
    """Return the errors on a toy, one line per softness, SVM first."""
    truth = np.where(test @ rule > 0, 1, -1)
    K, K_test = linear_kernel(X), linear_kernel(test, X)
    return [_errors(K, K_test, y, truth, softness, seed) for softness in softnesses]


def try_split(X, y, train, test, softnesses, seed: int) -> list[list[float]]:
    """Return the errors on a split of heart."""
    K, K_test = rbf_kernel(X[train], gamma=GAMMA), rbf_kernel(X[test], X[train], gamma=GAMMA)
    return [_errors(K, K_test, y[train], y[test], softness, seed) for softness in softnesses]


def _errors(K, K_test, y, truth, softness: float, seed: int) -> list[float]:
    """Return the errors of both machines in percent; NaN without a version space."""
    model = BayesPointClassifier(
        "precomputed",
        fit_intercept=False,
        softness=softness,
        solver=SOLVER,
        random_state=seed,
        n_jobs=1,
    )
    with warnings.catch_warnings():
        # Full convergence is not needed, because the errors are averaged over many splits.
        warnings.simplefilter("ignore", ConvergenceWarning)
        try:
            bpm = model.fit(K, y).predict(K_test)
        except NoVersionSpaceError:
            return [np.nan, np.nan]
        svm = np.where(K_test @ fit_hard_margin(K, y, softness) > 0, 1, -1)
    return [100 * float(np.mean(predicted != truth)) for predicted in (svm, bpm)]


def _kept(values: np.ndarray) -> np.ndarray:
    return values[~np.isnan(values)]


def redraw(numbers: dict[str, Measured], runs: Lines):
    """Draw kept results."""
    softnesses = list(dict.fromkeys(float(line["softness"]) for line in runs))
    errors = {
        name: np.reshape(
            [
                [float(line[machine] or "nan") for machine in ("svm", "bpm")]
                for line in runs
                if line["problem"] == name
            ],
            (-1, len(softnesses), 2),
        )
        for name in dict.fromkeys(line["problem"] for line in runs)
    }
    return _draw(errors, softnesses)


def _draw(errors: dict[str, np.ndarray], softnesses):
    figure, axes = canvas(1, 2)
    for ax, (name, runs) in zip(axes, errors.items(), strict=True):
        for k, machine in enumerate(("SVM", "BPM")):
            means = np.nanmean(runs[..., k], axis=0)
            bars = [average(_kept(column)).error for column in runs[..., k].T]
            curve(ax, softnesses, means, 3 * k, machine, error=bars)
        ax.set_xscale("symlog", linthresh=0.01)
        ax.set_xticks([0, 0.01, 0.1, 1, 10], ["0", "0.01", "0.1", "1", "10"])
        ax.set(title=name, xlabel="softness", xlim=(-0.002, 15))
    axes[0].set_ylabel("test error, percent")
    axes[0].legend()
    return figure
