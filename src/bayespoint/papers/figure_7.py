"""Figure 7 of 000: decision functions of both machines, with their margins.

Boundaries are hard, and the kernel is exp(-|x - x'|^2 / 2). The paper does not publish its
points; ours are two classes in the plane with a curved border. The ratio of the margins is
averaged over many such toys.
"""

from __future__ import annotations

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel

from ..classifiers.bayes_point import BayesPointClassifier
from ..solvers import Billiard
from .contest import fit_hard_margin
from .experiment import Measured, Outcome, Plan, average
from .picture import canvas, classes

N_POINTS = 30
GAMMA = 0.5
SOLVER = Billiard(n_bounces=1_000_000, n_chains=4, tol=0.02)


def run(plan: Plan) -> Outcome:
    """Compare the margins of toys."""
    n_toys = plan.choose(4, 50)
    margins = np.array(plan.repeat(margins_of, [(plan.seed + i,) for i in range(n_toys)], "toys"))
    svm, bpm = margins.T
    numbers = {
        "margin of the SVM": Measured(svm[0]),
        "margin of the BPM": Measured(bpm[0]),
        "margin of the BPM in that of the SVM, all toys": average(bpm / svm),
    }
    lines = [{"seed": plan.seed + i, "svm": a, "bpm": b} for i, (a, b) in enumerate(margins)]
    return Outcome(numbers, lines, lambda: _draw(plan.seed), (f"{n_toys} toys.",))


def make_toy(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return points in the plane, and labels that change along a wave."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, (N_POINTS, 2))
    return X, np.where(X[:, 1] > 0.8 * np.sin(2 * X[:, 0]), 1, -1)


def fit(X, y, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the coefficients of both unit hypotheses on all points, SVM first."""
    K = rbf_kernel(X, gamma=GAMMA)
    model = BayesPointClassifier(
        gamma=GAMMA, fit_intercept=False, softness=0.0, solver=SOLVER, random_state=seed, n_jobs=1
    ).fit(X, y)
    bpm = np.zeros(len(X))
    bpm[model.support_] = model.dual_coef_[0]
    return fit_hard_margin(K, y), bpm / np.sqrt(bpm @ K @ bpm)


def margins_of(seed: int) -> list[float]:
    """Return the smallest margins of the machines on a toy."""
    X, y = make_toy(seed)
    K = rbf_kernel(X, gamma=GAMMA)
    return [float(np.min(y * (K @ coef))) for coef in fit(X, y, seed)]


def _draw(seed: int):
    X, y = make_toy(seed)
    figure, axes = canvas(1, 2, sharey=True, height=3.4)
    side = np.linspace(-2.5, 2.5, 120)
    grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    for ax, coef, name in zip(axes, fit(X, y, seed), ("SVM", "BPM"), strict=True):
        outputs = (rbf_kernel(grid, X, gamma=GAMMA) @ coef).reshape(120, 120)
        top = np.abs(outputs).max()
        shades = ax.contourf(side, side, outputs, np.linspace(-top, top, 13), cmap="RdBu_r")
        ax.contour(side, side, outputs, [0], colors="black", linewidths=1.5)
        classes(ax, X, y, ec="black", lw=0.8)
        margin = np.min(y * (rbf_kernel(X, gamma=GAMMA) @ coef))
        ax.set(title=f"{name}, margin {margin:.3g}", aspect="equal", xlabel="first feature")
        figure.colorbar(shades, ax=ax, shrink=0.8, format="%.2f")
    axes[0].set_ylabel("second feature")
    return figure
