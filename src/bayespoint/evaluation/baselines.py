"""What simple and well-known classifiers achieve on the same rows."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

from .intervals import Share
from .measure import evaluate_probabilities
from .model_parts import preparation_steps
from .results import Evaluation

# Baselines learn from at most so many rows, and so many numbers in all columns together.
MAX_BASELINE_ROWS = 20_000
MAX_BASELINE_NUMBERS = 2_000_000
# Numbers times classes that logistic regression learns from in a second, with room for a forest.
BASELINE_NUMBERS_PER_SECOND = 2_500_000
# A sparse matrix of at most so many numbers becomes a dense one of 80 megabytes.
MAX_DENSE_NUMBERS = 10_000_000
# Trees look at each feature: with more, a forest would take longer than the model.
MAX_FOREST_FEATURES = 1000
# Rows that tell how many numbers a row becomes when it is prepared.
MAX_PILOT_ROWS = 100
N_TREES, TREES_PER_STEP = 100, 10


class Baseline(NamedTuple):
    """A classifier to compare with."""

    name: str
    how: str  # which rows it learned from
    error: Share
    log_loss: float


def most_frequent(evaluation: Evaluation) -> Baseline:
    """Return the error of always answering with the most frequent class of the rows.

    Its log loss is the log loss of the class frequencies: no constant answer does better on
    these rows.

    Parameters
    ----------
    evaluation : Evaluation
        Of the model to compare with.

    Returns
    -------
    Baseline
    """
    frequency = np.bincount(evaluation.target) / evaluation.n_rows
    probability = np.broadcast_to(frequency, (evaluation.n_rows, len(frequency)))
    name = f"always “{evaluation.classes[frequency.argmax()]}”"
    how = "the most frequent class of these rows"
    known = np.arange(len(frequency))
    return _baseline(name, how, evaluation.target, probability, known, evaluation)


def trained_baselines(
    model, X, evaluation: Evaluation, train, *, max_seconds: float | None = None
) -> tuple[list[Baseline], str | None]:
    """Return the errors of logistic regression and a random forest on the same rows.

    They learn from the training rows of the model, with the columns as the model prepares
    them: of more than 20,000 rows or two million numbers, from a random sample.

    Parameters
    ----------
    model : classifier
        If it is a `Pipeline`, or contains one, all steps but the last prepare the columns.
    X : DataFrame, array-like or sparse matrix of shape (n_rows, n_features)
        Rows of the evaluation.
    evaluation : Evaluation
        Of the model on these rows.
    train : tuple of X and y
        The rows that the model was trained on.
    max_seconds : float, default=None
        Begin no further baseline after this time, learn from fewer rows if it is short, and let
        no forest grow beyond it.

    Returns
    -------
    baselines : list of Baseline
    reason : str or None
        Why some are missing.
    """
    X_train, y_train = train
    until = time.perf_counter() + (np.inf if max_seconds is None else max_seconds)
    if max_seconds is not None and max_seconds <= 0:
        return [], "No time was left to train other classifiers for comparison."
    with warnings.catch_warnings():
        # The user did not ask for these classifiers and can do nothing about their warnings.
        warnings.simplefilter("ignore")
        try:
            prepare = _preparation(model, X_train)
            rows = _sample(prepare, X_train, y_train, max_seconds)
            X_fit, y_fit = _dense(prepare(take(X_train, rows))), np.asarray(y_train)[rows]
            X = _dense(prepare(X))
        except (TypeError, ValueError) as error:
            return [], f"Other classifiers could not be trained on these rows: {error}"
        how = _how(len(rows), len(y_train))
        truth = evaluation.classes[evaluation.target]
        found: list[Baseline] = []
        for name, learner in LEARNERS.items():
            if time.perf_counter() > until:
                return found, f"No time was left to train a {name} for comparison."
            if name == "random forest" and X_fit.shape[1] > MAX_FOREST_FEATURES:
                return found, f"A random forest of {X_fit.shape[1]:,} features would take long."
            fitted = learner(X_fit, y_fit, until)
            n_trees = getattr(fitted, "n_estimators", N_TREES)
            shown = name if n_trees == N_TREES else f"{name} of {n_trees} trees"
            probability = fitted.predict_proba(X)
            found.append(_baseline(shown, how, truth, probability, fitted.classes_, evaluation))
    return found, None


def _dense(X) -> Any:
    """Return indicators of categories as a dense array, where a forest is five times faster."""
    return X.toarray() if sparse.issparse(X) and math.prod(X.shape) <= MAX_DENSE_NUMBERS else X


# Loading these classifiers takes longer than most verbs of the command.
def _logistic_regression(X, y, until: float) -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(max_iter=1000).fit(X, y)


def _forest(X, y, until: float) -> Any:
    """Grow trees until there are a hundred, or until the time is over."""
    from sklearn.ensemble import RandomForestClassifier

    forest = RandomForestClassifier(0, warm_start=True, random_state=0)
    while forest.n_estimators < N_TREES and (
        forest.n_estimators == 0 or time.perf_counter() < until
    ):
        forest.set_params(n_estimators=forest.n_estimators + TREES_PER_STEP).fit(X, y)
    return forest


LEARNERS: dict[str, Callable[..., Any]] = {
    "logistic regression": _logistic_regression,
    "random forest": _forest,
}


def _how(n_rows: int, n_all: int) -> str:
    if n_rows == n_all:
        return f"learned from the same {n_all:,} training rows"
    return f"learned from {n_rows:,} of the {n_all:,} training rows"


def _sample(prepare, X, y, max_seconds: float | None = None) -> np.ndarray:
    """Return the rows to learn from: all, or a random sample with every class."""
    n_rows = len(y)
    one = prepare(take(X, np.arange(min(n_rows, MAX_PILOT_ROWS))))
    n_numbers = (one.nnz if sparse.issparse(one) else one.size) / one.shape[0]
    most = float(MAX_BASELINE_NUMBERS)
    if max_seconds is not None:
        most = min(most, max_seconds * BASELINE_NUMBERS_PER_SECOND / len(np.unique(y)))
    wanted = int(min(n_rows, MAX_BASELINE_ROWS, most / max(n_numbers, 1)))
    if wanted >= n_rows:
        return np.arange(n_rows)
    first = np.unique(y, return_index=True)[1]
    rest = np.setdiff1d(np.arange(n_rows), first)
    more = np.random.default_rng(0).choice(rest, max(wanted - len(first), 0), replace=False)
    return np.sort(np.append(first, more))


def _baseline(name, how, truth, probability, classes, evaluation) -> Baseline:
    """Evaluate the probabilities of a baseline with the same confidence level."""
    answered = evaluate_probabilities(
        truth, probability, classes, confidence_level=evaluation.confidence_level
    )
    return Baseline(name, how, answered.error, answered.log_loss)


def take(X, rows) -> Any:
    """Return the given rows of a table or matrix."""
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    return X.tocsr()[rows] if sparse.issparse(X) else np.asarray(X)[rows]


def _preparation(model, X) -> Callable[[Any], Any]:
    """Return a function that turns rows into numbers as the model does, or as is usual."""
    steps = [step for step in preparation_steps(model) if not isinstance(step, str)]
    if not steps:
        steps = [MaxAbsScaler()] if sparse.issparse(X) else [SimpleImputer(), StandardScaler()]
        return make_pipeline(*steps).fit(X).transform
    return make_pipeline(*steps).transform  # fitted with the training rows
