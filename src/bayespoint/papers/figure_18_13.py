"""Figure 18.13 of 002: sonar errors against sigma, and where its billiard closes.

The machines are the largest margin with a threshold, the paper's flipper, the exact Bayes point,
and the onion's best layer. The test set chooses the best layer, as in the paper's table. The last
panel counts the bounces of a straight ball in the cone until it escapes: the paper found its
best results just before that number diverges.
"""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from ..geometry.gram import unit_gram
from ..geometry.version_space import VersionSpace
from ..solvers import Billiard
from .experiment import Lines, Measured, Outcome, Plan
from .picture import canvas, curve
from .sonar import load_sonar
from .table_18_1 import onion

SIGMAS = (2.0, 2.5, 3.0, 3.5, 4.0, 4.4, 5.0, 6.0, 8.0, 11.0, 16.0, 24.0, 40.0)
QUICK_SIGMAS = (3.0, 6.0)
CURVES = ("largest margin", "Bayes point", "onion's best layer", "flipper")
# Bounces and seeds of the flipper.
FLIPPER_BOUNCES, N_FLIPPERS = 10_000, 5


def run(plan: Plan) -> Outcome:
    """Train the machines for each sigma."""
    sigmas = plan.choose(QUICK_SIGMAS, SIGMAS)
    data = load_sonar(plan.data)
    results = np.array(plan.repeat(try_sigma, [(data, sigma, plan) for sigma in sigmas], "sigma"))
    n_test = len(data[3])
    numbers = {
        f"{name}, fewest errors of {n_test}": Measured(float(results[:, k].min()))
        for k, name in enumerate(CURVES)
    }
    best = int(results[:, 1].argmin())
    closed = np.flatnonzero(results[:, -1] >= plan.choose(200, 20_000))
    numbers["best sigma of the Bayes point"] = Measured(sigmas[best])
    if closed.size:
        numbers["smallest sigma at which the billiard is closed"] = Measured(sigmas[closed[0]])
    keys = ("margin", "bayes_point", "onion", "flipper", "bounces_until_escape")
    lines = [
        {"sigma": sigma, **dict(zip(keys, row, strict=True))}
        for sigma, row in zip(sigmas, results, strict=True)
    ]
    return Outcome(numbers, lines, lambda: _draw(sigmas, results, n_test))


def try_sigma(data, sigma: float, plan: Plan) -> tuple[float, ...]:
    """Return errors of margin, Bayes point, best layer and flipper, and bounces until escape."""
    X, y, X_test, y_test = data
    gamma = 1 / (2 * sigma**2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        # With this C no slack is worth its cost: a hard margin.
        svc = SVC(C=1e8, gamma=gamma).fit(X, y)
    negative, positive = onion(sigma, plan).fit(X, y).count_errors(X_test, y_test)
    total = negative + positive
    # The threshold is a constant added to the kernel.
    space = VersionSpace(unit_gram(rbf_kernel(X, gamma=gamma) + 1, 0.0), y.astype(float))
    bounces = bounces_until_escape(space, plan.seed, plan.choose(200, 20_000))
    wrong = int(np.sum(svc.predict(X_test) != y_test))
    to_test = rbf_kernel(X_test, X, gamma=gamma) + 1
    flipper = flipper_errors(space, to_test, y_test, plan)
    return wrong, int(total[0, 0]), int(total[total >= 0].min()), flipper, bounces


def flipper_errors(space: VersionSpace, to_test: np.ndarray, y_test, plan: Plan) -> float:
    """Return the mean number of errors of 002's flipper over several seeds."""
    solver = Billiard(
        algorithm="flipper", n_bounces=plan.choose(200, FLIPPER_BOUNCES), tol=0.0, n_draws=2
    )
    errors = []
    for seed in range(plan.seed, plan.seed + plan.choose(1, N_FLIPPERS)):
        rng = np.random.default_rng(seed)
        w = space.combine(solver.solve(space, rng, start=space.enter(rng)).coef)
        outputs = to_test @ (space.gram.dual(w) / space.gram.lengths)
        errors.append(np.sum(np.where(outputs > 0, 1, -1) != y_test))
    return float(np.mean(errors))


def bounces_until_escape(space: VersionSpace, seed: int, most: int, n_balls: int = 8) -> float:
    """Return the total number of bounces of straight balls in the cone, at most `most`."""
    rng = np.random.default_rng(seed)
    start, walls = space.enter(rng), space.walls
    counts = []
    for _ in range(n_balls):
        d, v, last = walls @ start, rng.standard_normal(len(start)), -1
        n, speed = 0, walls @ v
        while n < most // n_balls:
            nearing = speed < 0
            if last >= 0:
                nearing[last] = False
            if not nearing.any():
                break
            times = np.where(nearing, -d / np.where(nearing, speed, -1.0), np.inf)
            last = int(times.argmin())
            d = np.maximum(d + times[last] * speed, 0.0)
            v = v - 2 * (walls[last] @ v) * walls[last]
            speed = walls @ v
            n += 1
        counts.append(n)
    return float(np.sum(counts))


def redraw(numbers: dict[str, Measured], runs: Lines):
    """Draw kept results."""
    sigmas, *results = np.array([[float(cell) for cell in line.values()] for line in runs]).T
    n_test = next(iter(numbers)).rpartition(" ")[2]
    return _draw(sigmas, np.column_stack(results), n_test)


def _draw(sigmas, results, n_test):
    figure, axes = canvas(1, 2)
    for k, name in enumerate(CURVES):
        curve(axes[0], sigmas, results[:, k], (3, 0, 2, 4)[k], name)
    axes[0].set(ylabel=f"test errors of {n_test}", ylim=(0, None))
    axes[0].legend(fontsize=10)
    curve(axes[1], sigmas, results[:, -1], 0, "")
    axes[1].set(ylabel="bounces of 8 balls until escape")
    for ax in axes:
        ax.set(xlabel="sigma", xscale="log")
        ax.set_xticks([2, 3, 4, 6, 8, 16, 40], ["2", "3", "4", "6", "8", "16", "40"])
        ax.minorticks_off()
    return figure
