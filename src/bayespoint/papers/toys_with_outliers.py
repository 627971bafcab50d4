"""Figures 2.2 to 2.6 of 004: decision functions of machines on toys with outliers.

The paper does not publish its points; ours follow its descriptions. Besides the picture we
count the toys in which a machine gives up the outlier, as the paper describes.
"""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.svm import SVC, NuSVC

from ..classifiers.adaptive_margin import AdaptiveMarginSVC
from ..classifiers.linear_program import LinearProgramSVC
from .experiment import Measured, Outcome, Plan, average
from .picture import BLACK, canvas, classes

GAMMA = 1 / (2 * 0.5**2)
# nu must be positive, so 0.01 stands for the paper's zero.
NUS = (0.01, 0.1, 0.2, 0.5)
ADAPTIVITIES = (1, 2, 5, 10)
N_POINTS = 40


def run_2_2(plan: Plan) -> Outcome:
    """Figures 2.2 and 2.3: the leave-one-out machine, and SVC with two values of C."""
    machines = {
        "LOO-SVM": AdaptiveMarginSVC(gamma=GAMMA),
        "SVM, C = 1": SVC(gamma=GAMMA, C=1.0),
        "SVM, C = 100": SVC(gamma=GAMMA, C=100.0),
    }
    toys = {"one outlier": one_outlier, "overlap": overlap}
    return _run(plan, toys, [machines])


def run_2_4(plan: Plan) -> Outcome:
    """Figures 2.4 to 2.6: several adaptivities, and several nu of two other machines."""
    rows = [
        {f"AM-SVM, {a}": AdaptiveMarginSVC(gamma=GAMMA, adaptivity=a) for a in ADAPTIVITIES},
        {f"LP-SVM, ν = {nu:g}": LinearProgramSVC(gamma=GAMMA, nu=nu) for nu in NUS},
        {f"SVM, ν = {nu:g}": NuSVC(gamma=GAMMA, nu=nu) for nu in NUS},
    ]
    return _run(plan, {"one outlier": one_outlier}, rows)


def one_outlier(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return two classes side by side; the first point lies alone in the other class."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(N_POINTS) < N_POINTS // 2, -1, 1)
    X = rng.normal(0, 0.45, (N_POINTS, 2)) + np.column_stack([0.9 * y, 0 * y])
    X[0] = [1.1, 0.9]
    return X, y


def overlap(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return two classes that overlap a little."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(N_POINTS) < N_POINTS // 2, -1, 1)
    return rng.normal(0, 0.6, (N_POINTS, 2)) + np.column_stack([0.8 * y, 0 * y]), y


def _run(plan: Plan, toys, rows) -> Outcome:
    n = plan.choose(3, 50)
    machines = {name: machine for row in rows for name, machine in row.items()}
    numbers: dict[str, Measured] = {}
    lines = []
    for toy, make in toys.items():
        items = [(make, machines, plan.seed + i) for i in range(n)]
        found = np.array(plan.repeat(judge_toy, items, toy))
        for k, name in enumerate(machines):
            if make is one_outlier:
                numbers[f"{toy}, {name}: toys whose outlier is given up, %"] = average(
                    100 * found[:, k, 0]
                )
            numbers[f"{toy}, {name}: training errors %"] = average(100 * found[:, k, 1])
        lines += [
            {"toy": toy, "machine": name, "seed": plan.seed + i, "given_up": a, "errors": b}
            for i, row in enumerate(found)
            for name, (a, b) in zip(machines, row, strict=True)
        ]
    if len(toys) > len(rows):
        rows = rows * len(toys)
    else:
        toys = dict.fromkeys(range(len(rows)), next(iter(toys.values())))
    return Outcome(numbers, lines, lambda: _draw(list(toys.values()), rows, plan.seed))


def judge_toy(make, machines, seed: int) -> list[tuple[float, float]]:
    """Return for each machine whether point 0 is given up, and the training error."""
    X, y = make(seed)
    wrong = [_fit(machine, X, y).predict(X) != y for machine in machines.values()]
    return [(float(w[0]), float(w.mean())) for w in wrong]


def _fit(machine, X, y):
    with warnings.catch_warnings():
        # With small nu the programs are degenerate, and with large adaptivity all outputs are
        # equal. The picture shows both.
        warnings.simplefilter("ignore")
        return machine.fit(X, y)


def _draw(makes, rows, seed: int):
    n_columns = len(rows[0])
    figure, axes = canvas(
        len(rows), n_columns, height=1.9 * len(rows), sharex=True, sharey=True, squeeze=False
    )
    across, up = np.linspace(-2.4, 2.4, 120), np.linspace(-1.8, 1.8, 90)
    grid = np.stack(np.meshgrid(across, up), axis=-1).reshape(-1, 2)
    for make, row, line in zip(makes, rows, axes, strict=True):
        X, y = make(seed)
        for ax, (name, machine) in zip(line, row.items(), strict=True):
            model = _fit(machine, X, y)
            outputs = model.decision_function(grid).reshape(90, 120)
            # Adaptive margins differ: take the smallest among correctly classified points.
            margins = y * model.decision_function(X)
            margin = margins[margins > 0].min() if name.startswith("AM") else 1.0
            ax.contour(
                across,
                up,
                outputs,
                [-margin, 0, margin],
                colors=BLACK,
                linestyles=["--", "-", "--"],
                linewidths=[0.7, 1.5, 0.7],
            )
            classes(ax, X, y, s=16)
            ax.set_title(name, fontsize=11)
            ax.set(xticks=[], yticks=[])
    return figure
