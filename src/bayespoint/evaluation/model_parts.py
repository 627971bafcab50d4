"""The parts of a fitted model: a reject option, preparation steps, a classifier."""

from __future__ import annotations

from typing import Any

from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline


def has_reject_option(model) -> bool:
    """Tell whether a fitted model may refuse to answer.

    Examples
    --------
    >>> from bayespoint import LinearBayesPointClassifier
    >>> from bayespoint.evaluation import has_reject_option
    >>> has_reject_option(LinearBayesPointClassifier().fit([[0.0], [1.0]], [0, 1]))
    False
    """
    return hasattr(model, "accept") and hasattr(model, "threshold_")


def preparation_steps(model) -> list:
    """Return the steps that prepare the columns before the classifier."""
    return _split(model)[0]


def final_classifier(model) -> Any:
    """Return the classifier inside reject options, searches and pipelines."""
    return _split(model)[1]


def _split(model) -> tuple[list, Any]:
    # A forest also has an estimator_, but that is one of its trees.
    if has_reject_option(model) and hasattr(model, "estimator_"):
        return _split(model.estimator_)
    if isinstance(model, FrozenEstimator):
        return _split(model.estimator)
    if hasattr(model, "best_estimator_"):
        return _split(model.best_estimator_)
    if isinstance(model, Pipeline):
        before, last = _split(model.steps[-1][1])
        return [step for _, step in model.steps[:-1]] + before, last
    return [], model
