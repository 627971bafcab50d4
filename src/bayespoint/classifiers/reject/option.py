"""Refusing to answer: a classifier that rejects what it is not sure of, and what it buys."""

from __future__ import annotations

import copy
import math
from numbers import Integral, Real
from typing import NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, _fit_context, clone
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import accuracy_score
from sklearn.model_selection import check_cv
from sklearn.utils import _safe_indexing, assert_all_finite, check_random_state, get_tags, indexable
from sklearn.utils._param_validation import HasMethods, Interval, RealNotInt
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    _routing_enabled,
    process_routing,
)
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_method_params,
    _estimator_has,
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
)

from ..._runtime.warn import warn
from .thresholds import _confidences, certified_threshold, fewest_rows, reject_threshold

__all__ = [
    "RejectOptionClassifier",
    "RejectionCurve",
    "certified_threshold",
    "reject_threshold",
    "rejection_curve",
]


class RejectOptionClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Reject predictions that are not certain enough, with a promise if wished.

    Wraps any classifier that has `predict_proba` or `decision_function`. Some of the
    training rows are held out; with them a threshold is set, and predictions with a
    confidence below it are replaced by `reject_label`. Set `reject_rate` to reject the
    least certain predictions, or `max_error` for a limit of the error among the
    accepted ones that is kept with a stated probability; with neither, everything is
    accepted until `at` sets a threshold.

    Parameters
    ----------
    estimator : classifier
        What is fitted. A fitted classifier in scikit-learn's `FrozenEstimator` stays as it
        is; all rows given to `fit` then only set the threshold, so it should not have been
        trained on them.
    reject_rate : float, default=None
        A new row is rejected with this probability or less.
    max_error : float, default=None
        The error among accepted rows is at most this, with a probability of
        `confidence_level` over draws of the held-out rows; of all thresholds for which
        this can be promised, one of the lowest is taken. Where no threshold can,
        everything is rejected, with a warning. Not together with `reject_rate`.
    confidence_level : float, default=0.95
        The probability with which the promise of `max_error` is kept. More of it costs
        accepted rows or needs more held-out ones.
    reject_label : "auto" or label, default="auto"
        What `predict` says of rejected rows; not a class. "auto" is "reject" if classes are
        strings, and -1 if they are numbers (one below the smallest if -1 is a class). With a
        label of another kind than the classes, predictions are an array of objects.
    calibration_size : float or int, default=0.2
        Share or number of rows that are held out to set the threshold, with classes in
        proportion. More of them give a lower threshold and a sharper promise, at the
        cost of rows to train with. Not used if `cv` is given or the estimator is frozen.
    cv : int, cross-validation generator or iterable, default=None
        If given, no row is lost: each is judged by a clone trained without its fold, and
        the estimator is then trained with all rows. Costs a fit a fold. `reject_rate` and
        `max_error` are then those of the clones, taken together as if they were a single
        classifier: a good estimate for the estimator itself, which has seen more rows, but
        no longer a strict promise. No row may be in two test folds.
    random_state : int, RandomState instance or None, default=None
        Decides which rows are held out; pass an int for the same answer every time.

    Attributes
    ----------
    estimator_ : classifier
        The fitted classifier.
    threshold_ : float
        Predictions with at least this confidence are accepted; -inf accepts everything, inf
        nothing.
    coverage_ : float
        The share of the held-out rows that is accepted.
    certified_error_ : float
        The promise: `max_error` if it could be given for some threshold, NaN otherwise.
    calibration_confidence_ : ndarray of shape (n_calibration,)
        Confidences of held-out rows: the largest probability; without probabilities, the
        absolute value of the decision function, or how much the largest of several is
        above the second.
    calibration_correct_ : ndarray of bool of shape (n_calibration,)
        Whether the classifier was right about them.
    classes_ : ndarray of shape (n_classes,)
        The class labels.
    n_features_in_ : int
        Number of features, if the estimator says so.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if the estimator says so.

    Notes
    -----
    The promise needs nothing from the classifier: probabilities may be wrong, and error
    need not fall with confidence. It needs future rows that come from where the held-out
    ones came from. It is about all accepted rows together, not about each class, and about
    one `max_error` that was chosen beforehand. Weights of rows are for training only. At
    least log(1 - confidence_level) / log(1 - max_error) held-out rows are needed, 59 for an
    error of 0.05.

    References
    ----------
    See `certified_threshold`.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from bayespoint import BayesPointClassifier, RejectOptionClassifier
    >>> X, y = make_moons(1000, noise=0.25, random_state=0)
    >>> model = RejectOptionClassifier(
    ...     BayesPointClassifier(gamma=1.0, softness=0.3), max_error=0.05, random_state=0
    ... ).fit(X, y)
    >>> model.predict([[0.0, 1.0], [0.5, 0.25], [1.0, -0.5]])
    array([ 0, -1,  1])
    """

    _parameter_constraints = {
        "estimator": [
            HasMethods(["fit", "predict", "predict_proba"]),
            HasMethods(["fit", "predict", "decision_function"]),
        ],
        "reject_rate": [Interval(Real, 0, 1, closed="left"), None],
        "max_error": [Interval(Real, 0, 1, closed="neither"), None],
        "confidence_level": [Interval(Real, 0, 1, closed="neither")],
        "reject_label": "no_validation",
        "calibration_size": [
            Interval(RealNotInt, 0, 1, closed="neither"),
            Interval(Integral, 1, None, closed="left"),
        ],
        "cv": ["cv_object"],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        estimator,
        *,
        reject_rate=None,
        max_error=None,
        confidence_level=0.95,
        reject_label="auto",
        calibration_size=0.2,
        cv=None,
        random_state=None,
    ):
        self.estimator = estimator
        self.reject_rate = reject_rate
        self.max_error = max_error
        self.confidence_level = confidence_level
        self.reject_label = reject_label
        self.calibration_size = calibration_size
        self.cv = cv
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=False)  # the estimator checks for itself
    def fit(self, X, y, **params):
        """Train the classifier and set the threshold.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
            Training data, as the estimator takes it.
        y : array-like of shape (n_samples,)
            Class labels.
        **params : dict
            For the estimator's own fit, such as `sample_weight`; with an entry for each
            row, it gets those of the rows it is trained with. If scikit-learn's metadata
            routing is enabled, what the estimator has requested.

        Returns
        -------
        self : RejectOptionClassifier
        """
        X, y = indexable(X, y)
        y = column_or_1d(y, warn=True)
        assert_all_finite(y, input_name="y")
        check_classification_targets(y)
        self._check_wishes()
        if _routing_enabled():
            params = process_routing(self, "fit", **params).estimator.fit
        if isinstance(self.estimator, FrozenEstimator):
            self.estimator_ = clone(self.estimator)
            folds = [(None, np.arange(len(y)))]
        elif self.cv is not None:
            folds = _folds(self.cv, X, y)
            self.estimator_ = _fit(self.estimator, X, y, params, None)
        else:
            folds = [self._hold_out(y)]
            self.estimator_ = _fit(self.estimator, X, y, params, folds[0][0])
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        _reject_label(self.reject_label, self.classes_)
        self._calibrate(X, y, params, folds)
        self._set_threshold()
        return self

    @property
    def classes_(self):
        """Class labels; none of them is the label of rejected rows."""
        check_is_fitted(self, "estimator_")
        return self.estimator_.classes_

    def confidence(self, X):
        """Return how certain the predictions are: what is compared with the threshold.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Points.

        Returns
        -------
        ndarray of shape (n_samples,)
            The largest probability, or what `calibration_confidence_` says.
        """
        check_is_fitted(self, "estimator_")
        return confidence_of(self.estimator_, X)

    def accept(self, X):
        """Say which predictions are certain enough.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Points.

        Returns
        -------
        ndarray of bool of shape (n_samples,)
        """
        check_is_fitted(self, "threshold_")
        return self.confidence(X) >= self.threshold_

    def predict(self, X):
        """Predict classes, or the reject label where that is not certain enough.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Points.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels; of the classes' own dtype if everything is accepted, and otherwise of
            one that holds them and the reject label.
        """
        check_is_fitted(self, "threshold_")
        label = _reject_label(self.reject_label, self.classes_)
        labels = self.estimator_.predict(X)
        if self.threshold_ == -math.inf:
            return labels
        return _replace(labels, ~self.accept(X), label)

    @available_if(_estimator_has("predict_proba"))
    def predict_proba(self, X):
        """Return the classifier's probabilities, of rejected rows too.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Points.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        check_is_fitted(self, "estimator_")
        return self.estimator_.predict_proba(X)

    @available_if(_estimator_has("decision_function"))
    def decision_function(self, X):
        """Return the classifier's decision function, of rejected rows too.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Points.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
        """
        check_is_fitted(self, "estimator_")
        return self.estimator_.decision_function(X)

    def score(self, X, y, sample_weight=None):
        """Return the accuracy of what is accepted.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Points.
        y : array-like of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the points.

        Returns
        -------
        float
            NaN if nothing is accepted, which a grid search ranks last. To compare settings
            that accept different shares, look at `rejection_curve`.
        """
        accepted = self.accept(X)
        if not accepted.any():
            return math.nan
        y, labels = column_or_1d(y), self.estimator_.predict(X)
        if sample_weight is not None:
            sample_weight = np.asarray(sample_weight)[accepted]
        return accuracy_score(y[accepted], labels[accepted], sample_weight=sample_weight)

    def at(self, *, reject_rate=None, max_error=None, confidence_level=None):
        """Return a copy with another threshold, without a new fit.

        Parameters
        ----------
        reject_rate, max_error : float, default=None
            As in the class; with neither, the copy accepts everything.
        confidence_level : float, default=None
            As in the class; None leaves it as it is.

        Returns
        -------
        RejectOptionClassifier
            It shares the fitted classifier with this one.
        """
        check_is_fitted(self, "calibration_confidence_")
        other = copy.copy(self)
        other.reject_rate, other.max_error = reject_rate, max_error
        if confidence_level is not None:
            other.confidence_level = confidence_level
        other._validate_params()
        other._check_wishes()
        other._set_threshold()
        return other

    def get_metadata_routing(self):
        """Return how metadata such as sample weights reach the estimator.

        Returns
        -------
        MetadataRouter
        """
        mapping = MethodMapping().add(caller="fit", callee="fit")
        router = MetadataRouter(owner=self).add_self_request(self)
        return router.add(estimator=self.estimator, method_mapping=mapping)

    def __sklearn_tags__(self):
        tags, inner = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.input_tags, tags.classifier_tags = inner.input_tags, inner.classifier_tags
        return tags

    def _check_wishes(self) -> None:
        if self.reject_rate is not None and self.max_error is not None:
            raise ValueError(
                "reject_rate and max_error both set the threshold, so only one of them can be "
                f"given, but got reject_rate={self.reject_rate} and max_error={self.max_error}."
            )

    def _hold_out(self, y) -> tuple[np.ndarray, np.ndarray]:
        """Return rows to train with, of every class, and rows that are held out."""
        size = self.calibration_size
        n_held = int(size) if isinstance(size, Integral) else max(1, round(size * len(y)))
        if n_held >= len(y):
            raise ValueError(
                f"calibration_size={size} holds out {n_held} of n_samples={len(y)}, which leaves "
                "nothing to train with. Give more rows or a smaller calibration_size, or use cv."
            )
        rng = check_random_state(self.random_state)
        codes = np.unique(y, return_inverse=True)[1]
        # Every so many-th row of all rows in the order of their classes.
        order = rng.permutation(len(y))
        order = order[np.argsort(codes[order], kind="stable")]
        places = (np.arange(n_held) + rng.uniform()) * (len(y) / n_held)
        held = np.zeros(len(y), dtype=bool)
        held[order[np.minimum(places.astype(int), len(y) - 1)]] = True
        # A class without a row to train with would not be known to the classifier.
        lost = np.setdiff1d(codes, codes[~held])
        held[[np.flatnonzero(codes == code)[0] for code in lost]] = False
        return np.flatnonzero(~held), np.flatnonzero(held)

    def _calibrate(self, X, y, params, folds) -> None:
        """Judge rows by classifiers that were not trained with them."""
        confidence, correct = [], []
        for train, test in folds:
            judge = self.estimator_
            if self.cv is not None and train is not None:
                judge = _fit(self.estimator, X, y, params, train)
            X_test = _safe_indexing(X, test)
            confidence.append(confidence_of(judge, X_test))
            correct.append(np.asarray(judge.predict(X_test) == y[test], dtype=bool))
        self.calibration_confidence_ = np.concatenate(confidence)
        self.calibration_correct_ = np.concatenate(correct)

    def _set_threshold(self) -> None:
        confidence, correct = self.calibration_confidence_, self.calibration_correct_
        self.threshold_ = -math.inf
        self.certified_error_ = math.nan
        if self.reject_rate is not None:
            self.threshold_ = reject_threshold(confidence, self.reject_rate)
        elif self.max_error is not None:
            self.threshold_ = certified_threshold(
                confidence, correct, self.max_error, self.confidence_level
            )
            if self.threshold_ == math.inf:
                self._tell_that_nothing_is_promised()
            else:
                self.certified_error_ = float(self.max_error)
        self.coverage_ = float(np.mean(confidence >= self.threshold_))

    def _tell_that_nothing_is_promised(self) -> None:
        n, least = (
            len(self.calibration_correct_),
            fewest_rows(self.max_error, self.confidence_level),
        )
        warn(
            f"No threshold can promise an error of at most {self.max_error} with probability "
            f"{self.confidence_level}, so everything is rejected. {n} calibration rows were "
            f"given; at least {least} are needed even if none of them is wrong. Give more of "
            "them (calibration_size, cv), or a larger max_error or a smaller confidence_level."
        )


