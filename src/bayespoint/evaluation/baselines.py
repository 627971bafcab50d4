"""What simple and well-known classifiers achieve on the same rows."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

from .intervals import Share
from .measure import evaluate_probabilities
from .model_parts import preparation_steps
from .results import Evaluation

# With more rows, cross-validation takes longer but tells little more.
MAX_CROSS_VALIDATED_ROWS = 5000
N_FOLDS = 5


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


def trained_baselines(model, X, evaluation: Evaluation, train=None) -> list[Baseline]:
    """Return the errors of logistic regression and a random forest on the same rows.

    They get the columns as the model prepares them. Without training rows they are
    cross-validated in five folds on the rows of the evaluation, so they may have learned
    from fewer rows than the model.

    Parameters
    ----------
    model : classifier
        If it is a `Pipeline`, or contains one, all steps but the last prepare the columns.
    X : DataFrame, array-like or sparse matrix of shape (n_rows, n_features)
        Rows of the evaluation. If there are more than 5000 and no training rows, a random
        sample of 5000 is used.
    evaluation : Evaluation
        Of the model on these rows.
    train : tuple of X and y, default=None
        The rows that the model was trained on.

    Returns
    -------
    list of Baseline
        Empty if some class has too few rows for five folds.
    """
    learners = {
        "logistic regression": LogisticRegression(max_iter=1000),
        "random forest": RandomForestClassifier(random_state=0),
    }
    with warnings.catch_warnings():
        # The user did not ask for these classifiers and can do nothing about their warnings.
        warnings.simplefilter("ignore")
        if train is None:
            return _cross_validate(learners, model, X, evaluation)
        return _train(learners, model, X, evaluation, train)


def _train(learners, model, X, evaluation, train) -> list[Baseline]:
    """Train on the rows that the model was trained on."""
    X_train, y_train = train
    truth = evaluation.classes[evaluation.target]
    how = f"learned from the same {len(y_train):,} training rows"
    found = []
    for name, learner in learners.items():
        pipeline = make_pipeline(*_preparation(model, X_train), learner).fit(X_train, y_train)
        probability = pipeline.predict_proba(X)
        found.append(_baseline(name, how, truth, probability, pipeline.classes_, evaluation))
    return found


def _cross_validate(learners, model, X, evaluation) -> list[Baseline]:
    """Train on four fifths of the rows and test on the last fifth, five times."""
    rows = np.arange(evaluation.n_rows)
    if len(rows) > MAX_CROSS_VALIDATED_ROWS:
        rng = np.random.default_rng(0)
        rows = np.sort(rng.choice(rows, MAX_CROSS_VALIDATED_ROWS, replace=False))
    target = evaluation.target[rows]
    classes, counts = np.unique(target, return_counts=True)
    if len(counts) < 2 or counts.min() < N_FOLDS:
        return []
    X = take(X, rows)
    folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=0)
    how = f"cross-validated on {len(rows):,} of these rows, learned from four fifths of them"
    found = []
    for name, learner in learners.items():
        pipeline = make_pipeline(*_preparation(model, X), learner)
        probability = cross_val_predict(pipeline, X, target, cv=folds, method="predict_proba")
        found.append(_baseline(name, how, target, probability, classes, evaluation))
    return found


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


def _preparation(model, X) -> list:
    """Return unfitted steps that turn X into numbers."""
    steps = preparation_steps(model)
    if steps:
        return [step if isinstance(step, str) else clone(step) for step in steps]
    return [MaxAbsScaler()] if sparse.issparse(X) else [SimpleImputer(), StandardScaler()]
