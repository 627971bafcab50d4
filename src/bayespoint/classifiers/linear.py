"""LinearBayesPointClassifier: a Gaussian belief about the weights, updated by data."""

from __future__ import annotations

import time
from numbers import Integral, Real

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from .._runtime.old_pickles import OldPickles
from ..fitting.weights_fit import (
    Learned,
    Settings,
    TrainingRows,
    learn_all,
    learn_first,
    learn_more,
    require_separation,
    warn_if_stopped,
)
from ..solvers.watch import watching
from ..solvers.weights.belief import Belief
from ..solvers.weights.merging import merge as merge_beliefs
from ..solvers.weights.model import LinearModel
from ..solvers.weights.rows import Fit
from ._gaussian_weights import from_center
from ._linear_novelty import LinearNoveltyMixin, joined, known_rows, with_more_rows
from ._training_data import check_training_data, label_rows, require_all_classes


class LinearBayesPointClassifier(LinearNoveltyMixin, OldPickles, ClassifierMixin, BaseEstimator):
    """Classify by the mean of all linear classifiers, weighted by the data.

    Weights have the prior w ~ N(0, prior_variance), and P(y = 1 | x, w) is
    Phi(<w, x> / sqrt(noise_variance)). Expectation propagation approximates the posterior by
    another Gaussian. With more than two classes, each class has a score <w_c, x> with noise on
    it. The largest score wins, and the w_c sum to zero. This classifier is made for many rows
    and features, dense or sparse, and for data that arrive in batches.

    Parameters
    ----------
    prior_variance : "auto" or float, default="auto"
        Variance of each weight before training. More lets weights grow. "auto" chooses it by
        its evidence, for features in units of their scale. A number is the variance for
        features as they come; with `standardize=True`, for features in units of their scale.
    noise_variance : float, default=1.0
        Variance of the noise on outputs. 0 insists on classifying all training points
        correctly, and raises an error if no weights do. Only the ratio of noise to
        `prior_variance` matters for predictions.
    covariance : {"auto", "full", "factorized"}, default="auto"
        "full" knows how weights are correlated: a few sweeps of O(n d^2) each for n rows and d
        features, and 8 d^2 bytes. "factorized" treats weights as independent: O(nnz) per
        sweep for nnz nonzero entries, and 16 bytes for each of them while training. With
        C > 2 classes there are C - 1 times as many weights. "auto" is "full" up to 500
        weights, with C > 2 and at most 2000 rows up to 1300; in a stream, where every batch
        takes O(d^3), up to 100.
    fit_intercept : bool, default=True
        Add a weight for a constant, with a wide prior of its own.
    max_iter : int, default=100
        Upper limit on the sweeps over the training points.
    tol : float, default=0.05
        Stop when a sweep moves the weights by less than this, in posterior standard
        deviations (root mean square).
    batch_sweeps : int, default=1
        Sweeps of `partial_fit` over its rows. An "auto" `prior_variance` is chosen from up to
        2000 rows of the first batch, in up to `max_iter` sweeps.
    forgetting : float, default=0.0
        Share of the learned information that each `partial_fit` forgets first, for data
        that drift.
    class_weight : dict, "balanced" or None, default=None
        How often the rows of each class count. "balanced" gives all classes the same total
        weight; `partial_fit` refuses it, because it does not know rows to come.
    standardize : "auto" or bool, default="auto"
        Measure features from their center and in units of their scale, so that neither matters.
        The center is the mean and the scale the standard deviation; if more than half of the
        rows share a value, the center is this value, and the scale is the root mean square
        distance of the other rows from it (of all rows, if there are more than 1000 rows for
        each feature). So sparse features stay sparse. Without an
        intercept, the center is zero. "auto" uses the scale only if `prior_variance` is "auto".
        False never moves the center. A stream keeps what its first batch shows, so begin with
        a hundred rows or more; features that do not vary there wait until they do.
    max_time : float, default=None
        Stop a call of `fit` or `partial_fit` after this many seconds, with the best answer so
        far and a warning, as Ctrl-C does. If a sample shows that the time is too short for `fit`
        to converge, rows are learned once, in mixed order, as many as possible.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Means of the weights; with two classes, for the second class.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Means of the intercepts.
    coef_variance_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Variances of the weights.
    coef_covariance_ : ndarray of shape (n_weights, n_weights)
        Covariance of all weights, class by class, the intercept of each last; only with
        "full".
    prior_variance_ : ndarray of shape (n_features,) or (n_features + 1,)
        Variance of each weight before training, the output at the center last. With more than
        two classes, the variance of (w_i - w_j) / sqrt(2) for any two of them. Tiny for
        features that have not varied, which predictions ignore.
    center_ : ndarray of shape (n_features,)
        Centers of the features.
    scale_ : ndarray of shape (n_features,)
        Scales of the features; NaN if they have not varied.
    covariance_ : str
        "full" or "factorized".
    log_evidence_ : float
        log p(y | X); NaN if the fit was stopped. After `partial_fit`, of the last rows given all
        earlier rows; with one sweep, the sum of the log probabilities of the labels, each before
        its row was learned.
    n_iter_ : int
        Number of sweeps.
    n_samples_seen_ : float
        Total weight of the rows learned from, minus the forgotten weight.
    n_rows_learned_ : int
        Number of rows that the last call learned from: all, unless it was stopped.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X had them.

    References
    ----------
    Minka (2001), A family of algorithms for approximate Bayesian inference, MIT.
    Graepel, Candela, Borchert, Herbrich (2010), Web-scale Bayesian click-through rate
    prediction for sponsored search advertising in Microsoft's Bing search engine, ICML.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from bayespoint import LinearBayesPointClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = LinearBayesPointClassifier().fit(X, y)
    >>> model.predict(X[:3])
    array([0, 0, 0])
    """

    _parameter_constraints = {
        "prior_variance": [StrOptions({"auto"}), Interval(Real, 0, None, closed="neither")],
        "noise_variance": [Interval(Real, 0, None, closed="left")],
        "covariance": [StrOptions({"auto", "full", "factorized"})],
        "fit_intercept": ["boolean"],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "batch_sweeps": [Interval(Integral, 1, None, closed="left")],
        "forgetting": [Interval(Real, 0, 1, closed="both")],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "standardize": [StrOptions({"auto"}), "boolean"],
        "max_time": [Interval(Real, 0, None, closed="right"), None],
    }

    def __init__(
        self,
        *,
        prior_variance="auto",
        noise_variance=1.0,
        covariance="auto",
        fit_intercept=True,
        max_iter=100,
        tol=0.05,
        batch_sweeps=1,
        forgetting=0.0,
        class_weight=None,
        standardize="auto",
        max_time=None,
    ):
        self.prior_variance = prior_variance
        self.noise_variance = noise_variance
        self.covariance = covariance
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.batch_sweeps = batch_sweeps
        self.forgetting = forgetting
        self.class_weight = class_weight
        self.standardize = standardize
        self.max_time = max_time

    def fit(self, X, y, sample_weight=None):
        """Learn from all training points.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training points.
        y : array-like of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each point counts.

        Returns
        -------
        self : LinearBayesPointClassifier
            The fitted classifier.
        """
        began = time.perf_counter()
        check_parameters(self)
        X, y = check_training_data(self, X, y)
        self.classes_ = np.unique(y)
        table = label_rows(X, y, sample_weight, self.classes_, self.class_weight)
        require_all_classes(table.labels, self.classes_)
        learn_rows(self, table, began)
        self._known_rows = known_rows(self, table)
        return self

    def partial_fit(self, X, y, classes=None, sample_weight=None):
        """Learn from more training points: the posterior becomes the prior.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training points.
        y : array-like of shape (n_samples,)
            Their classes.
        classes : array-like of shape (n_classes,), default=None
            All classes; needed in the first call, unless all are in y.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each point counts. Raise `batch_sweeps` if some count more than once:
            a single sweep is too certain about them.

        Returns
        -------
        self : LinearBayesPointClassifier
            The classifier.
        """
        began = time.perf_counter()
        check_parameters(self)
        if self.class_weight == "balanced":
            raise ValueError(
                'class_weight="balanced" needs all rows, but partial_fit knows only a part of '
                "them. Pass a dict: compute_class_weight of scikit-learn gives the weights for "
                "a sample of the labels."
            )
        first = not hasattr(self, "coef_")  # classes_ may be left from a call that failed
        X, y = check_training_data(self, X, y, reset=first, classes=classes)
        if first:
            self.classes_ = np.unique(y if classes is None else classes)
        else:
            self._require_same_model(X.shape[1], classes)
        table = label_rows(X, y, sample_weight, self.classes_, self.class_weight)
        before = None if first else self.__dict__.get("_known_rows")
        n_known = 0.0 if first else (1 - self.forgetting) * self.n_samples_seen_
        with watching(began + (self.max_time or np.inf), None) as watch:
            if first:
                learned = learn_first(self._settings(), table, watch)
            else:
                given = self._model(), self._forget(), n_known
                learned = learn_more(self._settings(), *given, table, watch)
        self._store(learned, table, n_known)
        if first or before is not None:
            self._known_rows = with_more_rows(self, before, table)
        return self

    def merge(self, other):
        """Return a classifier that joins what two learned from different data.

        Parameters
        ----------
        other : LinearBayesPointClassifier
            Fitted with the same parameters, classes and features.

        Returns
        -------
        LinearBayesPointClassifier
            A new classifier. It multiplies the contributions of the data, and is as exact as
            the two classifiers are. It keeps the center and the prior of this classifier; a
            feature that did not vary here gets the prior of the other one. If the other one has
            another center and weights are independent, it is the closest approximation. With
            another prior, which prior_variance="auto" chose, `log_evidence_` is NaN.
        """
        check_is_fitted(self)
        check_is_fitted(other)
        same = (
            np.array_equal(self.classes_, other.classes_)
            and self.prior_variance_.shape == other.prior_variance_.shape
            and self.covariance_ == other.covariance_
            and all(
                getattr(self, name) == getattr(other, name)
                for name in ("prior_variance", "noise_variance", "standardize")
            )
        )
        if not same:
            raise ValueError(
                "Classifiers should have the same classes, prior, noise, covariance and features "
                "to be merged, but these differ. Fit both with the same prior_variance, "
                "noise_variance, covariance and standardize."
            )
        model, theirs = self._model(), other._model()
        same_prior = np.array_equal(model.prior_variances, theirs.prior_variances)
        belief, factor = model.said_by_rows(self._belief()), theirs.said_by_rows(other._belief())
        model = model.with_units_of(theirs)
        shift = theirs.center - model.center
        belief = merge_beliefs(belief.times(model.prior()), factor, shift, model.n_classes - 1)
        evidence = self.log_evidence_ + other.log_evidence_ if same_prior else np.nan
        fit = Fit(belief, model.prior(), evidence, 0.0, max(self.n_iter_, other.n_iter_))
        merged = type(self)(**self.get_params(deep=False))
        for name in ("classes_", "n_features_in_", "feature_names_in_"):
            if hasattr(self, name):
                setattr(merged, name, getattr(self, name))
        merged._keep(Learned(model, fit), self.n_samples_seen_ + other.n_samples_seen_)
        mine, their = (m.__dict__.get("_known_rows") for m in (self, other))
        if mine is not None and their is not None:
            merged._known_rows = joined(mine, their, merged.center_)
        return merged

    def _settings(self) -> Settings:
        """Return the parameters that a fit depends on."""
        return Settings(
            len(self.classes_),
            self.prior_variance,
            self.noise_variance,
            self.covariance,
            self.fit_intercept,
            self.max_iter,
            self.tol,
            self.batch_sweeps,
            self.standardize,
        )

    def _model(self) -> LinearModel:
        """Return the model that was fitted."""
        full = self.covariance_ == "full"
        features = self.prior_variance_, self.center_, self.scale_
        return LinearModel(
            len(self.classes_), self.noise_variance, full, self.fit_intercept, *features
        )

    def _forget(self) -> Belief:
        """Return the posterior, moved toward the prior."""
        kept = self._belief().to_the(1 - self.forgetting)
        return kept.times(self._model().prior().to_the(self.forgetting))

    def _require_same_model(self, n_features: int, classes) -> None:
        """Raise an error if classes or weights differ from the first call."""
        if classes is not None and not np.array_equal(np.unique(classes), self.classes_):
            raise ValueError(
                f"classes should be as in the first call, {self.classes_}, but are {classes}."
            )
        if len(self.prior_variance_) != n_features + self.fit_intercept:
            raise ValueError(
                "fit_intercept should be as in the first call, "
                f"{not self.fit_intercept}, but is {self.fit_intercept}."
            )

    def _store(self, learned: Learned, rows: TrainingRows, n_known: float) -> None:
        """Keep what was learned from rows after others of total weight n_known."""
        require_separation(learned)
        share = learned.n_rows / max(rows.n_rows, 1)
        self._keep(learned, n_known + share * rows.total_weight)
        self.n_rows_learned_ = learned.n_rows
        warn_if_stopped(learned, rows.n_rows)

    def _keep(self, learned: Learned, n_samples_seen: float) -> None:
        """Keep what predictions and later updates need, as plain arrays and numbers."""
        model, fit, *_ = learned
        self.__dict__.pop("_known_rows", None)  # of an earlier fit
        self.covariance_ = "full" if model.full else "factorized"
        self.prior_variance_, self.center_, self.scale_ = model[-3:]
        self._precision, self._shift = fit.belief
        means = self._means()
        self.coef_ = means[:, : self.n_features_in_]
        self.intercept_ = from_center(means, self.center_)[:, self.n_features_in_ :].sum(axis=1)
        self.log_evidence_ = fit.log_evidence
        self.n_iter_ = fit.n_iter
        self.n_samples_seen_ = n_samples_seen

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def check_parameters(model: LinearBayesPointClassifier) -> None:
    """Raise an error if a parameter of a classifier is not valid."""
    model._validate_params()


def learn_rows(
    model: LinearBayesPointClassifier, rows: TrainingRows, began: float
) -> LinearBayesPointClassifier:
    """Fit a classifier that knows its classes and features to rows, here or on a cluster."""
    with watching(began + (model.max_time or np.inf), None) as watch:
        learned = learn_all(model._settings(), rows, watch)
    model._store(learned, rows, 0.0)
    return model