def _fit(estimator, X, y, params, rows):
    """Train a clone with some of the rows, or all."""
    if rows is not None:
        params = _check_method_params(X, params, indices=rows)
        X, y = _safe_indexing(X, rows), y[rows]
    return clone(estimator).fit(X, y, **params)


def _folds(cv, X, y) -> list:
    """Return rows to train and to test with, of which none is tested twice."""
    folds = list(check_cv(cv, y, classifier=True).split(X, y))
    folds = [(np.arange(len(y))[train], np.arange(len(y))[test]) for train, test in folds]
    tested = np.bincount(np.concatenate([test for _, test in folds]), minlength=len(y))
    if tested.max() > 1:
        raise ValueError(
            f"cv should test each row once at most, but row {tested.argmax()} is in "
            f"{tested.max()} test folds: rows that count twice would promise too much. "
            "Use KFold or StratifiedKFold."
        )
    return folds


def confidence_of(classifier, X) -> np.ndarray:
    """Return the largest probability, or how far the decision is from another one."""
    if hasattr(classifier, "predict_proba"):
        return _confidences(np.max(classifier.predict_proba(X), axis=1))
    output = np.asarray(classifier.decision_function(X))
    if output.ndim == 1:
        return _confidences(np.abs(output))
    if output.shape[1] != len(classifier.classes_):
        raise ValueError(
            f"decision_function should have a column for each of {len(classifier.classes_)} "
            f"classes, but has {output.shape[1]}. Use decision_function_shape='ovr'."
        )
    second, first = np.partition(output, -2, axis=1)[:, -2:].T
    return _confidences(first - second)


