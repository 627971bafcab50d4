"""LinearBayesPointClassifier: a Gaussian belief about the weights, updated by data."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state, compute_class_weight
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from .._runtime.sample_weight import check_sample_weight
from .._runtime.threads import one_blas_thread
from .._runtime.warn import warn
from ..fitting.probabilities import two_classes
from ..geometry.kernels import canonical
from ..solvers.weights import multiclass
from ..solvers.weights.linear import (
    BLOCK,
    Belief,
    FactorizedRows,
    Fit,
    FullRows,
    Rows,
    Scale,
    entries,
    even_blocks,
    growing_blocks,
    independent,
    iterate,
    outputs,
)

AnyRows = FullRows | FactorizedRows | multiclass.FullRows | multiclass.FactorizedRows

# covariance="auto" is "full" up to so many weights; in a stream every batch takes their cube.
MODERATE = 500
MODERATE_IN_STREAM = 100
# The prior variance of the intercept, in units of the noise and of prior outputs (for features
# of unit length where the user fixes the prior).
WIDE = 100.0
# A full covariance of many rows starts from what so many of them say, or so many times the
# number of weights, to this tolerance.
FEW_ROWS = 2000
ROWS_PER_WEIGHT = 20
QUICK = 0.1
# Means that are shorter than this share of a prior deviation have collapsed.
SHORTEST = 1e-3
INSEPARABLE = (
    "noise_variance=0 asks for weights that classify all training points as labeled, but there "
    "seem to be none. Raise noise_variance; 1.0 is the default."
)


class LinearBayesPointClassifier(ClassifierMixin, BaseEstimator):
    """Classify by the mean of all linear classifiers, weighted by the data.

    Weights are Gaussian, w ~ N(0, prior_variance), and so is what is known about them
    after training, by expectation propagation. P(y = 1 | x, w) is
    Phi(<w, x> / sqrt(noise_variance)). With more than two classes each has a score
    <w_c, x>, and noise on it; the largest wins, and the w_c sum to zero. For many rows and
    features, dense or sparse, and for data that arrive piece by piece.

    Parameters
    ----------
    prior_variance : "auto" or float, default="auto"
        Variance of each weight before training. More lets weights grow. "auto" chooses it
        by its evidence, in units of the root mean square of the entries of each feature
        that are not zero, so that features need not be scaled.
    noise_variance : float, default=1.0
        Variance of the noise on outputs. 0 insists on classifying all training points
        correctly, and is an error where no weights do. Only its ratio to `prior_variance`
        matters for predictions.
    covariance : {"auto", "full", "factorized"}, default="auto"
        "full" knows how weights are correlated: O(n d^2) a sweep for n rows and d features,
        8 d^2 bytes, and a handful of sweeps. "factorized" takes weights to be
        independent: O(nnz) a sweep for nnz entries that are not zero, 16 bytes for each of
        them while training. With C > 2 classes there are C - 1 times as many weights.
        "auto" is "full" up to 500 weights, in a stream, where every batch takes O(d^3), up
        to 100.
    fit_intercept : bool, default=True
        Add a weight for a constant, with a wide prior of its own.
    max_iter : int, default=100
        Upper limit on the sweeps over the training points.
    tol : float, default=0.05
        Stop when a sweep moves the weights by less than this, in posterior standard
        deviations (root mean square).
    batch_sweeps : int, default=1
        Sweeps of `partial_fit` over its rows. Up to 2000 of the first, which choose an "auto"
        `prior_variance`, are swept up to `max_iter` times.
    forgetting : float, default=0.0
        Share of what was learned that is forgotten before each `partial_fit`, for data
        that drift.
    class_weight : dict, "balanced" or None, default=None
        How often the rows of each class count.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Means of the weights; of the second class if there are two.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Means of the intercepts.
    coef_variance_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Variances of the weights.
    coef_covariance_ : ndarray of shape (n_weights, n_weights)
        Covariance of all weights, class by class, the intercept of each last; only with
        "full".
    prior_variance_ : ndarray of shape (n_features,) or (n_features + 1,)
        Variance of each weight before training, the intercept last. With more than two
        classes it is that of (w_i - w_j) / sqrt(2) for any two of them.
    covariance_ : str
        "full" or "factorized".
    log_evidence_ : float
        log p(y | X). After `partial_fit` that of the last rows, given what came before; with
        one sweep the sum of the logarithms of probabilities that rows got before they were
        learned.
    n_iter_ : int
        Sweeps.
    n_samples_seen_ : float
        Rows learned from, by their weight, less what was forgotten.
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
        self._validate_params()
        X, y = self._check_training_data(X, y, reset=True)
        self.classes_ = np.unique(y)
        X, signs, weight = self._labeled(X, y, sample_weight)
        if len(np.unique(signs)) < len(self.classes_):
            raise ValueError("A class of y has no row of positive weight.")
        with one_blas_thread(), self._separable():
            rows = partial(self._some_rows, X, signs, weight)
            found = self._learn(len(signs), self._sums(X, weight), rows)
        self._store(found, float(weight.sum()))
        return self

    def partial_fit(self, X, y, classes=None, sample_weight=None):
        """Learn from more training points: what is known becomes the prior.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training points.
        y : array-like of shape (n_samples,)
            Their classes.
        classes : array-like of shape (n_classes,), default=None
            All classes; needed in the first call, unless all are in y.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each point counts. If often, raise `batch_sweeps`: a single sweep takes
            such points for more certain than they are.

        Returns
        -------
        self : LinearBayesPointClassifier
            The classifier.
        """
        self._validate_params()
        first = not hasattr(self, "coef_")  # classes_ may be left from a call that failed
        X, y = self._check_training_data(X, y, reset=first, classes=classes)
        if first:
            self.classes_ = np.unique(y if classes is None else classes)
        elif classes is not None and not np.array_equal(np.unique(classes), self.classes_):
            raise ValueError(
                f"classes should be those of the first call, {self.classes_}, but are {classes}."
            )
        if not first and len(self.prior_variance_) != X.shape[1] + self.fit_intercept:
            raise ValueError(
                "fit_intercept should stay what it was in the first call, "
                f"{not self.fit_intercept}, but is {self.fit_intercept}."
            )
        X, signs, weight = self._labeled(X, y, sample_weight)
        with one_blas_thread(), self._separable():
            scale = None
            if first:
                scale = self._set_prior(*self._sums(X, weight), moderate=MODERATE_IN_STREAM)
            n_known = 0.0 if first else (1 - self.forgetting) * self.n_samples_seen_
            belief = self._prior() if first else self._forget()
            if scale is None:
                found = self._learn_more(belief, n_known, X, signs, weight)
            else:
                found = self._learn_first(belief, scale, X, signs, weight)
        self._store(found, n_known + float(weight.sum()))
        return self

    def decision_function(self, X):
        """Return the mean output in units of its standard deviation, noise included.

        With more than two classes, the output of each class against the others that has
        its probability: Phi(decision) is that of the class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Points.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Positive for the second class if there are two, else largest for the class that
            is predicted.
        """
        if len(self._fitted_classes()) > 2:
            return multiclass.decisions(self._log_probabilities(X))
        mean, variance = self._outputs(X)
        deviation = np.sqrt(variance + self.noise_variance)
        return mean / np.where(deviation > 0, deviation, 1.0)

    def decision_std(self, X):
        """Return the standard deviation of <w, x>, which more data would lower.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Points.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Standard deviations, without the noise.
        """
        return np.sqrt(self._outputs(X)[1])

    def predict_proba(self, X):
        """Return the probability of each class, averaged over all weights.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Points.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Probabilities in the order of `classes_`.
        """
        if len(self._fitted_classes()) > 2:
            return multiclass.probabilities(self._log_probabilities(X))
        return two_classes(self.decision_function(X))

    def predict(self, X, loss=None):
        """Return the class of each point.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Points.
        loss : array-like of shape (n_classes, n_classes), default=None
            What it costs, with the true class in rows and the decision in columns; the
            decision of the smallest expected cost is taken. The most probable class by
            default.

        Returns
        -------
        ndarray of shape (n_samples,)
            Class labels.
        """
        n_classes = len(self._fitted_classes())
        if loss is None:
            return self.classes_[np.argmax(self.predict_proba(X), axis=1)]
        loss = np.asarray(loss, dtype=float)
        if loss.shape != (n_classes, n_classes):
            raise ValueError(
                f"loss should have a row for each true class and a column for each decision, "
                f"shape {(n_classes, n_classes)}, but has shape {loss.shape}."
            )
        return self.classes_[np.argmin(self.predict_proba(X) @ loss, axis=1)]

    def sample_coef(self, n_samples=1, random_state=None):
        """Return weights drawn from the posterior.

        Parameters
        ----------
        n_samples : int, default=1
            Number of draws.
        random_state : int, RandomState instance or None, default=None
            Seed.

        Returns
        -------
        ndarray of shape (n_samples, n_weights) or (n_samples, n_classes, n_weights)
            Weights, the intercept last.
        """
        n_classes, belief = len(self._fitted_classes()), self._belief()
        rng = check_random_state(random_state)
        draws = belief.mean() + belief.scatter(rng.standard_normal((n_samples, len(belief.shift))))
        if n_classes == 2:
            return draws
        return multiclass.basis(n_classes) @ draws.reshape(n_samples, n_classes - 1, -1)

    def merge(self, other):
        """Return what both have learned, from different data and the same prior.

        Parameters
        ----------
        other : LinearBayesPointClassifier
            Fitted with the same parameters, classes and features.

        Returns
        -------
        LinearBayesPointClassifier
            A new classifier. What is multiplied are the contributions of the data: exact, as
            far as both are.
        """
        check_is_fitted(self)
        check_is_fitted(other)
        same = (
            np.array_equal(self.classes_, other.classes_)
            and np.array_equal(self.prior_variance_, other.prior_variance_)
            and self.covariance_ == other.covariance_
            and self.noise_variance == other.noise_variance
        )
        if not same:
            raise ValueError(
                "Classifiers should have the same classes, prior, noise and covariance to be "
                "merged, but these differ. Pass a number for prior_variance: "
                '"auto" depends on the data.'
            )
        mine, theirs, prior = self._belief(), other._belief(), self._prior()
        merged = type(self)(**self.get_params(deep=False))
        for name in ("classes_", "n_features_in_", "feature_names_in_"):
            if hasattr(self, name):
                setattr(merged, name, getattr(self, name))
        merged.prior_variance_, merged.covariance_ = self.prior_variance_, self.covariance_
        belief = mine.times(theirs).over(prior)
        evidence = self.log_evidence_ + other.log_evidence_
        found = Fit(belief, prior, evidence, 0.0, max(self.n_iter_, other.n_iter_))
        merged._store(found, self.n_samples_seen_ + other.n_samples_seen_)
        return merged

    @property
    def coef_variance_(self):
        """Variances of the weights."""
        n_classes, belief = len(self._fitted_classes()), self._belief()
        if n_classes == 2:
            variances = belief.variances()[None]
        else:
            variances = multiclass.class_variances(belief, n_classes)
        return variances[:, : self.n_features_in_]

    @property
    def coef_covariance_(self):
        """Covariance of all weights, class by class; only with "full"."""
        if getattr(self, "covariance_", None) != "full":
            raise AttributeError('Only a full covariance is one: pass covariance="full".')
        covariance = self._belief().covariance()
        if len(self.classes_) == 2:
            return covariance
        to_classes = np.kron(
            multiclass.basis(len(self.classes_)), np.eye(len(self.prior_variance_))
        )
        return to_classes @ covariance @ to_classes.T

    def _fitted_classes(self) -> np.ndarray:
        check_is_fitted(self)
        return self.classes_

    def _check_training_data(self, X, y, reset, classes=None):
        """Return validated points, CSR or dense, and labels."""
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64, reset=reset)
        if reset and classes is None:  # else y is compared with them
            check_classification_targets(y)
        return canonical(X), y

    def _labeled(self, X, y, sample_weight):
        """Return the rows that count, their labels, and how often they count.

        Labels are +1 and -1 for two classes, else numbers of classes.
        """
        if len(self.classes_) < 2:
            raise ValueError(
                "There should be at least two classes to tell apart, but there is "
                f"{f'one class: {self.classes_[0]!r}' if len(self.classes_) else 'no class'}."
            )
        target = np.searchsorted(self.classes_, y)
        unknown = self.classes_[np.minimum(target, len(self.classes_) - 1)] != y
        if np.any(unknown):
            raise ValueError(
                f"y should hold classes {self.classes_}, but holds {np.unique(y[unknown])}."
            )
        weight = check_sample_weight(sample_weight, X)
        if self.class_weight is not None:
            weight = (
                weight * compute_class_weight(self.class_weight, classes=self.classes_, y=y)[target]
            )
        labels, used = 2.0 * target - 1 if len(self.classes_) == 2 else target, weight > 0
        return (X, labels, weight) if used.all() else (X[used], labels[used], weight[used])

    def _sums(self, X, weight) -> tuple[np.ndarray, np.ndarray, float]:
        """Return what `column_sums` says, or its shape where nobody will look at it."""
        if self.prior_variance == "auto":
            return column_sums(X, weight)
        return np.zeros(X.shape[1]), np.zeros(X.shape[1]), float(weight.sum())

    def _set_prior(self, squares, counts, n: float, moderate: int = MODERATE) -> Scale | None:
        """Fix the kind of covariance and the prior, or what is known of it."""
        n_weights, n_outputs = len(squares) + self.fit_intercept, len(self.classes_) - 1
        self.covariance_ = self.covariance
        if self.covariance == "auto":
            self.covariance_ = "full" if n_weights * n_outputs <= moderate else "factorized"
        intercept = WIDE if self.fit_intercept else 0.0
        if self.prior_variance == "auto":
            # Of entries that are not zero: a rare feature need not have large weights.
            unit = np.divide(counts, squares, out=np.ones(len(squares)), where=squares > 0)
            unit /= squares @ unit / n or 1.0
            scale = Scale(unit, self.noise_variance, intercept, n_outputs)
            self.prior_variance_ = scale.variances()
            return scale
        self.prior_variance_ = np.full(n_weights, float(self.prior_variance))
        if self.fit_intercept:  # whatever the data are, so that classifiers can be merged
            self.prior_variance_[-1] = intercept * (self.noise_variance + self.prior_variance)
        return None

    def _learn(self, n_rows: int, sums, rows: Callable[[int], Rows]) -> Fit:
        """Learn from all rows, and choose the prior on the way.

        sums is what `_sums` says of them, and rows(n) gives n of them, all or few.
        """
        scale, start = self._set_prior(*sums), None
        few = max(FEW_ROWS, ROWS_PER_WEIGHT * len(self._prior().shift))
        if self.covariance_ == "full" and n_rows > 2 * few:
            found = iterate(rows(few), self._prior(), self.max_iter, QUICK, scale=scale)
            self._keep_prior(found)
            start = found.belief
        limits = self.max_iter, self.tol
        found = iterate(rows(n_rows), self._prior(), *limits, scale=scale, start=start)
        self._keep_prior(found)
        if found.change > self.tol:
            warn(
                f"The weights still moved by {found.change:.2g} standard deviations after "
                f"{found.n_iter} sweeps. Raise max_iter or tol.",
                ConvergenceWarning,
            )
        return found

    def _learn_first(self, belief: Belief, scale: Scale, X, signs, weight) -> Fit:
        """Learn from the first rows of a stream, of which a few choose the prior."""
        n = min(FEW_ROWS, len(signs))
        rows = self._some_rows(X, signs, weight, n)
        found = iterate(rows, belief, self.max_iter, self.tol, scale=scale)
        self._keep_prior(found)
        if n == len(signs):
            return found
        few = chosen(len(signs), n)
        n_known = float(weight[few].sum())
        more = self._learn_more(found.belief, n_known, X[~few], signs[~few], weight[~few])
        return found._replace(
            belief=more.belief, log_evidence=found.log_evidence + more.log_evidence
        )

    def _learn_more(self, belief: Belief, n_known: float, X, signs, weight) -> Fit:
        """Learn from rows that are not looked at again."""
        rows = self._rows(X, signs, weight, n_known)
        if self.batch_sweeps == 1:
            return rows.learn_once(belief)
        return iterate(rows, belief, self.batch_sweeps, self.tol)

    @contextmanager
    def _separable(self) -> Iterator[None]:
        """Say why a fit without noise on outputs comes to nothing."""
        if self.noise_variance > 0:
            yield
            return
        try:
            with np.errstate(all="ignore"):
                yield
        except ValueError as error:
            if isinstance(error, np.linalg.LinAlgError) or "infs or NaNs" in str(error):
                raise ValueError(INSEPARABLE) from None
            raise

    def _has_length(self, belief: Belief) -> bool:
        """Tell whether the mean is as long as weights of a version space are.

        However narrow it is, they have the length that the prior gives them.
        """
        with np.errstate(all="ignore"):
            length = np.linalg.norm(belief.mean() / np.sqrt(self._prior().variances()))
        return bool(np.isfinite(length) and length > SHORTEST)

    def _some_rows(self, X, signs, weight, n: int) -> Rows:
        """Return n of the rows with their sites."""
        if n < len(signs):
            some = chosen(len(signs), n)
            X, signs, weight = X[some], signs[some], weight[some]
        return self._rows(X, signs, weight)

    def _keep_prior(self, found: Fit) -> None:
        self.prior_variance_ = found.prior.variances()[: len(self.prior_variance_)]

    def _prior(self) -> Belief:
        variances = np.tile(self.prior_variance_, len(self.classes_) - 1)
        return independent(variances, self.covariance_ == "full")

    def _belief(self) -> Belief:
        return Belief(self._precision, self._shift)

    def _forget(self) -> Belief:
        """Return what is known, moved toward the prior."""
        kept = self._belief().to_the(1 - self.forgetting)
        return kept.times(self._prior().to_the(self.forgetting))

    def _rows(self, X, labels, weight, n_known: float | None = None) -> AnyRows:
        """Return rows with their sites; made for a single sweep if it is told what is known."""
        n_classes, full = len(self.classes_), self.covariance_ == "full"
        last: Any = self.fit_intercept
        if full and n_known is None:
            last = even_blocks(len(labels), len(self.prior_variance_) * (n_classes - 1))
        elif full:
            known_rows = (n_known or 0.0) * len(labels) / (weight.sum() or 1.0)
            last = growing_blocks(len(labels), known_rows)
        elif not sparse.issparse(X):
            X = sparse.csr_array(X)
        if n_classes == 2:
            two = FullRows if full else FactorizedRows
            return two(X, labels, weight, self.noise_variance, last)
        more = multiclass.FullRows if full else multiclass.FactorizedRows
        noise = multiclass.some_noise(self.noise_variance, X, self.prior_variance_)
        return more(X, labels, weight, noise, n_classes, last)

    def _store(self, found: Fit, n_samples_seen: float) -> None:
        """Keep what predictions and later updates need, as plain arrays and numbers."""
        if self.noise_variance == 0 and not (
            np.isfinite(found.log_evidence) and self._has_length(found.belief)
        ):
            raise ValueError(INSEPARABLE)
        self._precision, self._shift = found.belief
        n_classes, d = len(self.classes_), self.n_features_in_
        if n_classes == 2:
            means = found.belief.mean()[None]
        else:
            means = multiclass.class_means(found.belief, n_classes)
        self.coef_ = means[:, :d]
        self.intercept_ = means[:, d] if self.fit_intercept else np.zeros(len(means))
        self.log_evidence_ = found.log_evidence
        self.n_iter_ = found.n_iter
        self.n_samples_seen_ = n_samples_seen

    def _outputs(self, X) -> tuple[np.ndarray, np.ndarray]:
        """Return mean and variance of the outputs, or of the scores of all classes."""
        n_classes, X = len(self._fitted_classes()), self._check_points(X)
        with one_blas_thread():  # products of parts: others would wait for each other
            if n_classes == 2:
                return outputs(X, self._belief())
            return multiclass.outputs(X, self._belief(), n_classes)

    def _log_probabilities(self, X) -> np.ndarray:
        X, belief, n_classes = self._check_points(X), self._belief(), len(self.classes_)
        with one_blas_thread():
            return multiclass.log_probabilities(X, belief, n_classes, self.noise_variance)

    def _check_points(self, X):
        return canonical(validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def chosen(n_rows: int, n: int) -> np.ndarray:
    """Return a mask of n rows, always the same: nothing else is random."""
    mask = np.zeros(n_rows, dtype=bool)
    mask[np.random.default_rng(n).choice(n_rows, n, replace=False)] = True
    return mask


def column_sums(X, weight) -> tuple[np.ndarray, np.ndarray, float]:
    """Return the sum of squares and the number of entries of each feature, and that of rows."""
    squares, counts = np.zeros(X.shape[1]), np.zeros(X.shape[1])
    if sparse.issparse(X):
        from .._jit.linear import column_sums as add_entries

        add_entries(*entries(X), weight, squares, counts)
    else:
        for start in range(0, X.shape[0], BLOCK):
            block, here = X[start : start + BLOCK], weight[start : start + BLOCK]
            squares += here @ block**2
            counts += here @ (block != 0)
    return squares, counts, max(float(weight.sum()), np.finfo(float).tiny)
