"""A classifier that rejects the rows it is not sure of."""

from __future__ import annotations

import copy
import math
from numbers import Integral, Real

from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, _fit_context
from sklearn.utils import assert_all_finite, get_tags, indexable
from sklearn.utils._param_validation import HasMethods, Interval, RealNotInt
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    _routing_enabled,
    process_routing,
)
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from ..._runtime.old_pickles import OldPickles
from .._labels import require_labels
from .answering import Answering
from .calibration import judge, remember, train
from .certificate import Certificate
from .decision import check_costs
from .labels import choose_reject_label
from .novelty import NoveltyOfEstimator
from .setting import check_parameters, set_thresholds, summarize_groups

__all__ = ["RejectOptionClassifier"]


class RejectOptionClassifier(
    Answering, NoveltyOfEstimator, OldPickles, ClassifierMixin, MetaEstimatorMixin, BaseEstimator
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
    max_false_positive_rate, max_false_negative_rate : float, default=None
        For two classes: the share of accepted rows of the first class that get the second as
        their answer, and the other way around. Promised like `max_error`.
    max_cost : float, default=None
        The mean of `costs` over accepted rows. Promised like `max_error`. If several promises
        are given, all of them hold together.
    max_novelty : float, default=None
        Also reject rows with a larger `novelty`, however certain: 0.99 rejects rows that are
        stranger than 99 % of the training rows. The estimator must have the method `novelty`.
        Such rows are left out of the held-out rows as well, so what is promised holds for the
        others; `reject_rate` counts them first. 1 rejects nothing, and lets `at` choose.
    groups : "prediction", str or int, default=None
        If given, promises hold in each group of rows, in all of them together with
        probability `confidence_level`. Each group has a threshold of its own. "prediction"
        makes a group of the rows with the same answer; otherwise, each value of a column of X,
        by name or number, is a group. Rows of a group that is too small for a promise, or that
        no held-out row was in, are rejected. Not used for `reject_rate`.
    confidence_level : float, default=0.95
        The probability with which promises are kept. A larger value accepts fewer rows or
        needs more held-out rows.
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
    groups_, group_thresholds_ : ndarray of shape (n_groups,), or None
        The groups that held-out rows were in, and their thresholds; `threshold_` is then the
        lowest of them. `group_summary` tells more.
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
    calibration_novelty_ : ndarray of shape (n_calibration,), or None
        Their novelty; None without `max_novelty`.
    calibration_class_, calibration_answer_ : ndarray of int of shape (n_calibration,)
        Places of their classes and answers in `classes_`.
    calibration_group_ : ndarray of shape (n_calibration,), or None
        Their groups.
    classes_ : ndarray of shape (n_classes,)
        The class labels.
    n_features_in_, feature_names_in_ : int, ndarray of shape (n_features,)
        Number and names of the features, if the estimator has them.

    Notes
    -----
    The promise assumes nothing about the classifier: its probabilities may be wrong, and
    error need not fall with confidence. It assumes that future rows come from the same
    source as the held-out rows. It covers all accepted rows together, or each of the `groups`,
    and one `max_error` that was chosen beforehand. Sample weights are used for training only.
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
        "max_false_positive_rate": [Interval(Real, 0, 1, closed="neither"), None],
        "max_false_negative_rate": [Interval(Real, 0, 1, closed="neither"), None],
        "max_cost": [Interval(Real, 0, None, closed="neither"), None],
        "max_novelty": [Interval(Real, 0, 1, closed="both"), None],
        "groups": [str, Integral, None],
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
        max_false_positive_rate=None,
        max_false_negative_rate=None,
        max_cost=None,
        max_novelty=None,
        groups=None,
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
        self.max_false_positive_rate = max_false_positive_rate
        self.max_false_negative_rate = max_false_negative_rate
        self.max_cost = max_cost
        self.max_novelty = max_novelty
        self.groups = groups
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
        check_parameters(self)
        if _routing_enabled():
            params = process_routing(self, "fit", **params).estimator.fit
        self.estimator_, judges = train(self, X, y, params)
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        choose_reject_label(self.reject_label, self.classes_)
        check_costs(self.costs, self.estimator_)
        remember(self, [judge(self, classifier, X, y, rows) for classifier, rows in judges])
        set_thresholds(self)
        return self

    def at(
        self,
        *,
        reject_rate=None,
        max_error=None,
        max_false_positive_rate=None,
        max_false_negative_rate=None,
        max_cost=None,
        max_novelty=None,
        confidence_level=None,
    ):
        """Return a copy with another threshold, without a new fit.

        Parameters
        ----------
        reject_rate, max_error : float, default=None
            As in the class; with neither they nor the next ones, the copy accepts everything.
        max_false_positive_rate, max_false_negative_rate, max_cost : float, default=None
            As in the class.
        max_novelty, confidence_level : float, default=None
            As in the class; None keeps the present value.

        Returns
        -------
        RejectOptionClassifier
            It shares the fitted classifier with this one, and has the same groups.
        """
        check_is_fitted(self, "calibration_confidence_")
        other = copy.copy(self)
        other.reject_rate, other.max_error = reject_rate, max_error
        other.max_false_positive_rate = max_false_positive_rate
        other.max_false_negative_rate = max_false_negative_rate
        other.max_cost = max_cost
        if max_novelty is not None:
            other.max_novelty = max_novelty
        if confidence_level is not None:
            other.confidence_level = confidence_level
        other._validate_params()
        check_parameters(other)
        set_thresholds(other)
        return other

    def group_summary(self):
        """Return what is promised for each group, and how often its held-out rows are refused.

        Returns
        -------
        list of GroupSummary
            With the fields `group`, `n_rows` (held out), `n_accepted`, `n_wrong` (of these),
            `threshold`, and `reason`: why all rows of the group are rejected, if they are.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from bayespoint import LinearBayesPointClassifier, RejectOptionClassifier
        >>> X, y = load_breast_cancer(return_X_y=True)
        >>> model = RejectOptionClassifier(
        ...     LinearBayesPointClassifier(),
        ...     max_error=0.1,
        ...     groups="prediction",
        ...     calibration_size=0.5,
        ...     random_state=0,
        ... ).fit(X, y)
        >>> [(found.group, found.reason) for found in model.group_summary()]
        [(0, ''), (1, '')]
        """
        check_is_fitted(self, "threshold_")
        if self.groups is None:
            raise ValueError("There are no groups. Pass groups='prediction' or a column.")
        return summarize_groups(self)

    def certificate(self):
        """Return an object that watches the promise of `max_error` after deployment.

        Returns
        -------
        Certificate
            `certificate.update(y_true, answers)` takes note of true classes as they become
            known, and `certificate.holds` says whether the promise still holds, at any time.
        """
        check_is_fitted(self, "threshold_")
        if math.isnan(self.certified_error_):
            raise ValueError(
                "There is no promise to watch. Pass max_error, and enough rows to promise it; "
                "other promises are not watched."
            )
        thresholds = getattr(self, "group_thresholds_", None)
        return Certificate(
            self.max_error,
            self.confidence_level,
            choose_reject_label(self.reject_label, self.classes_),
            # Groups that are refused as a whole have no answers to watch.
            None if thresholds is None else self.groups_[thresholds < math.inf],
        )

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
