"""Figure 9 of 000 and figure 2 of 001: error against rejection on handwritten digits.

Ten perceptrons per class learn permuted training sets, with the kernel (<x, x'> + 1)^5. A point
is rejected if its largest output is small. The machine as printed has whole gray values from 0 to
255 (000, sec. 4.3) and points with the lengths of that kernel; ours has gray values from 0 to 1,
points of unit length, and a few points that are learned last.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..classifiers.bayes_point import BayesPointClassifier
from ..classifiers.reject.curve import rejection_curve
from ..datasets import digits
from ..solvers import Perceptron
from .experiment import Lines, Measured, Outcome, Plan, counted, single_runs
from .picture import canvas, color
from .published import published

RATES = np.arange(11) / 100
PAPER_KERNEL = {"kernel": "poly", "degree": 5, "gamma": 1.0, "coef0": 1.0}
# Number of seeds for the permutations; the papers used one.
N_SEEDS = {"usps": 100, "mnist": 6}
AS_PRINTED, ANOTHER_CODING = "as printed", "as printed, from -1 to 1"
AS_GOOD = "runs as good as the published one, %"


class Variant(NamedTuple):
    """A machine: the coding of gray values, which are given from 0 to 1, and its solver."""

    gray: Callable[[np.ndarray], np.ndarray]
    solver: Perceptron


def whole(X: np.ndarray) -> np.ndarray:
    """Return gray values "from the set {0, ..., 255}" (000, sec. 4.3)."""
    # USPS was published with finer values, which are rounded.
    return np.rint(255 * X)


PRINTED_SOLVER = Perceptron(unit_length=False, held_out=0)
VARIANTS = {
    "ours": Variant(lambda X: X, Perceptron()),
    AS_PRINTED: Variant(whole, PRINTED_SOLVER),
    # The digits of USPS were published so.
    ANOTHER_CODING: Variant(lambda X: 2 * X - 1, PRINTED_SOLVER),
}
# Variants for each data set.
TRIED = {"usps": tuple(VARIANTS), "mnist": ("ours", AS_PRINTED)}


def run(plan: Plan) -> Outcome:
    """Classify both test sets with several permutations, and reject."""
    numbers, curves, lines = {}, {}, []
    for name, n_seeds in plan.choose({"usps": 2}, N_SEEDS).items():
        data = digits.load_handwritten(name, plan.data)
        seeds = [plan.seed + i for i in range(n_seeds)]
        for variant in TRIED[name]:
            # One fit at a time, because a fit uses all memory that it may use and its own threads.
            errors = []
            for i, seed in enumerate(seeds):
                plan.progress(i, n_seeds, f"{name}, {variant}")
                errors.append(errors_of(data, seed, plan.jobs, variant))
            curves[name, variant] = np.array(errors)
            label = f"{name}," if variant == "ours" else f"{name}, {variant}:"
            for k in range(len(RATES)) if name == "mnist" else (0, 5, 10):
                numbers[f"{label} error % at {k} % rejection"] = single_runs(
                    curves[name, variant][:, k]
                )
            numbers[f"{label} {AS_GOOD}"] = as_good(name, curves[name, variant][:, 0])
            lines += [
                {"name": name, "machine": variant, "seed": seed, "rejected": rate, "error": error}
                for seed, row in zip(seeds, errors, strict=True)
                for rate, error in zip(RATES, row, strict=True)
            ]
    return Outcome(numbers, lines, lambda: _draw(curves))


def as_good(name: str, errors: np.ndarray) -> Measured:
    """Return the share of runs, in percent, with at most the published error before rejection."""
    theirs = published("figure_9")[f"{name}, error % at 0 % rejection"]
    # A number that rounds to the printed one is at most half a digit above it.
    limit = theirs.value + np.sqrt(3) * theirs.rounding
    return counted(int(np.sum(errors <= limit)), len(errors))


def machine(seed: int, jobs: int, variant: str = "ours") -> BayesPointClassifier:
    """Return a machine without bias, with a hard boundary and ten perceptrons per class."""
    return BayesPointClassifier(
        **PAPER_KERNEL,
        fit_intercept=False,
        softness=0.0,
        solver=VARIANTS[variant].solver,
        cache_size=3000,
        n_jobs=jobs,
        random_state=seed,
    )


def errors_of(data, seed: int, jobs: int, variant: str = "ours") -> np.ndarray:
    """Return the error in percent at each rejection rate."""
    gray = VARIANTS[variant].gray
    model = machine(seed, jobs, variant).fit(gray(data.X_train), data.y_train)
    outputs = model.decision_function(gray(data.X_test))
    found = model.classes_[outputs.argmax(axis=1)]
    curve = rejection_curve(data.y_test, found, outputs.max(axis=1))
    return 100 * curve.error[np.searchsorted(curve.reject_rate, RATES)]


def redraw(numbers: dict[str, Measured], runs: Lines):
    """Draw kept results."""
    keys = dict.fromkeys((line["name"], line["machine"]) for line in runs)
    curves = {
        key: np.reshape(
            [float(line["error"]) for line in runs if (line["name"], line["machine"]) == key],
            (-1, len(RATES)),
        )
        for key in keys
    }
    return _draw(curves)


def _draw(curves: dict[tuple[str, str], np.ndarray]):
    names = list(dict.fromkeys(name for name, _ in curves))
    figure, axes = canvas(1, len(names), squeeze=False)
    theirs = published("figure_9")
    for ax, name in zip(axes[0], names, strict=True):
        for variant, number, marker in zip(TRIED[name], (0, 2, 4), "o^v", strict=False):
            errors, look = curves[name, variant], {"color": color(number)}
            ax.plot(100 * RATES, errors.T, lw=1, alpha=min(0.4, 5 / len(errors)), **look)
            ax.plot(100 * RATES, errors.mean(axis=0), marker=marker, ms=6, label=variant, **look)
        known = [(k, theirs.get(f"{name}, error % at {k} % rejection")) for k in range(11)]
        points = [(k, number.value) for k, number in known if number]
        ax.plot(*np.transpose(points), "s", mfc="none", color=color(3), label="paper")
        ax.set(title=name.upper(), xlabel="rejected, percent", ylim=(0, None))
    axes[0, 0].set_ylabel("test error, percent")
    axes[0, 0].legend()
    return figure
