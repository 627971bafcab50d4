"""The classifiers of `arena.py`: ours and its peers, none with help from a person.

Each entry of `MACHINES` makes an unfitted classifier for a training set. Peers get standardized
features where that is usual; ours, trees and boosting get the columns as they are.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import (
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from bayespoint import BayesPointClassifier

N_FOLDS = 5
N_TREES = 300
# 30 candidates; gamma relative to gamma="scale" of standardized features.
C = [0.1, 1, 10, 100, 1000]
GAMMA = np.array([0.03, 0.1, 0.3, 1, 3, 10])
# The time of a Gaussian process grows with classes x rows^3 x evaluations of its gradient.
MAX_GP_CLASSES = 4
MAX_GP_ROWS = 1000


class CalibratedSVC(ClassifierMixin, BaseEstimator):
    """`SVC` in `CalibratedClassifierCV`, also for classes with fewer rows than folds.

    For those, as many folds as the rarest class has rows, and one `SVC` on all rows instead of
    one per fold. A class with a single row counts twice, because calibration has to leave it out.
    """

    def fit(self, X, y):
        """Fit the classifier and its calibration."""
        classes, rows, counts = np.unique(y, return_index=True, return_counts=True)
        single = rows[counts == 1]
        X, y = np.vstack([X, X[single]]), np.concatenate([y, y[single]])
        n_folds = int(min(N_FOLDS, max(2, counts.min())))
        svc = make_pipeline(StandardScaler(), SVC())
        self.model_ = CalibratedClassifierCV(svc, cv=n_folds, ensemble=n_folds == N_FOLDS)
        self.model_.fit(X, y)
        self.classes_ = classes
        return self

    def predict(self, X):
        """Return the most probable class."""
        return self.model_.predict(X)

    def predict_proba(self, X):
        """Return calibrated probabilities."""
        return self.model_.predict_proba(X)


def scaled(model: Any) -> Any:
    """Return a pipeline that standardizes the features first."""
    return make_pipeline(StandardScaler(), model)


def tuned_svc(X, y) -> GridSearchCV:
    """Return `SVC` with C and gamma from a grid search."""
    grid = {"svc__C": C, "svc__gamma": GAMMA / X.shape[1]}
    return GridSearchCV(scaled(SVC()), grid, cv=N_FOLDS, n_jobs=1)


def catboost(X, y) -> Any:
    """Return CatBoost as it comes, quiet and in one thread."""
    from catboost import CatBoostClassifier

    return CatBoostClassifier(verbose=0, thread_count=1, allow_writing_files=False, random_seed=0)


def lightgbm(X, y) -> Any:
    """Return LightGBM as it comes, quiet and in one thread."""
    from lightgbm import LGBMClassifier

    return LGBMClassifier(verbose=-1, n_jobs=1, random_state=0)


MACHINES: dict[str, Callable[[np.ndarray, np.ndarray], Any]] = {
    "bayespoint": lambda X, y: BayesPointClassifier(random_state=0),
    "bayespoint-rbf": lambda X, y: scaled(BayesPointClassifier(kernel="rbf", random_state=0)),
    "svc": lambda X, y: scaled(SVC()),
    "svc-tuned": tuned_svc,
    "svc-calibrated": lambda X, y: CalibratedSVC(),
    "forest": lambda X, y: RandomForestClassifier(N_TREES, random_state=0),
    "extra-trees": lambda X, y: ExtraTreesClassifier(N_TREES, random_state=0),
    "boosting": lambda X, y: HistGradientBoostingClassifier(random_state=0),
    "catboost": catboost,
    "lightgbm": lightgbm,
    "neighbors": lambda X, y: scaled(KNeighborsClassifier()),
    "logistic": lambda X, y: scaled(LogisticRegression(max_iter=1000)),
    "gp": lambda X, y: scaled(GaussianProcessClassifier(1.0 * RBF(1.0), random_state=0)),
}
OURS = ("bayespoint", "bayespoint-rbf")
# Machines that do not enter every set.
LIMITED = ("gp",)
OPTIONAL = ("catboost", "lightgbm")


def is_installed(name: str) -> bool:
    """Return whether the package of an optional machine is there."""
    return name not in OPTIONAL or find_spec(name) is not None


def enters(name: str, n_rows: int, n_classes: int) -> bool:
    """Return whether a machine takes a training set of this size."""
    return name not in LIMITED or (n_rows <= MAX_GP_ROWS and n_classes <= MAX_GP_CLASSES)
