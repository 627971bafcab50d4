"""How good a classifier is on rows that it has not seen: all figures of a report."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy import special

from ..classifiers.reject.curve import rejection_curve

# Points of the rejection curve that are kept: more than a reader can tell apart.
MOST_POINTS = 200
# Probabilities count as at least this in the log loss, as in scikit-learn.
_LEAST = float(np.finfo(float).eps)
_N_BINS = 10


class Share(NamedTuple):
    """A part of some rows, and the interval in which the true share is."""

    number: int
    total: int
    low: float
    high: float

    @property
    def value(self) -> float:
        """Return the share, NaN of no rows."""
        return self.number / self.total if self.total else float("nan")


class Reliability(NamedTuple):
    """Rows with about the same confidence: how often are they right? An entry a bin."""

    confidence: np.ndarray  # its mean
    right: np.ndarray  # how many are
    total: np.ndarray
    low: np.ndarray  # exact interval of the share that is right
    high: np.ndarray


class Acceptance(NamedTuple):
    """What is left if answers of less confidence are refused. An entry a threshold."""

    threshold: np.ndarray
    accepted: np.ndarray  # rows
    errors: np.ndarray
    low: np.ndarray  # exact interval of the error among the accepted
    high: np.ndarray


class Promise(NamedTuple):
    """The threshold that a model has, and what it is good for."""

    threshold: float
    error: Share  # of the accepted rows of this evaluation
    reject_rate: float | None  # what was asked for
    max_error: float | None
    confidence_level: float | None
    n_calibration: int | None
    strict: bool  # not if rows were judged by other classifiers, in a cross-validation


@dataclass(frozen=True)
class Evaluation:
    """The figures of a classifier on rows that it has not seen.

    Attributes
    ----------
    classes : ndarray
        Those of the model, then those that only occur in the rows.
    n_known : int
        How many of them the model knows.
    target, predicted : ndarray of shape (n_rows,)
        True class and answer of each row, as positions in `classes`.
    confidence : ndarray of shape (n_rows,)
        The largest probability of each row.
    confidence_level : float
        That of all intervals.
    error : Share
        Rows whose most probable class is wrong.
    log_loss, brier : float
        Means over the rows; Brier's of two classes is half of the sum over both, as in
        scikit-learn.
    confusion : ndarray of shape (n_classes, n_classes)
        Rows of true class i that were answered with j.
    reliability : Reliability
    rejection : Acceptance
        At most `MOST_POINTS` thresholds, beginning with nothing rejected, with that of the
        model among them.
    promise : Promise or None
        Of a model with a reject option that refuses rows or makes a promise.
    """

    classes: np.ndarray
    n_known: int
    target: np.ndarray
    predicted: np.ndarray
    confidence: np.ndarray
    confidence_level: float
    error: Share
    log_loss: float
    brier: float
    confusion: np.ndarray
    reliability: Reliability
    rejection: Acceptance
    promise: Promise | None = None

    @property
    def n_rows(self) -> int:
        """Return the number of rows."""
        return len(self.target)

    @property
    def wrong(self) -> np.ndarray:
        """Return which rows are answered wrongly."""
        return self.target != self.predicted

    def at(self, threshold: float) -> Share:
        """Return the error among rows with at least this confidence."""
        accepted = self.confidence >= threshold
        return share(np.count_nonzero(self.wrong & accepted), accepted.sum(), self.confidence_level)

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the single rows, ready for JSON."""
        return {
            "n_rows": self.n_rows,
            "classes": self.classes.tolist(),
            "confidence_level": self.confidence_level,
            "error": _plain(self.error),
            "log_loss": self.log_loss,
            "brier": self.brier,
            "confusion": self.confusion.tolist(),
            "reliability": _columns(self.reliability),
            "rejection": _columns(self.rejection),
            "promise": None
            if self.promise is None
            else self.promise._asdict()
            | {
                "threshold": _finite(self.promise.threshold),
                "error": _plain(self.promise.error),
            },
        }


