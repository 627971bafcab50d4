"""002's flipper, as published, in the experiments of that paper, beside the exact Bayes point.

Sonar with sigma 4.4 and a threshold, which is entry (0, 0) of table 18.1, and Wisconsin breast
cancer with ten points left out at a time. The paper gives no number of bounces; ours is 10,000.
Sonar is played with several seeds, each fold of Wisconsin once.
"""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel

from ..datasets.paper_data import load_paper_data
from ..geometry.gram import unit_gram
from ..geometry.version_space import VersionSpace
from ..solvers import Billiard
from .experiment import Lines, Measured, Outcome, Plan, average, counted, significance
from .figure_18_11 import angle
from .picture import canvas, color
from .published import published
from .sonar import load_sonar
from .table_18_1 import SIGMA
from .wisconsin import GAMMA, extra_errors, folds_of

N_BOUNCES, QUICK_BOUNCES = 10_000, 300
N_SEEDS = 20
EXACT = Billiard(n_bounces=400_000, n_chains=4, tol=0.05)


def run(plan: Plan) -> Outcome:
    """Count the errors of both machines."""
    n_bounces = plan.choose(QUICK_BOUNCES, N_BOUNCES)
    sonar = load_sonar(plan.data)
    seeds = [plan.seed + i for i in range(plan.choose(2, N_SEEDS))]
    gamma = 1 / (2 * SIGMA**2)
    on_sonar = np.array(
        plan.repeat(play_both, [(*sonar, gamma, n_bounces, s) for s in seeds], "sonar")
    )
    X, y = load_paper_data("wisconsin", plan.data).values()
    folds = folds_of(len(y), plan)
    items = []
    for i, fold in enumerate(folds):
        train = np.setdiff1d(np.arange(len(y)), fold)
        items.append((X[train], y[train], X[fold], y[fold], GAMMA, n_bounces, plan.seed + i))
    on_folds = np.array(plan.repeat(play_both, items, "wisconsin"))
    n_sonar, n_folds = len(sonar[3]), sum(map(len, folds))
    numbers = {
        "sonar, errors of the flipper": _of_test_points(on_sonar[:, 0], n_sonar),
        "sonar, errors of the Bayes point": _of_test_points(on_sonar[:, 1], n_sonar),
        "sonar, radians between them": average(on_sonar[:, 2]),
        "wisconsin, errors of the flipper": _sum(on_folds[:, 0], n_folds),
        "wisconsin, errors of the Bayes point": _sum(on_folds[:, 1], n_folds),
        "wisconsin, flipper's errors less": extra_errors(on_folds[:, 0], on_folds[:, 1]),
        "wisconsin, significance of the flipper's gain": Measured(
            significance(on_folds[:, 0], on_folds[:, 1]).mean
        ),
        "wisconsin, radians between them": average(on_folds[:, 2]),
    }
    lines = [
        {"name": name, "run": i, "flipper": a, "bayes_point": b, "radians": radians}
        for name, rows in (("sonar", on_sonar), ("wisconsin", on_folds))
        for i, (a, b, radians) in enumerate(rows)
    ]
    note = f"{n_bounces} bounces of the flipper; {len(seeds)} seeds on sonar, {len(folds)} folds."
    return Outcome(numbers, lines, lambda: _draw(numbers), (note,))


def _of_test_points(errors: np.ndarray, n: int) -> Measured:
    """Return the mean count; its error is that of n test points, which all seeds share."""
    return Measured(float(errors.mean()), counted(float(errors.mean()), n).error * n / 100, n)


def _sum(errors: np.ndarray, n: int) -> Measured:
    """Return the total count of n points, with its binomial error."""
    return Measured(float(errors.sum()), counted(float(errors.sum()), n).error * n / 100, n)


def play_both(
    X, y, X_test, y_test, gamma: float, n_bounces: int, seed: int
) -> tuple[int, int, float]:
    """Return the errors of flipper and Bayes point, and the angle between them."""
    # The threshold is a constant added to the kernel.
    space = VersionSpace(unit_gram(rbf_kernel(X, gamma=gamma) + 1, 0.0), y.astype(float))
    to_test = rbf_kernel(X_test, X, gamma=gamma) + 1
    start = space.enter(np.random.default_rng(seed))
    flipper = Billiard(algorithm="flipper", n_bounces=n_bounces, tol=0.0, n_draws=2)
    with warnings.catch_warnings():
        # The experiment sets the number of bounces, not the precision.
        warnings.simplefilter("ignore", ConvergenceWarning)
        first, second = (
            space.combine(solver.solve(space, np.random.default_rng(seed), start=start).coef)
            for solver in (flipper, EXACT)
        )
    errors = [
        int(
            np.sum(
                np.where(to_test @ (space.gram.dual(w) / space.gram.lengths) > 0, 1, -1) != y_test
            )
        )
        for w in (first, second)
    ]
    return errors[0], errors[1], angle(first, second)


def redraw(numbers: dict[str, Measured], runs: Lines):
    """Draw kept results."""
    return _draw(numbers)


def _draw(numbers):
    figure, ax = canvas(height=3.4)
    theirs = published("flipper")
    rows = [q for q in numbers if "errors of" in q]
    for k, quantity in enumerate(rows):
        ours = numbers[quantity]
        ax.errorbar([ours.mean], [k + 0.1], xerr=[ours.error], fmt="o", color=color(0))
        if quantity in theirs:
            ax.plot([theirs[quantity].value], [k - 0.1], "s", mfc="white", color=color(3))
    ax.plot([], [], "o", color=color(0), label="ours")
    ax.plot([], [], "s", mfc="white", color=color(3), label="paper")
    ax.set_yticks(range(len(rows)), [q.replace(", errors of the", ":") for q in rows])
    ax.set(xlabel="errors", xlim=(0, None), ylim=(-0.6, len(rows) - 0.4))
    ax.invert_yaxis()
    ax.legend()
    return figure
