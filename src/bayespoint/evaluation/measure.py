"""Measure how good a classifier is on rows that it has not seen."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..classifiers._losses import check_loss
from ..classifiers.reject.answering import may_reject
from ..classifiers.reject.curve import rejection_curve
from ..classifiers.reject.decision import decide, probability_of
from .intervals import exact_interval, share
from .model_parts import has_reject_option
from .promises import makes_any_promise, promise_of
from .results import Acceptance, Evaluation, Reliability
from .seen import SeenRows
from .targets import class_positions

# Keep this many points of the rejection curve: more than a reader can distinguish.
MAX_CURVE_POINTS = 200
# The log loss clips probabilities at this, as scikit-learn does.
MIN_PROBABILITY = float(np.finfo(float).eps)
N_RELIABILITY_BINS = 10


def evaluate(
    model, X, y, *, confidence_level: float = 0.95, seen: SeenRows | None = None
) -> Evaluation:
    """Evaluate a fitted classifier on rows that it has not seen.

    Parameters
    ----------
    model : classifier
        Fitted, with `predict_proba`. Its answer is the most probable class, or with `costs`
        the class of least expected cost, even where a reject option would refuse to answer.
    X : DataFrame, array-like or sparse matrix of shape (n_rows, n_features)
        Rows that were not used to train it.
    y : array-like of shape (n_rows,)
        Their classes. Rows of a class that the model does not know count as errors.
    confidence_level : float, default=0.95
        Confidence level of all intervals.
    seen : SeenRows, default=None
        What is known about rows that trained the model; kept in the result.

    Returns
    -------
    Evaluation

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from bayespoint import LinearBayesPointClassifier
    >>> from bayespoint.evaluation import evaluate
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LinearBayesPointClassifier().fit(X[::2], y[::2])
    >>> evaluate(model, X[1::2], y[1::2]).error.total
    75
    """
    if not hasattr(model, "predict_proba"):
        raise TypeError(
            "an evaluation needs a fitted classifier with probabilities (predict_proba), but "
            f"{type(model).__name__} has none. Use one that has, or wrap it in scikit-learn's "
            "CalibratedClassifierCV."
        )
    evaluation = evaluate_probabilities(
        y,
        model.predict_proba(X),
        model.classes_,
        confidence_level=confidence_level,
        costs=getattr(model, "costs", None),
    )
    evaluation = replace(evaluation, seen=seen)
    if not has_reject_option(model):
        return evaluation
    threshold = model.threshold_
    never_refuses = not may_reject(model) and not makes_any_promise(model)
    curve = _acceptance(evaluation.wrong, evaluation.confidence, confidence_level, threshold)
    promise = None if never_refuses else promise_of(model, evaluation, X)
    return replace(evaluation, rejection=curve, promise=promise)


def evaluate_probabilities(
    y, probability, classes, *, confidence_level: float = 0.95, costs=None
) -> Evaluation:
    """Evaluate predicted probabilities, without a model.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        True classes.
    probability : array-like of shape (n_rows, n_classes)
        Predicted probabilities.
    classes : array-like of shape (n_classes,)
        The class of each column.
    confidence_level : float, default=0.95
        Confidence level of all intervals.
    costs : array-like of shape (n_classes, n_classes), default=None
        The cost of each answer (column) for each true class (row), which decides answers.

    Returns
    -------
    Evaluation

    Examples
    --------
    >>> from bayespoint.evaluation import evaluate_probabilities
    >>> result = evaluate_probabilities(["a", "b"], [[0.9, 0.1], [0.6, 0.4]], ["a", "b"])
    >>> result.error.number, round(result.brier, 3)
    (1, 0.185)
    """
    if not 0 < confidence_level < 1:
        raise ValueError(f"confidence_level should be between 0 and 1, but is {confidence_level}.")
    known = np.asarray(classes)
    target, every = class_positions(y, known)
    probability = _check_probability(probability, (len(target), len(known)))
    costs = None if costs is None else check_loss(costs, len(known), len(known), "costs")
    predicted = decide(probability, costs)
    confidence = probability_of(probability, predicted)
    wrong = target != predicted
    return Evaluation(
        classes=every,
        n_known=len(known),
        target=target,
        predicted=predicted,
        probability=probability,
        confidence=confidence,
        confidence_level=confidence_level,
        error=share(np.count_nonzero(wrong), len(wrong), confidence_level),
        log_loss=_log_loss(target, probability),
        brier=_brier(target, probability),
        confusion=_confusion(target, predicted, len(every)),
        # Of probabilities, not of decisions: costs do not matter here.
        reliability=_reliability(
            target == probability.argmax(axis=1),
            probability.max(axis=1),
            len(known),
            confidence_level,
        ),
        rejection=_acceptance(wrong, confidence, confidence_level),
        costs=costs,
    )


def _check_probability(probability, shape: tuple[int, int]) -> np.ndarray:
    """Return probabilities as an array of finite numbers of this shape."""
    probability = np.asarray(probability, dtype=float)
    if probability.shape != shape:
        raise ValueError(
            f"probability should have the shape (rows, classes) = {shape}, but has "
            f"{probability.shape}."
        )
    if not np.isfinite(probability).all():
        raise ValueError("probability should be finite, but is NaN or infinite for some rows.")
    return probability


def _confusion(target, predicted, n_classes: int) -> np.ndarray:
    pairs = np.bincount(target * n_classes + predicted, minlength=n_classes**2)
    return pairs.reshape(n_classes, n_classes)


def _probability_of_target(target, probability) -> np.ndarray:
    """Return each row's probability of its true class, 0 if the model does not know it."""
    known = target < probability.shape[1]
    found = np.zeros(len(target))
    found[known] = probability[known, target[known]]
    return found


