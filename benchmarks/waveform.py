"""Why is our largest margin worse on waveform than in table 1 of 000: chance, or the features?

    python benchmarks/waveform.py --data FOLDER

First, the largest margin on 100 splits of the data set with each of five seeds. Then new
waveforms by Breiman's definition, one of the two outer classes against the others, 400 training
points, 4600 test points: unscaled, and standardized like the data set; largest margin, and
000's billiard after 1000 bounces. Four minutes.
"""

# ruff: noqa: T201

import argparse

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import ShuffleSplit

from bayespoint.datasets.paper_data import load_paper_data
from bayespoint.papers.algorithm_2 import PAPER_BOUNCES, play_on_split
from bayespoint.papers.contest import fit_hard_margin
from bayespoint.papers.experiment import average
from bayespoint.papers.table_1 import SETTINGS

SIGMA, N_TRAIN = SETTINGS["waveform"]
GAMMA = 1 / (2 * SIGMA**2)
N_POINTS, N_REPEATS, N_SEEDS = 5000, 100, 5


def margin_error(X, y, train, test) -> float:
    """Return the test error of the largest margin in percent."""
    coef = fit_hard_margin(rbf_kernel(X[train], gamma=GAMMA), y[train])
    outputs = rbf_kernel(X[test], X[train], gamma=GAMMA) @ coef
    return 100 * float(np.mean(np.where(outputs > 0, 1, -1) != y[test]))


def make_waves(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return noisy mixtures of two of three triangles (Breiman and others 1984, sec. 2.6.2)."""
    rng = np.random.default_rng(seed)
    triangles = np.maximum(6 - np.abs(np.arange(1, 22) - np.array([[7], [15], [11]])), 0)
    pairs = np.array([[0, 1], [0, 2], [1, 2]])
    kind, share = rng.integers(3, size=N_POINTS), rng.random((N_POINTS, 1))
    one, other = triangles[pairs[kind]].transpose(1, 0, 2)
    X = share * one + (1 - share) * other + rng.standard_normal((N_POINTS, 21))
    return X, np.where(kind == 1, 1, -1)


def text(errors) -> str:
    """Return mean and standard error."""
    mean, error, _ = average(errors)
    return f"{mean:6.2f} ± {error:.2f} %"


def main() -> None:
    """Print errors of all seeds, and with both kinds of features."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", required=True, help="folder with raetsch/waveform.npz")
    X, y = (load_paper_data("waveform", parser.parse_args().data)[key] for key in "Xy")
    every = []
    for seed in range(N_SEEDS):
        splits = ShuffleSplit(N_REPEATS, train_size=N_TRAIN, random_state=seed).split(X)
        errors = [margin_error(X, y, *split) for split in splits]
        every += errors
        print(f"largest margin, seed {seed}    {text(errors)}", flush=True)
    print(f"largest margin, all       {text(every)}", flush=True)
    parts = np.split(np.arange(N_POINTS), [N_TRAIN])
    found = np.empty((N_REPEATS, 2, 2))
    for seed in range(N_REPEATS):
        X, y = make_waves(seed)
        for k, features in enumerate((X, (X - X.mean(axis=0)) / X.std(axis=0))):
            bounces = (PAPER_BOUNCES,)
            errors = play_on_split(features, y, *parts, GAMMA, bounces, bounces, seed)
            found[seed, :, k] = errors.margin, errors.paper[PAPER_BOUNCES]
    for name, (raw, standardized) in zip(
        ("largest margin", "1000 bounces"), found.transpose(1, 2, 0), strict=True
    ):
        print(
            f"{name:14} new waveforms {text(raw)}, standardized {text(standardized)}, "
            f"difference {text(raw - standardized)}"
        )


if __name__ == "__main__":
    main()
