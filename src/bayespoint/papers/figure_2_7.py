"""Figure 2.7 of 004: the leave-one-out machine on thyroid, by the kernel's width.

Shows the share of support vectors, training and test error, the sum of slacks, and the bound
on the leave-one-out error: the share of points whose margin does not exceed their own
contribution to it. The paper finds all minima "roughly" at log sigma = -1.
"""

from __future__ import annotations

import warnings

import numpy as np

from .experiment import Measured, Outcome, Plan
from .picture import canvas, curve
from .raetsch import Benchmark, load_benchmark, machine

LOG_SIGMAS = tuple(np.arange(-3, 3.01, 0.5))
# The paper does not say which logarithm it takes.
BASES = {"log": 1.0, "log10": 1 / np.log(10)}
N_DRAWN = 200
CURVES = ("support vectors", "training error", "test error", "leave-one-out bound", "slacks")


def run(plan: Plan) -> Outcome:
    """Train with each width on the first splits."""
    logs = plan.choose(LOG_SIGMAS[4:9:2], LOG_SIGMAS)
    data = load_benchmark("thyroid", plan.data, plan.choose(2, 20), plan.seed)
    items = [(data, *split, np.exp(log)) for log in logs for split in data.splits]
    values = np.reshape(plan.repeat(measure, items), (len(logs), len(data.splits), len(CURVES)))
    means = center(values)
    numbers = {}
    for base, factor in BASES.items():
        for k, name in enumerate(CURVES[1:], 1):
            numbers[f"{base} sigma with the smallest {name}"] = smallest(
                factor * np.array(logs), values, k, plan.seed
            )
    numbers["largest distance of bound and test error, %"] = Measured(
        float(np.abs(means[:, 3] - means[:, 2]).max())
    )
    lines = [
        {"log_sigma": log, "split": i, **dict(zip(CURVES, row, strict=True))}
        for log, rows in zip(logs, values, strict=True)
        for i, row in enumerate(rows)
    ]
    note = f"{len(data.splits)} splits; natural logarithms; slacks in percent of the points."
    return Outcome(numbers, lines, lambda: _draw(logs, values), (note,))


def smallest(logs: np.ndarray, values: np.ndarray, k: int, seed: int) -> Measured:
    """Return where a curve is smallest; its error comes from drawing splits with replacement."""
    rng, n = np.random.default_rng(seed), values.shape[1]
    drawn = [center(values[:, rng.integers(n, size=n)])[:, k].argmin() for _ in range(N_DRAWN)]
    return Measured(float(logs[center(values)[:, k].argmin()]), float(logs[drawn].std(ddof=1)))


def measure(data: Benchmark, train, test, sigma: float) -> list[float]:
    """Return support vectors, errors, bound and slacks in percent of the points."""
    X, y = data.X[train], data.y[train]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # at extreme widths the programs are nearly unsolvable
        model = machine(sigma).fit(X, y)
    margins = y * model.decision_function(X)
    alphas = np.zeros(len(y))
    alphas[model.support_] = np.abs(model.dual_coef_[0])
    shares = [
        len(model.support_) / len(y),
        np.mean(margins <= 0),
        np.mean(model.predict(data.X[test]) != data.y[test]),
        np.mean(margins <= alphas),
        np.mean(np.maximum(1 - margins + alphas, 0)),
    ]
    return [100 * float(share) for share in shares]


def center(values: np.ndarray) -> np.ndarray:
    """Return means over the splits, but medians of the slacks.

    With narrow kernels a few fits are imprecise and have huge slacks.
    """
    means = values.mean(axis=1)
    means[:, -1] = np.median(values[..., -1], axis=1)
    return means


def _draw(logs, values):
    figure, axes = canvas(1, 2)
    means = center(values)
    bars = values.std(axis=1, ddof=1) / np.sqrt(values.shape[1])
    curve(axes[0], logs, means[:, 0], 0, CURVES[0], error=bars[:, 0])
    axes[0].set_ylabel("support vectors, percent")
    for k in range(1, len(CURVES)):
        error = None if CURVES[k] == "slacks" else bars[:, k]
        curve(axes[1], logs, means[:, k], k - 1, CURVES[k], error=error)
    axes[1].set(ylabel="percent", ylim=(0, 50))
    axes[1].legend(fontsize=10)
    for ax in axes:
        ax.set_xlabel("log sigma")
    return figure