def _log_loss(target, probability) -> float:
    """Return the mean of -log p(true class)."""
    right = _probability_of_target(target, probability)
    return float(-np.log(np.clip(right, MIN_PROBABILITY, 1)).mean())


def _brier(target, probability) -> float:
    """Return the mean squared distance to the true class."""
    right = _probability_of_target(target, probability)
    # sum_k (p_k - [k is true])^2, without a copy of the probabilities
    loss = np.einsum("ik,ik->i", probability, probability) - 2 * right + 1
    return float(loss.mean() / (2 if probability.shape[1] == 2 else 1))


def _reliability(right, confidence, n_classes: int, level: float) -> Reliability:
    """Sort rows into bins of equal width; leave out empty bins."""
    # With two classes the larger probability is never below one half.
    lowest, n_bins = 0.5 if n_classes == 2 else 0.0, N_RELIABILITY_BINS
    place = ((confidence - lowest) / (1 - lowest) * n_bins).astype(int)
    place = np.clip(place, 0, n_bins - 1)
    total = np.bincount(place, minlength=n_bins)
    used = total > 0
    correct = np.bincount(place, weights=right, minlength=n_bins)[used].astype(int)
    mean = np.bincount(place, weights=confidence, minlength=n_bins)[used] / total[used]
    return Reliability(mean, correct, total[used], *exact_interval(correct, total[used], level))


def _acceptance(wrong, confidence, level: float, threshold: float = -np.inf) -> Acceptance:
    """Return the rejection curve, thinned to about equal steps, with the given threshold."""
    curve = rejection_curve(np.zeros(len(wrong)), wrong, confidence)
    accepted = np.rint((1 - curve.reject_rate) * len(wrong)).astype(int)
    # `accepted` falls from all rows; keep the first point at or below each of equal steps.
    steps = np.linspace(accepted[0], accepted[-1], MAX_CURVE_POINTS - 1)
    at_threshold = min(int(np.searchsorted(curve.threshold, threshold)), len(accepted) - 1)
    kept = np.unique(np.append(np.searchsorted(-accepted, -steps), at_threshold))
    accepted = accepted[kept]
    errors = np.rint(curve.error[kept] * accepted).astype(int)
    low, high = exact_interval(errors, accepted, level)
    return Acceptance(curve.threshold[kept], accepted, errors, low, high)