def evaluate(model, X, y, *, confidence_level: float = 0.95) -> Evaluation:
    """Return how good a fitted classifier is on rows that it has not seen.

    Parameters
    ----------
    model : classifier
        Fitted, with `predict_proba`. Its answer is the most probable class, also where a
        reject option would refuse it.
    X : DataFrame, array-like or sparse matrix of shape (n_rows, n_features)
        Rows that were not used to train it.
    y : array-like of shape (n_rows,)
        Their classes. A class that the model does not know is always answered wrongly.
    confidence_level : float, default=0.95
        Of all intervals.

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
            f"{type(model).__name__} has none. Take one that has, or wrap it in scikit-learn's "
            "CalibratedClassifierCV."
        )
    figures = evaluate_probabilities(
        y, model.predict_proba(X), model.classes_, confidence_level=confidence_level
    )
    if not has_reject_option(model):
        return figures
    level, threshold = confidence_level, model.threshold_
    never = threshold == -np.inf and getattr(model, "max_error", None) is None
    return replace(
        figures,
        rejection=_acceptance(figures.wrong, figures.confidence, level, threshold),
        promise=None if never else _promise(model, figures),
    )


def evaluate_probabilities(
    y, probability, classes, *, confidence_level: float = 0.95
) -> Evaluation:
    """Return how good probabilities are, for those who have them already.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        True classes.
    probability : array-like of shape (n_rows, n_classes)
        What the model says.
    classes : array-like of shape (n_classes,)
        The class of each column.
    confidence_level : float, default=0.95
        Of all intervals.

    Returns
    -------
    Evaluation

    Examples
    --------
    >>> from bayespoint.evaluation import evaluate_probabilities
    >>> figures = evaluate_probabilities(["a", "b"], [[0.9, 0.1], [0.6, 0.4]], ["a", "b"])
    >>> figures.error.number, round(figures.brier, 3)
    (1, 0.185)
    """
    if not 0 < confidence_level < 1:
        raise ValueError(f"confidence_level should be between 0 and 1, but is {confidence_level}.")
    probability, classes = np.asarray(probability, dtype=float), np.asarray(classes)
    target, every = _positions(y, classes)
    if probability.shape != (len(target), len(classes)):
        raise ValueError(
            f"probability should have the shape (rows, classes) = {(len(target), len(classes))}, "
            f"but has {probability.shape}."
        )
    if not np.isfinite(probability).all():
        raise ValueError("probability should be finite, but is NaN or infinite for some rows.")
    predicted, confidence = probability.argmax(axis=1), probability.max(axis=1)
    wrong = target != predicted
    n_classes = len(every)
    return Evaluation(
        classes=every,
        n_known=len(classes),
        target=target,
        predicted=predicted,
        confidence=confidence,
        confidence_level=confidence_level,
        error=share(np.count_nonzero(wrong), len(wrong), confidence_level),
        log_loss=_log_loss(target, probability),
        brier=_brier(target, probability),
        confusion=np.bincount(target * n_classes + predicted, minlength=n_classes**2).reshape(
            n_classes, n_classes
        ),
        reliability=_reliability(~wrong, confidence, len(classes), confidence_level),
        rejection=_acceptance(wrong, confidence, confidence_level),
    )


def exact_interval(count, total, confidence_level: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
    """Return the interval of Clopper and Pearson for shares.

    Parameters
    ----------
    count, total : array-like of int
        How many of how many.
    confidence_level : float, default=0.95
        At least this is the probability that the interval holds the true share.

    Returns
    -------
    low, high : ndarray
        0 and 1 where `total` is 0.

    References
    ----------
    Clopper, Pearson (1934), The use of confidence or fiducial limits, Biometrika 26.

    Examples
    --------
    >>> from bayespoint.evaluation import exact_interval
    >>> low, high = exact_interval(0, 10)
    >>> float(low), round(float(high), 4)
    (0.0, 0.3085)
    """
    count, total = np.asarray(count, dtype=float), np.asarray(total, dtype=float)
    tail = (1 - confidence_level) / 2
    some, rest = np.maximum(count, 1), np.maximum(total - count, 1)
    low = np.where(count > 0, special.betaincinv(some, total - count + 1, tail), 0.0)
    high = np.where(count < total, special.betaincinv(count + 1, rest, 1 - tail), 1.0)
    return low, high


def has_reject_option(model) -> bool:
    """Tell whether a fitted model may refuse to answer."""
    return hasattr(model, "accept") and hasattr(model, "threshold_")


def share(count, total, confidence_level: float) -> Share:
    """Return a share with its exact interval."""
    low, high = exact_interval(count, total, confidence_level)
    return Share(int(count), int(total), float(low), float(high))


def _positions(y, classes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the class of each row by number, and all classes, those of the model first."""
    labels = np.asarray(y)
    if labels.ndim != 1 or not len(labels):
        raise ValueError(
            "y should be the true classes of at least one row, a column, but its shape is "
            f"{labels.shape}."
        )
    missing = np.array([is_missing(label) for label in labels])
    if missing.any():
        raise ValueError(
            f"y should be a class for every row, but it is missing in {missing.sum()} of "
            f"{len(labels)} rows (the first is row {int(missing.argmax())}, counted from 0). "
            "Leave these rows out."
        )
    number = {label: i for i, label in enumerate(classes.tolist())}
    target = np.array([number.setdefault(label, len(number)) for label in labels.tolist()])
    if (target >= len(classes)).all():
        raise ValueError(
            "y should hold classes that the model knows, which are "
            f"{_some(classes.tolist())}, but it holds {_some(list(number)[len(classes) :])}. "
            "Is it the right column, of the right type?"
        )
    if len(number) == len(classes):
        return target, classes
    return target, np.array(list(number), dtype=object)


