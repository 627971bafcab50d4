"""Why waveform is harder for us than in table 1 of 000: chance, or the features?

First, the largest margin on 100 splits of the data set with each of five seeds. Then new
waveforms by Breiman's definition, one of the two outer classes against the others, 400 training
points, 4600 test points: unscaled, and standardized like the data set; largest margin, and 000's
billiard after 1000 bounces.
"""

from __future__ import annotations

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import ShuffleSplit

from ..datasets.paper_data import load_paper_data
from .algorithm_2 import PAPER_BOUNCES, play_on_split
from .contest import fit_hard_margin
from .experiment import Measured, Outcome, Plan, average
from .picture import canvas, color
from .table_1 import SETTINGS

SIGMA, N_TRAIN = SETTINGS["waveform"]
GAMMA = 1 / (2 * SIGMA**2)
N_POINTS, QUICK_POINTS = 5000, 300
MACHINES = ("largest margin", f"{PAPER_BOUNCES} bounces")


def run(plan: Plan) -> Outcome:
    """Classify with several seeds, and with both kinds of features."""
    n_repeats, n_seeds = plan.choose(2, 100), plan.choose(2, 5)
    X, y = load_paper_data("waveform", plan.data).values()
    size = plan.choose(100, N_TRAIN)
    items = [
        (X, y, *split)
        for seed in range(plan.seed, plan.seed + n_seeds)
        for split in ShuffleSplit(n_repeats, train_size=size, random_state=seed).split(X)
    ]
    by_seed = np.reshape(plan.repeat(margin_error, items, "seeds"), (n_seeds, n_repeats))
    means = by_seed.mean(axis=1)
    numbers = {
        "largest margin, all seeds": average(by_seed.ravel()),
        "largest margin, best seed": Measured(float(means.min())),
        "largest margin, worst seed": Measured(float(means.max())),
    }
    n_points = plan.choose(QUICK_POINTS, N_POINTS)
    items = [(n_points, size, plan.seed + i) for i in range(n_repeats)]
    new = np.array(plan.repeat(on_new_waves, items, "new waveforms"))
    for machine, (raw, standardized) in zip(MACHINES, new.transpose(1, 2, 0), strict=True):
        numbers[f"{machine}, new waveforms"] = average(raw)
        numbers[f"{machine}, new waveforms, standardized"] = average(standardized)
        numbers[f"{machine}, standardized minus raw"] = average(standardized - raw)
    lines = [
        {"seed": plan.seed + k, "split": i, "margin": e} for (k, i), e in np.ndenumerate(by_seed)
    ]
    return Outcome(numbers, lines, lambda: _draw(by_seed, new))


def margin_error(X, y, train, test) -> float:
    """Return the test error of the largest margin in percent."""
    coef = fit_hard_margin(rbf_kernel(X[train], gamma=GAMMA), y[train])
    outputs = rbf_kernel(X[test], X[train], gamma=GAMMA) @ coef
    return 100 * float(np.mean(np.where(outputs > 0, 1, -1) != y[test]))


def make_waves(n_points: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return noisy mixtures of two of three triangles (Breiman and others 1984, sec. 2.6.2)."""
    rng = np.random.default_rng(seed)
    triangles = np.maximum(6 - np.abs(np.arange(1, 22) - np.array([[7], [15], [11]])), 0)
    pairs = np.array([[0, 1], [0, 2], [1, 2]])
    kind, share = rng.integers(3, size=n_points), rng.random((n_points, 1))
    one, other = triangles[pairs[kind]].transpose(1, 0, 2)
    X = share * one + (1 - share) * other + rng.standard_normal((n_points, 21))
    return X, np.where(kind == 1, 1, -1)


def on_new_waves(n_points: int, n_train: int, seed: int) -> np.ndarray:
    """Return errors in percent: a row for each machine; raw features, then standardized ones."""
    X, y = make_waves(n_points, seed)
    train, test = np.arange(n_train), np.arange(n_train, n_points)
    found = np.empty((2, 2))
    for k, features in enumerate((X, (X - X.mean(axis=0)) / X.std(axis=0))):
        bounces = (PAPER_BOUNCES,)
        errors = play_on_split(features, y, train, test, GAMMA, bounces, (1,), seed)
        assert errors is not None  # the kernel matrix has full rank
        found[:, k] = errors.margin, errors.paper[PAPER_BOUNCES]
    return found


def _draw(by_seed: np.ndarray, new: np.ndarray):
    figure, axes = canvas(1, 2)
    axes[0].boxplot(by_seed.T)
    axes[0].set(xlabel="seed", ylabel="test error, percent", title="data set, largest margin")
    for k, machine in enumerate(MACHINES):
        axes[1].plot(new[:, k, 0], new[:, k, 1], "o", ms=4, color=color(3 * k), label=machine)
    ends = [new.min(), new.max()]
    axes[1].plot(ends, ends, color="0.5", lw=1)
    axes[1].set(xlabel="raw features, error %", ylabel="standardized", title="new waveforms")
    axes[1].legend()
    return figure
