"""A classifier that rejects the rows it is not sure of."""

from __future__ import annotations

import copy
import math
from numbers import Integral, Real

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, _fit_context
from sklearn.metrics import accuracy_score
from sklearn.utils import assert_all_finite, get_tags, indexable
from sklearn.utils._param_validation import HasMethods, Interval, RealNotInt
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    _routing_enabled,
    process_routing,
)
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _estimator_has, check_is_fitted, column_or_1d

from .._labels import require_labels
from .calibration import judge, train
from .confidence import confidence_of
from .decision import answers, check_costs
from .labels import choose_reject_label, decide, mark_rejected
from .novelty import NoveltyOfEstimator, held_out_novelty, is_familiar, refuses_novel_rows
from .set_threshold import set_threshold

__all__ = ["RejectOptionClassifier"]


class RejectOptionClassifier(
    NoveltyOfEstimator, ClassifierMixin, MetaEstimatorMixin, BaseEstimator
):
    """Reject uncertain predictions, with a guaranteed error if requested.

    Wraps any classifier that has `predict_proba` or `decision_function`. Part of the
    training rows is held out to set a threshold; predictions with a confidence below the
    threshold are replaced by `reject_label`. Set `reject_rate` to reject the least certain
    predictions, or `max_error` to limit the error among accepted predictions with a stated
    probability. With neither, everything is accepted until `at` sets a threshold.

    Parameters
    ----------
    estimator : classifier
        The classifier to fit. A fitted classifier in scikit-learn's `FrozenEstimator` stays
        as it is; all rows given to `fit` then only set the threshold, so they should not
        have been used to train it.
    reject_rate : float, default=None
        A new row is rejected with at most this probability.
    max_error : float, default=None
        The error among accepted rows is at most this, with probability `confidence_level`
        over draws of the held-out rows. The threshold is one of the lowest for which this
        can be promised. If there is none, everything is rejected, with a warning. Not
        together with `reject_rate`.
    max_novelty : float, default=None
        Also reject rows with a larger `novelty`, however certain: 0.99 rejects rows that are
        stranger than 99 % of the training rows. The estimator must have the method `novelty`.
        Such rows are left out of the held-out rows as well, so what `max_error` promises holds
        for the others; `reject_rate` counts them first. 1 rejects nothing, and lets `at` choose.
    confidence_level : float, default=0.95
        The probability with which the promise of `max_error` is kept. A larger value
        accepts fewer rows or needs more held-out rows.
    reject_label : "auto" or label, default="auto"
        What `predict` returns for rejected rows; it must not be a class. "auto" is "reject"
        if classes are strings, and -1 if they are numbers (one below the smallest class if
        -1 is a class). If the label is of another kind than the classes, predictions are an
        array of objects.
    calibration_size : float or int, default=0.2
        Share or number of rows that are held out to set the threshold, with classes in
        proportion. More rows give a lower threshold and a sharper promise, but leave fewer
        rows to train with. Not used if `cv` is given or the estimator is frozen.
    costs : array-like of shape (n_classes, n_classes), default=None
        The cost of each answer (column) for each true class (row). The answer is then the
        class of least expected cost; its probability is the confidence.
    cv : int, cross-validation generator or iterable, default=None
        If given, no row is lost: each is judged by a clone trained without its fold, and
        the estimator is then trained on all rows. Costs one fit per fold. `reject_rate` and
        `max_error` then hold for the clones taken together as one classifier. For the
        estimator itself, which has seen more rows, this is a good estimate but no strict
        promise. No row may be in two test folds.
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
        The promise: `max_error` if some threshold can guarantee it, NaN otherwise.
    calibration_confidence_ : ndarray of shape (n_calibration,)
        Confidences of the held-out rows: the largest probability. Without probabilities,
        the absolute value of the decision function for two classes, and the difference
        between its two largest values for more.
    calibration_correct_ : ndarray of bool of shape (n_calibration,)
        Whether the classifier was right about them.
    calibration_novelty_ : ndarray of shape (n_calibration,)
        Their novelty; None without `max_novelty`.
    classes_ : ndarray of shape (n_classes,)
        The class labels.
    n_features_in_, feature_names_in_ : int, ndarray of shape (n_features,)
        Number and names of the features, if the estimator has them.

    Notes
    -----
    The promise assumes nothing about the classifier: its probabilities may be wrong, and
    error need not fall with confidence. It assumes that future rows come from the same
    source as the held-out rows. It covers all accepted rows together, not each class, and
    one `max_error` that was chosen beforehand. Sample weights are used for training only.
    It needs held-out rows: at least 65 for a `max_error` of 0.05, even if the classifier is
    right on all of them (see `fewest_rows`).

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
        "max_novelty": [Interval(Real, 0, 1, closed="both"), None],
        "confidence_level": [Interval(Real, 0, 1, closed="neither")],
        "reject_label": "no_validation",
        "calibration_size": [
            Interval(RealNotInt, 0, 1, closed="neither"),
            Interval(Integral, 1, None, closed="left"),
        ],
        "costs": ["array-like", None],
        "cv": ["cv_object"],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        estimator,
        *,
        reject_rate=None,
        max_error=None,
        max_novelty=None,
        confidence_level=0.95,
        reject_label="auto",
        calibration_size=0.2,
        costs=None,
        cv=None,
        random_state=None,
    ):
        self.estimator = estimator
        self.reject_rate = reject_rate
        self.max_error = max_error
        self.max_novelty = max_novelty
        self.confidence_level = confidence_level
        self.reject_label = reject_label
        self.calibration_size = calibration_size
        self.costs = costs
        self.cv = cv
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=False)  # the estimator checks its own parameters
    def fit(self, X, y, **params):
        """Train the classifier and set the threshold.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
            Training data, as the estimator takes it.
        y : array-like of shape (n_samples,)
            Class labels.
        **params : dict
            For the estimator's own fit, such as `sample_weight`. A parameter with an entry
            for each row is cut down to the rows that the estimator is trained on. If
            scikit-learn's metadata routing is enabled, the estimator gets what it requests.

        Returns
        -------
        self : RejectOptionClassifier
        """
        X, y = indexable(X, y)
        require_labels(y)
        y = column_or_1d(y, warn=True)
        assert_all_finite(y, input_name="y")
        check_classification_targets(y)
        self._check_threshold_parameters()
        if _routing_enabled():
            params = process_routing(self, "fit", **params).estimator.fit
        self.estimator_, judges = train(self, X, y, params)
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        choose_reject_label(self.reject_label, self.classes_)
        check_costs(self.costs, self.estimator_)
        judged = [
            (*judge(one, X, y, rows, self.costs), held_out_novelty(self, one, X, rows))
            for one, rows in judges
        ]
        self.calibration_confidence_, self.calibration_correct_, novelty = (
            np.concatenate(parts) for parts in zip(*judged, strict=True)
        )
        self.calibration_novelty_ = None if self.max_novelty is None else novelty
        set_threshold(self)
        return self

    @property
    def classes_(self):
        """The class labels; the label of rejected rows is not among them."""
        check_is_fitted(self, "estimator_")
        return self.estimator_.classes_

    def confidence(self, X):
        """Return the confidences that are compared with the threshold.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Points.

        Returns
        -------
        ndarray of shape (n_samples,)
            The largest probability; see `calibration_confidence_` if there is none.
        """
        check_is_fitted(self, "estimator_")
        return confidence_of(self.estimator_, X, self.costs)

    def accept(self, X):
        """Return which predictions are certain enough, for rows that are not too novel.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Points.

        Returns
        -------
        ndarray of bool of shape (n_samples,)
        """
        check_is_fitted(self, "threshold_")
        return (self.confidence(X) >= self.threshold_) & is_familiar(self, X)

    def predict(self, X, loss=None):
        """Predict classes, or the reject label where they are uncertain.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Points.
        loss : array-like of shape (n_classes, n_classes + 1), default=None
            Costs, with the true class in rows and the decision in columns; the last column is
            the cost of a refusal. With it, the decision with the smallest expected cost under
            `predict_proba` is taken instead of the threshold, and nothing is promised.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels. They have the dtype of the classes if everything is accepted, otherwise
            a dtype that holds both the classes and the reject label.
        """
        check_is_fitted(self, "threshold_")
        label = choose_reject_label(self.reject_label, self.classes_)
        if loss is not None:
            return decide(self.predict_proba(X), loss, self.classes_, label)
        labels = answers(self.estimator_, X, self.costs)
        if self.threshold_ == -math.inf and not refuses_novel_rows(self):
            return labels
        return mark_rejected(labels, ~self.accept(X), label)

    @available_if(_estimator_has("predict_proba"))
    def predict_proba(self, X):
        """Return the classifier's probabilities, also for rejected rows.

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
        """Return the classifier's decision function, also for rejected rows.

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
        """Return the accuracy on accepted rows.

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
        y, labels = column_or_1d(y), answers(self.estimator_, X, self.costs)
        if sample_weight is not None:
            sample_weight = np.asarray(sample_weight)[accepted]
        return accuracy_score(y[accepted], labels[accepted], sample_weight=sample_weight)

    def at(self, *, reject_rate=None, max_error=None, max_novelty=None, confidence_level=None):
        """Return a copy with another threshold, without a new fit.

        Parameters
        ----------
        reject_rate, max_error : float, default=None
            As in the class; with neither, the copy accepts all confidences.
        max_novelty, confidence_level : float, default=None
            As in the class; None keeps the present value.

        Returns
        -------
        RejectOptionClassifier
            It shares the fitted classifier with this one.
        """
        check_is_fitted(self, "calibration_confidence_")
        other = copy.copy(self)
        other.reject_rate, other.max_error = reject_rate, max_error
        if max_novelty is not None:
            other.max_novelty = max_novelty
        if confidence_level is not None:
            other.confidence_level = confidence_level
        other._validate_params()
        other._check_threshold_parameters()
        set_threshold(other)
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

    def _check_threshold_parameters(self) -> None:
        """Raise if two parameters would set the threshold."""
        if self.reject_rate is not None and self.max_error is not None:
            raise ValueError(
                "reject_rate and max_error both set the threshold, so only one of them can be "
                f"given, but got reject_rate={self.reject_rate} and max_error={self.max_error}."
            )
