"""What a simple or a well-known classifier achieves on the same rows."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

from .evaluation import Evaluation, Share, evaluate_probabilities, has_reject_option

# More rows than this make a cross-validation slower, not clearer.
MOST_ROWS = 5000
N_FOLDS = 5


class Baseline(NamedTuple):
    """A classifier to compare with."""

    name: str
    how: str  # what it learned from
    error: Share
    log_loss: float


def most_frequent(figures: Evaluation) -> Baseline:
    """Return the error of always answering with the most frequent class of the rows.

    Its log loss is that of answering with the frequencies themselves: no constant answer
    does better on these rows.

    Parameters
    ----------
    figures : Evaluation
        Of the model to compare with.

    Returns
    -------
    Baseline
    """
    frequency = np.bincount(figures.target) / figures.n_rows
    constant = evaluate_probabilities(
        figures.target,
        np.broadcast_to(frequency, (figures.n_rows, len(frequency))),
        np.arange(len(frequency)),
        confidence_level=figures.confidence_level,
    )
    answer = str(figures.classes[frequency.argmax()])
    how = "the most frequent class of these rows"
    return Baseline(f"always “{answer}”", how, constant.error, constant.log_loss)


def learned(model, X, figures: Evaluation, train=None) -> list[Baseline]:
    """Return what logistic regression and a random forest achieve on the same rows.

    They get the columns as the model prepares them. Without training rows they learn from
    four fifths of the rows of the evaluation and answer the last fifth, five times; so they
    may well have learned from fewer rows than the model.

    Parameters
    ----------
    model : classifier
        If it is a `Pipeline`, or has one inside, all steps but the last prepare the columns.
    X : DataFrame, array-like or sparse matrix of shape (n_rows, n_features)
        Rows of the evaluation; a random part of 5000, if there are more and no training rows.
    figures : Evaluation
        Of the model on these rows.
    train : tuple of X and y, default=None
        The rows that the model was trained with.

    Returns
    -------
    list of Baseline
        Empty if some class has too few rows for five parts.
    """
    learners = {
        "logistic regression": LogisticRegression(max_iter=1000),
        "random forest": RandomForestClassifier(random_state=0),
    }
    with warnings.catch_warnings():
        # They are not the user's classifiers, who could do nothing about their warnings.
        warnings.simplefilter("ignore")
        compare = _validated if train is None else _trained
        return compare(model, X, figures, learners, train)


def _trained(model, X, figures, learners, train) -> list[Baseline]:
    """Let them learn from what the model has learned from."""
    X_train, y_train = train
    how = f"learned from the same {len(y_train):,} training rows"
    found = []
    for name, learner in learners.items():
        pipeline = make_pipeline(*_preparation(model, X_train), learner).fit(X_train, y_train)
        truth = figures.classes[figures.target]
        found.append(_baseline(name, how, truth, pipeline.predict_proba(X), pipeline, figures))
    return found


def _validated(model, X, figures, learners, train) -> list[Baseline]:
    """Let them learn from parts of the rows that they are tested with."""
    rows = np.arange(figures.n_rows)
    if len(rows) > MOST_ROWS:
        rows = np.sort(np.random.default_rng(0).choice(rows, MOST_ROWS, replace=False))
    target = figures.target[rows]
    counts = np.unique(target, return_counts=True)[1]
    if len(counts) < 2 or counts.min() < N_FOLDS:
        return []
    part = take(X, rows)
    folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=0)
    how = f"cross-validated on {len(rows):,} of these rows, learned from four fifths of them"
    found = []
    for name, learner in learners.items():
        pipeline = make_pipeline(*_preparation(model, part), learner)
        probability = cross_val_predict(pipeline, part, target, cv=folds, method="predict_proba")
        learner.classes_ = np.unique(target)
        found.append(_baseline(name, how, target, probability, learner, figures))
    return found


def _baseline(name, how, truth, probability, learner, figures) -> Baseline:
    answered = evaluate_probabilities(
        truth, probability, learner.classes_, confidence_level=figures.confidence_level
    )
    return Baseline(name, how, answered.error, answered.log_loss)


def take(X, rows) -> Any:
    """Return some rows of a table or matrix."""
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    return X.tocsr()[rows] if sparse.issparse(X) else np.asarray(X)[rows]


def parts(model) -> tuple[list, Any]:
    """Return the steps that prepare the columns, and the classifier itself."""
    # A forest has an estimator_, too, but that is one of its trees.
    if has_reject_option(model) and hasattr(model, "estimator_"):
        return parts(model.estimator_)
    if isinstance(model, FrozenEstimator):
        return parts(model.estimator)
    if hasattr(model, "best_estimator_"):
        return parts(model.best_estimator_)
    if isinstance(model, Pipeline):
        before, last = parts(model.steps[-1][1])
        return [step for _, step in model.steps[:-1]] + before, last
    return [], model


def _preparation(model, X) -> list:
    """Return unfitted steps that make numbers of X."""
    steps, _ = parts(model)
    if steps:
        return [step if isinstance(step, str) else clone(step) for step in steps]
    return [MaxAbsScaler()] if sparse.issparse(X) else [SimpleImputer(), StandardScaler()]
