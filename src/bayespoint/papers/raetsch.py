"""The splits of the benchmark of Rätsch and others, and the protocol of 004, sec. 2.6.2."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import ShuffleSplit, StratifiedKFold

from ..classifiers.adaptive_margin import AdaptiveMarginSVC
from ..datasets.paper_data import PAPER_DATA, load_paper_data
from ..datasets.sources import find_folder
from .experiment import Plan

# Number of training points in the published splits.
TRAIN_SIZES = {
    "banana": 400,
    "breast-cancer": 200,
    "diabetes": 468,
    "heart": 170,
    "thyroid": 140,
    "titanic": 150,
    "waveform": 400,
}
# Candidates for the width of the kernel, a factor of sqrt(2) apart.
SIGMAS = tuple(2.0 ** (k / 2) for k in range(-4, 11))
# The width is the median of the best widths on this many training sets; each is chosen by
# cross-validation with this many folds.
N_SELECTION_SETS = 5
N_SELECTION_FOLDS = 5


class Benchmark(NamedTuple):
    """A data set with its splits into training and test points."""

    X: np.ndarray
    y: np.ndarray
    splits: list[tuple[np.ndarray, np.ndarray]]
    n_published: int  # number of published splits, which come first


def load_benchmark(name: str, folder: str | None, n_splits: int, seed: int = 0) -> Benchmark:
    """Load a data set with its published splits, as far as known, then random ones.

    Parameters
    ----------
    name : str
        Name of the data set, such as "banana".
    folder : str or None
        Folder with raetsch/NAME.npz; by default the environment variable BAYESPOINT_DATA.
        The file holds X, y, train_idx and test_idx (one line per published split) and
        gen_train_idx (one line per random split; all other points are test points). Without
        a folder, the data are fetched from OpenML, and all splits are random.
    n_splits : int
        Number of splits; the file may have fewer.
    seed : int, default=0
        Seed of the random splits of data from OpenML.

    Returns
    -------
    Benchmark
        Points, labels -1 and +1, and splits.
    """
    X, y = load_paper_data(name, folder).values()
    path = find_folder(folder)
    if path is None:
        shuffle = ShuffleSplit(n_splits, train_size=TRAIN_SIZES[name], random_state=seed)
        return Benchmark(X, y, list(shuffle.split(X)), 0)
    with np.load(path / PAPER_DATA[name].file) as file:
        published = list(zip(file["train_idx"], file["test_idx"], strict=True))
        everything = np.arange(len(y))
        random = [(train, np.setdiff1d(everything, train)) for train in file["gen_train_idx"]]
    splits = [*published, *random][:n_splits]
    return Benchmark(X, y, splits, min(len(published), len(splits)))


def machine(sigma: float, adaptivity: float = 1.0) -> AdaptiveMarginSVC:
    """Return the paper's machine, with a kernel exp(-|x - x'|^2 / (2 sigma^2))."""
    return AdaptiveMarginSVC(gamma=1 / (2 * sigma**2), adaptivity=adaptivity)


def choose_sigma(data: Benchmark, sigmas: Sequence[float], plan: Plan) -> float:
    """Return the median of the widths that are best on the first training sets."""
    sets = [(data.X[train], data.y[train]) for train, _ in data.splits[:N_SELECTION_SETS]]
    items = [(X, y, sigma) for X, y in sets for sigma in sigmas]
    errors = np.reshape(plan.repeat(cross_validate, items, "widths"), (len(sets), len(sigmas)))
    # Among equally good widths, take the middle one.
    equal = [np.flatnonzero(row == row.min()) for row in errors]
    return float(np.median([sigmas[best[len(best) // 2]] for best in equal]))


def cross_validate(X: np.ndarray, y: np.ndarray, sigma: float) -> int:
    """Return the number of errors on points that were left out."""
    folds = StratifiedKFold(N_SELECTION_FOLDS, shuffle=True, random_state=0).split(X, y)
    return sum(count_errors(machine(sigma), X, y, *fold)[0] for fold in folds)


def count_errors(model: AdaptiveMarginSVC, X, y, train, test) -> tuple[int, bool]:
    """Return the number of test errors, and whether the fit warned that it is imprecise."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X[train], y[train])
    imprecise = any(issubclass(w.category, ConvergenceWarning) for w in caught)
    return int(np.sum(model.predict(X[test]) != y[test])), imprecise
