"""The rates in the introduction of 000: errors of 0.44 / zeta and 0.50 / zeta.

zeta is the number of examples per weight. For large zeta and many dimensions these are the
errors of the center of mass and of the largest margin. Here zeta times the error is measured in
few dimensions and extrapolated linearly in one over the dimension.
"""

from __future__ import annotations

import numpy as np

from .experiment import Measured, Outcome, Plan
from .figure_18_11 import learn
from .perceptron_theory import bayes_error, largest_margin_error
from .picture import canvas, curve

ZETA = 40
DIMENSIONS = (10, 15, 25, 50)
# Rates that the paper quotes, in the order of MACHINES.
PAPER_RATES = (0.44, 0.50)
MACHINES = {"center of mass": bayes_error, "largest margin": largest_margin_error}


def run(plan: Plan) -> Outcome:
    """Measure zeta times the error in several dimensions."""
    zeta, n_teachers = plan.choose(8, ZETA), plan.choose(6, 60)
    dimensions = plan.choose(DIMENSIONS[:2], DIMENSIONS)
    items = [(zeta * D, D, plan.seed + i) for D in dimensions for i in range(n_teachers)]
    shape = (len(dimensions), n_teachers, 2)
    scaled = zeta * np.reshape(plan.repeat(learn, items), shape)
    numbers, limits = {}, {}
    for k, (name, theory) in enumerate(MACHINES.items()):
        limits[name] = extrapolate(np.array(dimensions), scaled[..., k])
        numbers[f"{name}, error times zeta"] = limits[name]
        numbers[f"{name}, theory at this zeta"] = Measured(zeta * theory(zeta))
    lines = [
        {"dimension": item[1], "seed": item[2], "center_of_mass": a, "largest_margin": b}
        for item, (a, b) in zip(items, scaled.reshape(-1, 2), strict=True)
    ]
    note = f"zeta = {zeta}, {n_teachers} teachers in each of {dimensions} dimensions."
    return Outcome(numbers, lines, lambda: _draw(dimensions, scaled, limits, zeta), (note,))


def extrapolate(dimensions: np.ndarray, values: np.ndarray) -> Measured:
    """Return the value of a weighted least squares line at infinite dimension, with its error."""
    means = values.mean(axis=1)
    errors = values.std(axis=1, ddof=1) / np.sqrt(values.shape[1])
    design = np.column_stack([np.ones(len(means)), 1 / dimensions]) / errors[:, None]
    covariance = np.linalg.inv(design.T @ design)
    intercept = (covariance @ design.T @ (means / errors))[0]
    return Measured(float(intercept), float(np.sqrt(covariance[0, 0])), values.size)


def _draw(dimensions, scaled, limits, zeta):
    figure, ax = canvas()
    for k, (name, limit) in enumerate(limits.items()):
        means = scaled[..., k].mean(axis=1)
        bars = scaled[..., k].std(axis=1, ddof=1) / np.sqrt(scaled.shape[1])
        curve(ax, 1 / np.array(dimensions), means, 3 * k, name, error=bars, ls="")
        curve(ax, [0], [limit.mean], 3 * k, "", error=[limit.error], ls="", mfc="white")
        ax.axhline(PAPER_RATES[k], color="0.5", ls=("-", "--")[k], lw=1)
        ax.annotate(
            f"published: {PAPER_RATES[k]:.2f}",
            (1 / dimensions[0], PAPER_RATES[k]),
            ha="right",
            va="bottom",
            color="0.3",
        )
    ax.set(xlabel="one over the dimension (open: extrapolated)", ylabel="zeta times error")
    ax.set_title(f"zeta = {zeta} examples per weight")
    ax.legend(loc="lower left")
    return figure
