"""The rates in the introduction of 000: 0.44 / zeta, 0.50 / zeta, and 0.24 / sqrt(zeta).

zeta is the number of examples per weight. For large zeta and many dimensions these are the
errors of the center of mass, of the largest margin, and of Adaline (least squares). Here the
errors, times zeta or its root, are measured in few dimensions and extrapolated linearly in one
over the dimension.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..datasets.known_answers import make_teacher
from .experiment import Lines, Measured, Outcome, Plan
from .figure_18_11 import angle, learn
from .perceptron_theory import adaline_error, bayes_error, largest_margin_error
from .picture import canvas, curve

ZETA = 40
DIMENSIONS = (10, 15, 25, 50)


class Machine(NamedTuple):
    """A machine whose error times zeta to a power has a limit, which the paper quotes."""

    theory: Callable[[float], float]
    power: float
    unit: str
    paper_rate: float


MACHINES = {
    "center of mass": Machine(bayes_error, 1.0, "zeta", 0.44),
    "largest margin": Machine(largest_margin_error, 1.0, "zeta", 0.50),
    "Adaline": Machine(adaline_error, 0.5, "root of zeta", 0.24),
}


def run(plan: Plan) -> Outcome:
    """Measure the errors, times a power of zeta, in several dimensions."""
    zeta, n_teachers = plan.choose(8, ZETA), plan.choose(6, 60)
    dimensions = plan.choose(DIMENSIONS[:2], DIMENSIONS)
    items = [(zeta * D, D, plan.seed + i) for D in dimensions for i in range(n_teachers)]
    shape = (len(dimensions), n_teachers, len(MACHINES))
    factors = np.array([zeta**machine.power for machine in MACHINES.values()])
    scaled = factors * np.reshape(plan.repeat(learn_all, items), shape)
    numbers, limits = {}, {}
    for k, (name, machine) in enumerate(MACHINES.items()):
        limits[name] = extrapolate(np.array(dimensions), scaled[..., k])
        numbers[f"{name}, error times {machine.unit}"] = limits[name]
        numbers[f"{name}, theory at this zeta"] = Measured(factors[k] * machine.theory(zeta))
    keys = [name.replace(" ", "_").lower() for name in MACHINES]
    lines = [
        {"dimension": item[1], "seed": item[2], **dict(zip(keys, row, strict=True))}
        for item, row in zip(items, scaled.reshape(-1, len(MACHINES)), strict=True)
    ]
    note = f"zeta = {zeta}, {n_teachers} teachers in each of {dimensions} dimensions."
    return Outcome(numbers, lines, lambda: _draw(dimensions, scaled, limits), (note,))


def learn_all(n_samples: int, n_features: int, seed: int) -> tuple[float, float, float]:
    """Return the errors of the machines on random points."""
    X, y, teacher = make_teacher(n_samples, n_features, seed)
    adaline = np.linalg.lstsq(X, y)[0]
    return *learn(n_samples, n_features, seed), angle(adaline, teacher) / np.pi


def extrapolate(dimensions: np.ndarray, values: np.ndarray) -> Measured:
    """Return the value of a weighted least squares line at infinite dimension, with its error."""
    means = values.mean(axis=1)
    errors = values.std(axis=1, ddof=1) / np.sqrt(values.shape[1])
    design = np.column_stack([np.ones(len(means)), 1 / dimensions]) / errors[:, None]
    covariance = np.linalg.inv(design.T @ design)
    intercept = (covariance @ design.T @ (means / errors))[0]
    return Measured(float(intercept), float(np.sqrt(covariance[0, 0])), values.size)


def redraw(numbers: dict[str, Measured], runs: Lines):
    """Draw kept results."""
    dimensions = list(dict.fromkeys(int(line["dimension"]) for line in runs))
    errors = [[float(cell) for cell in list(line.values())[2:]] for line in runs]
    scaled = np.reshape(errors, (len(dimensions), -1, len(MACHINES)))
    limits = {
        name: numbers[f"{name}, error times {machine.unit}"] for name, machine in MACHINES.items()
    }
    return _draw(dimensions, scaled, limits)


def _draw(dimensions, scaled, limits):
    figure, ax = canvas()
    for k, (name, limit) in enumerate(limits.items()):
        machine = MACHINES[name]
        means = scaled[..., k].mean(axis=1)
        bars = scaled[..., k].std(axis=1, ddof=1) / np.sqrt(scaled.shape[1])
        look = (0, 3, 2)[k]
        label = f"{name}, times {machine.unit}"
        curve(ax, 1 / np.array(dimensions), means, look, label, error=bars, ls="")
        curve(ax, [0], [limit.mean], look, "", error=[limit.error], ls="", mfc="white")
        ax.axhline(machine.paper_rate, color="0.5", ls=("-", "--", ":")[k], lw=1)
        ax.annotate(
            f"published: {machine.paper_rate:.2f}",
            (1 / dimensions[0], machine.paper_rate),
            ha="right",
            va="bottom",
            color="0.3",
        )
    ax.set(xlabel="one over the dimension (open: extrapolated)", ylabel="scaled error")
    ax.legend(loc="center left", fontsize=10)
    return figure
