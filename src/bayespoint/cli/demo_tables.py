"""Tables of `bayespoint demo`: few rows, many classes, noise, wrong labels, a rare class."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from sklearn.datasets import (
    load_breast_cancer,
    load_diabetes,
    load_digits,
    make_classification,
    make_gaussian_quantiles,
)
from sklearn.model_selection import StratifiedShuffleSplit

MAX_TEST_ROWS = 1000


class DemoTable(NamedTuple):
    """Where a table comes from, its training rows, and the share of their labels to be wrong."""

    load: Callable[[], tuple[np.ndarray, np.ndarray]]
    n_train: int
    wrong_labels: float = 0.0


class Split(NamedTuple):
    """Training and test rows; labels of training rows may be wrong."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray


def breast_cancer() -> tuple[np.ndarray, np.ndarray]:
    """Return 569 tumors: benign or not."""
    return load_breast_cancer(return_X_y=True)


def digits() -> tuple[np.ndarray, np.ndarray]:
    """Return 1,797 images of ten digits."""
    return load_digits(return_X_y=True)


def diabetes() -> tuple[np.ndarray, np.ndarray]:
    """Return 442 patients: whether the disease progressed more than in half of them."""
    X, progress = load_diabetes(return_X_y=True)
    return X, (progress > np.median(progress)).astype(int)


def rare() -> tuple[np.ndarray, np.ndarray]:
    """Return 3,000 generated rows, 7 % of them of the second class."""
    return make_classification(
        3000, 12, n_informative=5, n_redundant=3, weights=[0.94], flip_y=0.02, random_state=0
    )


def shells() -> tuple[np.ndarray, np.ndarray]:
    """Return 2,000 generated rows of three classes: near, between and far from the center."""
    return make_gaussian_quantiles(n_samples=2000, n_features=6, n_classes=3, random_state=0)


TABLES = {
    "breast cancer, 100 rows": DemoTable(breast_cancer, 100),
    "digits, 300 rows": DemoTable(digits, 300),
    "diabetes, 200 rows": DemoTable(diabetes, 200),
    "1 label in 5 wrong": DemoTable(breast_cancer, 200, 0.2),
    "rare class, 7 %": DemoTable(rare, 300),
    "shells, 200 rows": DemoTable(shells, 200),
}


def splits(table: DemoTable, n_splits: int, seed: int) -> Iterator[Split]:
    """Return random splits; the labels of test rows are as they were."""
    X, y = table.load()
    n_test = min(MAX_TEST_ROWS, len(y) - table.n_train)
    splitter = StratifiedShuffleSplit(
        n_splits, train_size=table.n_train, test_size=n_test, random_state=seed
    )
    for i, (train, test) in enumerate(splitter.split(X, y)):
        rng = np.random.default_rng([seed, i])
        labels = y[train].copy()
        wrong = rng.random(len(labels)) < table.wrong_labels
        labels[wrong] = 1 - labels[wrong]
        yield Split(X[train], labels, X[test], y[test])
