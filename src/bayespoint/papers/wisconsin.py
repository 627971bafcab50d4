"""002, sec. 18.6: Wisconsin breast cancer, ten points left out at a time.

Largest margin and Bayes point with raw features, sigma 1.75 and a threshold. The paper
reports 673 complete rows, but there are 683. Both machines see the same folds, so they are compared
fold by fold.
"""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from ..classifiers.bayes_point import BayesPointClassifier
from ..datasets.paper_data import load_paper_data
from ..solvers import Billiard
from .experiment import Lines, Measured, Outcome, Plan, average, counted, significance
from .picture import canvas, color
from .published import published

GAMMA = 1 / (2 * 1.75**2)
N_LEFT_OUT = 10
SOLVER = Billiard(n_bounces=400_000, n_chains=4, tol=0.05)
MACHINES = ("maximal margin SVM", "billiard")


def run(plan: Plan) -> Outcome:
    """Leave out ten points at a time, and count errors."""
    X, y = load_paper_data("wisconsin", plan.data).values()
    folds = folds_of(len(y), plan)
    items = [(X, y, fold, plan.seed + i) for i, fold in enumerate(folds)]
    wrong = np.array(plan.repeat(judge_fold, items, "folds"))
    n = N_LEFT_OUT * len(folds)
    numbers = {}
    for name, errors in zip(MACHINES, wrong.sum(axis=0), strict=True):
        numbers[f"errors, {name}"] = Measured(float(errors), counted(errors, n).error * n / 100, n)
    numbers["billiard, errors more than the margin machine"] = extra_errors(*wrong.T)
    numbers["p that the billiard is not worse, paired"] = Measured(
        1 - significance(wrong[:, 0], wrong[:, 1]).mean
    )
    lines = [{"fold": i, "svm": a, "billiard": b} for i, (a, b) in enumerate(wrong)]
    return Outcome(numbers, lines, lambda: _draw(numbers), (f"{n} tests.",))


def folds_of(n: int, plan: Plan) -> list[np.ndarray]:
    """Return folds of ten random points; a rest of fewer points is never left out."""
    order = np.random.default_rng(plan.seed).permutation(n)
    folds = [order[i : i + N_LEFT_OUT] for i in range(0, n - N_LEFT_OUT + 1, N_LEFT_OUT)]
    return folds[: plan.choose(3, len(folds))]


def extra_errors(first: np.ndarray, second: np.ndarray) -> Measured:
    """Return how many more errors the second machine makes; the error is that of paired folds."""
    n = len(first)
    mean, error, _ = average(second - first)
    return Measured(n * mean, n * error, n)


def judge_fold(X, y, fold, seed: int) -> tuple[int, int]:
    """Return the errors of both machines on points that were left out."""
    train = np.setdiff1d(np.arange(len(y)), fold)
    bpm = BayesPointClassifier(
        gamma=GAMMA,
        fit_intercept=True,
        softness=0.0,
        solver=SOLVER,
        random_state=seed,
        n_jobs=1,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        models = [model.fit(X[train], y[train]) for model in (SVC(C=1e8, gamma=GAMMA), bpm)]
    first, second = (int(np.sum(model.predict(X[fold]) != y[fold])) for model in models)
    return first, second


def redraw(numbers: dict[str, Measured], runs: Lines):
    """Draw kept results."""
    return _draw(numbers)


def _draw(numbers):
    figure, ax = canvas(height=2.8)
    theirs = published("wisconsin")
    for k, quantity in enumerate(f"errors, {name}" for name in MACHINES):
        ours = numbers[quantity]
        ax.errorbar([ours.mean], [k + 0.1], xerr=[ours.error], fmt="o", color=color(0))
        ax.plot([theirs[quantity].value], [k - 0.1], "s", mfc="white", color=color(3))
    ax.plot([], [], "o", color=color(0), label="ours")
    ax.plot([], [], "s", mfc="white", color=color(3), label="paper")
    ax.set_yticks([0, 1], MACHINES)
    ax.set(xlabel="errors", xlim=(0, None), ylim=(-0.6, 1.6))
    ax.legend()
    return figure
