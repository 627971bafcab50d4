"""Table 18.1 of 002: test errors of the onion's layers on the sonar data.

Entry (i, j) is the mean of the hypotheses with i errors on negative and j errors on positive
training points. The kernel is exp(-|x - x'|^2 / (2 4.4^2)) with a threshold; there are 104 test
points.
"""

from __future__ import annotations

import numpy as np

from ..classifiers.onion import OnionClassifier
from .experiment import Measured, Outcome, Plan, counted
from .picture import canvas
from .published import published
from .sonar import load_sonar

SIGMA = 4.4
MAX_ERRORS = 5


def run(plan: Plan) -> Outcome:
    """Peel the onion once, and test every layer."""
    X, y, X_test, y_test = load_sonar(plan.data)
    plan.progress(0, 1, "onion")
    model = onion(SIGMA, plan).fit(X, y)
    negative, positive = model.count_errors(X_test, y_test)
    total, n = negative + positive, len(y_test)
    numbers: dict[str, Measured] = {}
    for label, table in (
        ("errors", total),
        ("errors on negative points", negative),
        ("errors on positive points", positive),
    ):
        points = n if table is total else int(np.sum(y_test == (1 if table is positive else -1)))
        for i, j in np.ndindex(total.shape):
            if total[i, j] >= 0:
                numbers[f"{label}, entry ({i}, {j})"] = _count(int(table[i, j]), points)
    # All entries are judged on the same points: their mean is as uncertain as one of them.
    numbers["errors, mean of all entries"] = _count(float(total[total >= 0].mean()), n)
    for name, table in others(plan).items():
        numbers[f"{name}, fewest errors"] = Measured(float(table.min()))
        numbers[f"{name}, most errors"] = Measured(float(table.max()))
    lines = [
        {"negative": i, "positive": j, "negative_errors": negative[i, j], "positive_errors": p}
        for (i, j), p in np.ndenumerate(positive)
    ]
    return Outcome(numbers, lines, lambda: _draw(negative, positive))


def _count(errors: float, n: int) -> Measured:
    """Return a number of errors of n, with its binomial standard error."""
    return Measured(float(errors), counted(errors, n).error * n / 100, n)


def others(plan: Plan) -> dict[str, np.ndarray]:
    """Return the errors of all layers with other features, which the paper may have had."""
    tables = {}
    for name, features, intercept in (
        ("raw features", "raw", True),
        ("features from -1 to 1", "range", True),
        ("no threshold", "standardized", False),
    ):
        plan.progress(0, 1, name)
        X, y, X_test, y_test = load_sonar(plan.data, features)
        model = onion(SIGMA, plan).set_params(fit_intercept=intercept).fit(X, y)
        total = np.sum(model.count_errors(X_test, y_test), axis=0)
        tables[name] = total[total >= 0]
    return tables


def onion(sigma: float, plan: Plan) -> OnionClassifier:
    """Return 002's machine."""
    return OnionClassifier(
        gamma=1 / (2 * sigma**2),
        softness=0.0,
        fit_intercept=True,
        max_errors=MAX_ERRORS,
        n_bounces=plan.choose(5000, 1_000_000),
        random_state=plan.seed,
    )


def paper_table(points: str) -> np.ndarray:
    """Return the published errors on "negative" or "positive" points."""
    table = np.zeros((MAX_ERRORS + 1, MAX_ERRORS + 1), dtype=int)
    for (i, j), _ in np.ndenumerate(table):
        table[i, j] = published("table_18_1")[f"errors on {points} points, entry ({i}, {j})"].value
    return table


def _draw(negative: np.ndarray, positive: np.ndarray):
    figure, axes = canvas(1, 2, sharey=True)
    pairs = (paper_table("negative"), paper_table("positive")), (negative, positive)
    for ax, (minus, plus), title in zip(axes, pairs, ("paper", "ours"), strict=True):
        ax.imshow(minus + plus, cmap="cividis", vmin=5, vmax=22)
        for (i, j), value in np.ndenumerate(minus + plus):
            ink, text = "black" if value > 14 else "white", f"{value}\n{minus[i, j]}, {plus[i, j]}"
            ax.text(j, i, text, ha="center", va="center", color=ink, fontsize=10)
        ax.set(title=f"{title}: test errors of 104", xlabel="errors on positive training points")
    axes[0].set_ylabel("on negative ones")
    return figure
