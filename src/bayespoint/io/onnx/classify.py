"""Convert each kind of classifier: its winning class, and its probabilities or scores."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ...classifiers.adaptive_margin import AdaptiveMarginSVC
from ...classifiers.bayes_point import BayesPointClassifier
from ...classifiers.linear import LinearBayesPointClassifier
from ...classifiers.linear_margin import LinearMarginSVC
from ...classifiers.linear_program import LinearProgramSVC
from ...classifiers.onion import OnionClassifier
from .converters import find_converter
from .graph import Value
from .kernels import kernel_outputs
from .largest import largest
from .linear import linear_margin, two_class_output
from .probabilities import exactly_one, power_probabilities, two_classes


class Prediction(NamedTuple):
    """The answer of a classifier for each row."""

    winner: Value  # index of the class, shape (rows,)
    scores: Value  # probabilities, or the decision function of a classifier without them
    has_probabilities: bool


def classify(model, X: Value) -> Prediction:
    """Return the answer of a fitted classifier for the rows of a matrix."""
    advice = "Pipelines that end with one of them can be exported, too."
    return find_converter(CONVERTERS, model, "Classifiers", advice)(model, X)


def by_costs(prediction: Prediction, costs: np.ndarray) -> Prediction:
    """Return the answer of least expected cost in place of the most probable class."""
    return prediction._replace(winner=(prediction.scores @ -costs).argmax())


def confidence(prediction: Prediction, n_classes: int, *, by_answer: bool = False) -> Value:
    """Return the confidence that `RejectOptionClassifier` compares with its threshold.

    It is the largest probability, or that of the answer if costs have decided it.
    """
    scores = prediction.scores
    if by_answer:
        return scores.op("GatherElements", prediction.winner.expand(1), axis=1).squeeze(1)
    if prediction.has_probabilities:
        return scores.max(1, keepdims=False)
    if n_classes == 2:
        return abs(scores)
    best, _ = scores.op("TopK", np.array([2]), axis=1, n_outputs=2)
    return (best @ np.array([[1.0], [-1.0]])).squeeze(1)


def _bayes_point(model: BayesPointClassifier, X: Value) -> Prediction:
    # Outputs in units of their standard deviation, or predicted codes of labels.
    outputs = kernel_outputs(model, model.dual_coef_.T * float(model.probit_scale_), X)
    if model._link is not None:
        probabilities = power_probabilities(outputs, len(model.classes_), model._link)
    else:
        law = {"df": float(model.probit_df_), "label_noise": float(model.label_noise_)}
        of_outputs = two_classes if len(model.classes_) == 2 else exactly_one
        probabilities = of_outputs(outputs, **law)
    return Prediction(_winner(outputs, len(model.classes_)), probabilities, True)


def _linear_bayes_point(model: LinearBayesPointClassifier, X: Value) -> Prediction:
    if len(model.classes_) == 2:
        probabilities = two_classes(two_class_output(model, X))
    else:
        probabilities = largest(model, X)
    return Prediction(probabilities.argmax(), probabilities, True)


def _onion(model: OnionClassifier, X: Value) -> Prediction:
    return _by_outputs(model, kernel_outputs(model, model._predicting_coef()[:, None], X))


def _linear_program(model: AdaptiveMarginSVC | LinearProgramSVC, X: Value) -> Prediction:
    if len(model.support_):
        outputs = kernel_outputs(model, model.dual_coef_.T, X, unit=False)
    else:
        outputs = X.columns([0]) * np.zeros((1, len(model.intercept_)))
    return _by_outputs(model, outputs + model.intercept_)


def _hyperplane(model: LinearMarginSVC, X: Value) -> Prediction:
    return _by_outputs(model, linear_margin(model, X))


def _by_outputs(model, outputs: Value) -> Prediction:
    """Return the answer of a classifier without probabilities."""
    n_classes = len(model.classes_)
    scores = outputs.squeeze(1) if n_classes == 2 else outputs
    return Prediction(_winner(outputs, n_classes), scores, False)


def _winner(outputs: Value, n_classes: int) -> Value:
    """Return the index of the class with the largest output."""
    if n_classes == 2:
        return (outputs > 0.0).squeeze(1).integer()
    return outputs.argmax()


CONVERTERS: dict[type, Callable[..., Prediction]] = {
    BayesPointClassifier: _bayes_point,
    LinearBayesPointClassifier: _linear_bayes_point,
    OnionClassifier: _onion,
    AdaptiveMarginSVC: _linear_program,
    LinearProgramSVC: _linear_program,
    LinearMarginSVC: _hyperplane,
}