def _reject_label(label, classes):
    """Return what stands for rejected rows."""
    classes = np.asarray(classes).tolist()
    if isinstance(label, str) and label == "auto":
        if all(isinstance(c, str) for c in classes):
            label = "reject"
        elif -1 in classes:
            label = min(classes) - 1
        else:
            label = -1
    if label in classes:
        raise ValueError(
            f"{label!r} is a class, so it cannot stand for rejected rows. Choose a reject_label "
            f"that is none of the classes {classes[:5]}{' ...' if len(classes) > 5 else ''}."
        )
    return label


def _replace(labels, rejected, label) -> np.ndarray:
    """Put a label for rejected rows among others, in a dtype that holds both."""
    labels, mark = np.asarray(labels), np.asarray(label)
    alike = (labels.dtype.kind in "biuf") == (mark.dtype.kind in "biuf")
    labels = labels.astype(np.result_type(labels, mark) if alike else object)
    labels[rejected] = label
    return labels


class RejectionCurve(NamedTuple):
    """Error of the accepted predictions against the share of rejected ones."""

    reject_rate: np.ndarray
    error: np.ndarray
    threshold: np.ndarray  # predictions with a confidence below it are rejected

    @property
    def area(self) -> float:
        """The mean error over all shares of accepted predictions, from 0 to 1.

        Exact if predictions of equal confidence are rejected in random order. The smaller
        the better; a small error makes it small, as well as a good order.
        """
        # On its way from coverage a to b a group of errors r adds r (c - a) of c accepted,
        # and the integral of (error(a) a + r (c - a)) / c is elementary.
        high = (1 - self.reject_rate)[::-1]
        low = np.append(0.0, high[:-1])
        wrong = self.error[::-1] * high
        wrong_before = np.append(0.0, wrong[:-1])
        slope = (wrong - wrong_before) / (high - low)
        logs = np.log(high[1:] / low[1:])
        bent = np.sum((wrong_before - slope * low)[1:] * logs)
        return float(np.sum(slope * (high - low)) + bent)

    @property
    def excess_area(self) -> float:
        """The area above that of a perfect order, which rejects all errors first."""
        right = 1 - self.error[0]
        perfect = self.error[0] + (right * math.log(right) if right else 0.0)
        return self.area - perfect