def is_missing(label) -> bool:
    """Tell None, NaN, NaT and pandas' NA, which does not even say whether it is itself."""
    try:
        return label is None or bool(label != label)
    except TypeError:
        return True


def _some(labels: list) -> str:
    """Write down a few labels."""
    return ", ".join(repr(label) for label in labels[:5]) + (", ..." if len(labels) > 5 else "")


def _log_loss(target, probability) -> float:
    """Return the mean of -log p(true class)."""
    known = target < probability.shape[1]
    right = np.zeros(len(target))
    right[known] = probability[known, target[known]]
    return float(-np.log(np.clip(right, _LEAST, 1)).mean())


def _brier(target, probability) -> float:
    """Return the mean squared distance to the true class."""
    known = target < probability.shape[1]
    right = np.zeros(len(target))
    right[known] = probability[known, target[known]]
    # sum_k (p_k - [k is true])^2, without a copy of the probabilities
    loss = np.einsum("ik,ik->i", probability, probability) - 2 * right + 1
    return float(loss.mean() / (2 if probability.shape[1] == 2 else 1))


def _reliability(right, confidence, n_classes: int, level: float) -> Reliability:
    """Sort rows into bins of equal width; those without rows are left out."""
    # With two classes the larger probability is never below one half.
    least = 0.5 if n_classes == 2 else 0.0
    place = ((confidence - least) / (1 - least) * _N_BINS).astype(int)
    place = np.clip(place, 0, _N_BINS - 1)
    total = np.bincount(place, minlength=_N_BINS)
    used = total > 0
    correct = np.bincount(place, weights=right, minlength=_N_BINS)[used].astype(int)
    mean = np.bincount(place, weights=confidence, minlength=_N_BINS)[used] / total[used]
    return Reliability(mean, correct, total[used], *exact_interval(correct, total[used], level))


def _acceptance(wrong, confidence, level: float, threshold: float = -np.inf) -> Acceptance:
    """Return the rejection curve, thinned to steps of about equal size, and one threshold."""
    curve = rejection_curve(np.zeros(len(wrong)), wrong, confidence)
    accepted = np.rint((1 - curve.reject_rate) * len(wrong)).astype(int)
    # Falling from all rows; the first one at or below each of equal steps is kept.
    steps = np.linspace(accepted[0], accepted[-1], MOST_POINTS - 1)
    at_threshold = min(int(np.searchsorted(curve.threshold, threshold)), len(accepted) - 1)
    kept = np.unique(np.append(np.searchsorted(-accepted, -steps), at_threshold))
    accepted = accepted[kept]
    errors = np.rint(curve.error[kept] * accepted).astype(int)
    low, high = exact_interval(errors, accepted, level)
    return Acceptance(curve.threshold[kept], accepted, errors, low, high)


def _promise(model, figures: Evaluation) -> Promise:
    """Return the reject option of a model."""
    calibration = getattr(model, "calibration_confidence_", None)
    max_error = getattr(model, "max_error", None)
    return Promise(
        threshold=float(model.threshold_),
        error=figures.at(model.threshold_),
        reject_rate=getattr(model, "reject_rate", None),
        max_error=max_error,
        confidence_level=None if max_error is None else model.confidence_level,
        n_calibration=None if calibration is None else len(calibration),
        strict=getattr(model, "cv", None) is None,
    )


def _plain(error: Share) -> dict[str, Any]:
    return {
        "count": error.number,
        "total": error.total,
        "value": _finite(error.value),
        "low": error.low,
        "high": error.high,
    }


def _finite(value: float) -> float | None:
    """JSON has no infinities."""
    return value if np.isfinite(value) else None


def _columns(table) -> dict[str, list]:
    return {name: column.tolist() for name, column in table._asdict().items()}
