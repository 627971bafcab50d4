"""The classifiers of `middle.py`: ours, its peers, and the approximations of the front.

Each entry makes an unfitted classifier for a table and a number of threads. Ours and boosting get
the columns as they are. The forest gets numbers for categories. The others get standardized
columns and zeros and ones for categories, or sparse columns divided by their largest value.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from arena_machines import GAMMA, N_FOLDS, N_TREES, C
from middle_data import Table
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.svm import SVC, LinearSVC

from bayespoint import BayesPointClassifier, solvers

MAX_TUNING_ROWS = 2000
# Megabytes: the kernel matrix and its factor of 22,000 rows, 32 bytes for each pair.
EXACT_CACHE_SIZE = 16_000
SVC_CACHE_SIZE = 1000

Maker = Callable[[Table, int], Any]


def encoder(X: Table) -> Any:
    """Return what makes comparable numbers of the columns of a table."""
    if sparse.issparse(X):
        return MaxAbsScaler()
    if not isinstance(X, pd.DataFrame):
        return StandardScaler()
    codes = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    is_category = make_column_selector(dtype_include="category")
    return make_column_transformer((codes, is_category), remainder=StandardScaler())


def tunable_svc(points: Any) -> tuple[Any, dict]:
    """Return a support vector machine and its grid; a linear one for sparse points."""
    if sparse.issparse(points):
        return LinearSVC(), {"C": C}
    scale = 1 / (points.shape[1] * points.var())  # gamma="scale"
    return SVC(cache_size=SVC_CACHE_SIZE), {"C": C, "gamma": scale * GAMMA}


class SampleTunedSVC(ClassifierMixin, BaseEstimator):
    """`SVC` with C and gamma from a grid search on a sample, fitted on all rows."""

    def fit(self, X, y):
        """Choose C and gamma, and fit."""
        self.encoder_ = encoder(X)
        points = self.encoder_.fit_transform(X)
        some = np.random.default_rng(0).permutation(len(y))[:MAX_TUNING_ROWS]
        svc, grid = tunable_svc(points)
        search = GridSearchCV(svc, grid, cv=N_FOLDS, refit=False).fit(points[some], y[some])
        self.svc_ = svc.set_params(**search.best_params_).fit(points, y)
        self.classes_ = self.svc_.classes_
        return self

    def predict(self, X):
        """Return the classes."""
        return self.svc_.predict(self.encoder_.transform(X))


def forest(X: Table, n_jobs: int) -> Any:
    """Return a random forest, which gets the categories of a table as numbers."""
    model = RandomForestClassifier(N_TREES, random_state=0, n_jobs=n_jobs)
    if not isinstance(X, pd.DataFrame):
        return model
    numbers = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    is_category = make_column_selector(dtype_include="category")
    return make_pipeline(
        make_column_transformer((numbers, is_category), remainder="passthrough"), model
    )


def boosting(X: Table, n_jobs: int) -> Any:
    """Return histogram boosting as it comes."""
    return HistGradientBoostingClassifier(categorical_features="from_dtype", random_state=0)


def encoded(model: Any) -> Maker:
    """Return a maker of this classifier on encoded columns."""
    return lambda X, n_jobs: make_pipeline(encoder(X), clone(model))


def ours(**parameters: Any) -> Maker:
    """Return a maker of our classifier on the columns as they are."""
    return lambda X, n_jobs: BayesPointClassifier(random_state=0, n_jobs=n_jobs, **parameters)


def ours_rbf(**parameters: Any) -> Maker:
    """Return a maker of our classifier with one kernel, on encoded columns."""
    make = ours(kernel="rbf", **parameters)
    return lambda X, n_jobs: make_pipeline(encoder(X), make(X, n_jobs))


def mosaic(n_landmarks: int, n_points: int) -> Maker:
    """Return a maker of our classifier with landmarks for all rows and cells of some."""
    # The solver is made when it is needed: a version without it only loses this match.
    return lambda X, n_jobs: ours(
        solver=solvers.Mosaic(n_landmarks=n_landmarks, n_points=n_points)
    )(X, n_jobs)


# Landmarks, or points of a cell, where only the other part matters.
SMALLEST_PART = 10

PEERS: dict[str, Maker] = {
    "forest": forest,
    "boosting": boosting,
    "svc-tuned": lambda X, n_jobs: SampleTunedSVC(),
    "logistic": encoded(LogisticRegression(max_iter=1000)),
}
MACHINES: dict[str, Maker] = {
    "bayespoint": ours(),
    "bayespoint-rbf": ours_rbf(),
    "exact": ours(solver="regression", cache_size=EXACT_CACHE_SIZE),
    **PEERS,
}
FRONT: dict[str, Maker] = {
    **{name: ours_rbf(solver=name) for name in ("perceptron", "nystroem", "cells")},
    **{f"landmarks-{n}": mosaic(n, SMALLEST_PART) for n in (1000, 2000, 4000)},
    **{f"cells-{n}": mosaic(SMALLEST_PART, n) for n in (1000, 2000)},
    **{
        f"mosaic-{n}-{k}": mosaic(n, k)
        for n, k in ((1000, 1000), (2000, 1000), (2000, 2000), (4000, 2000))
    },
    "svc": encoded(SVC(cache_size=SVC_CACHE_SIZE)),
}
EVERY = MACHINES | FRONT
OURS = [name for name in EVERY if name not in (*PEERS, "svc")]


def enters(name: str, X: Table) -> bool:
    """Return whether a machine takes a table of this kind."""
    return name != "boosting" or not sparse.issparse(X)