def rejection_curve(y_true, y_pred, confidence) -> RejectionCurve:
    """Return the error of what is accepted, for all thresholds of confidence.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        True and predicted classes.
    confidence : array-like of shape (n_samples,)
        Larger for predictions that are more certain: the largest probability, or the
        absolute value of a decision function.

    Returns
    -------
    RejectionCurve
        Arrays `reject_rate`, `error` and `threshold`, an entry for each distinct
        confidence, beginning with nothing rejected. Predictions of equal confidence
        are rejected together.

    References
    ----------
    Herbrich, Graepel, Campbell (2001), Bayes Point Machines, JMLR 1, sec. 4.3.

    Examples
    --------
    >>> from bayespoint import rejection_curve
    >>> curve = rejection_curve([0, 1, 1, 0], [0, 1, 0, 0], [0.9, 0.7, 0.6, 0.8])
    >>> curve.reject_rate, curve.error
    (array([0.  , 0.25, 0.5 , 0.75]), array([0.25, 0.  , 0.  , 0.  ]))
    """
    y_true, y_pred = column_or_1d(y_true), column_or_1d(y_pred)
    confidence = _confidences(confidence)
    check_consistent_length(y_true, y_pred, confidence)
    wrong = y_true != y_pred
    threshold, group = np.unique(confidence, return_inverse=True)
    size = np.bincount(group)
    errors = np.bincount(group, weights=wrong)
    accepted = np.cumsum(size[::-1])[::-1]
    error = np.cumsum(errors[::-1])[::-1] / accepted
    return RejectionCurve(1 - accepted / len(wrong), error, threshold)
