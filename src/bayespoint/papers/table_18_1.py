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
    numbers = {}
    for i, j in np.ndindex(total.shape):
        if total[i, j] >= 0:
            share = counted(int(total[i, j]), n)
            numbers[f"errors, entry ({i}, {j})"] = Measured(
                float(total[i, j]), share.error * n / 100, n
            )
    lines = [
        {"negative": i, "positive": j, "negative_errors": negative[i, j], "positive_errors": p}
        for (i, j), p in np.ndenumerate(positive)
    ]
    return Outcome(numbers, lines, lambda: _draw(total))


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


def _draw(total: np.ndarray):
    paper = np.full(total.shape, np.nan)
    for quantity, number in published("table_18_1").items():
        i, j = (int(k) for k in quantity.partition("(")[2].rstrip(")").split(","))
        paper[i, j] = number.value
    figure, axes = canvas(1, 2, sharey=True)
    for ax, table, title in zip(axes, (paper, total), ("paper", "ours"), strict=True):
        ax.imshow(table, cmap="cividis", vmin=5, vmax=22)
        for (i, j), value in np.ndenumerate(table):
            ink = "black" if value > 14 else "white"
            ax.text(j, i, f"{value:.0f}", ha="center", va="center", color=ink)
        ax.set(title=f"{title}: test errors of 104", xlabel="errors on positive training points")
    axes[0].set_ylabel("on negative ones")
    return figure
