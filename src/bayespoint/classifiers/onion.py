"""OnionClassifier: Bayes points with chosen numbers of training errors."""

from __future__ import annotations

import copy
from functools import partial
from numbers import Integral, Real

import numpy as np
from sklearn.model_selection import check_cv
from sklearn.utils import Bunch
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import (
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from .._runtime.sample_weight import check_sample_weight
from .._runtime.threads import one_blas_thread
from ..fitting.parameters import Settings, choose
from ..fitting.sampling import new_generator
from ..fitting.task import TrainingSet
from ..fitting.training_points import kernel_matrix
from ..geometry.equal_rows import EqualRows, keep_all_rows, merge_equal_rows
from ..geometry.kernels import Kernel
from ..geometry.problem import pose_problem
from ..geometry.version_space import VersionSpace
from ..solvers.onion import Layers, express, peel_onion
from ._kernel_machine import KernelMachine
from ._labels import number_classes, one_against_rest, require_labels


class OnionClassifier(KernelMachine):
    """Choose a Bayes point by the training errors it may make in each class.

    A single billiard runs in version space, and its rays are followed through the walls. This
    gives the mean of all hypotheses with n_negative errors on training points of the first class
    and n_positive errors on the second, for all small numbers of errors. Entry (0, 0) is the
    Bayes point. The other entries misclassify some training points, for noisy labels or unequal
    costs. Two classes only.

    Parameters
    ----------
    kernel, gamma, degree, coef0, fit_intercept, normalize
        As in `BayesPointClassifier`.
    softness : "auto" or float, default="auto"
        As in `BayesPointClassifier`, except that an indefinite kernel is an error. Errors are
        counted with this noise on the outputs, as in training; 0 gives 002's algorithm.
    errors : tuple (n_negative, n_positive) or "cv", default=(0, 0)
        The entry that predicts. "cv" takes the one with the smallest error in cross-validation
        (in a tie, the one with the fewest training errors), and costs one more run for each
        fold. Entries differ little: with 120 training points of four data sets this choice was
        no better than (0, 0).
    max_errors : int, default=5
        The table goes up to this number of errors in each class. A bounce costs O(max_errors)
        vector operations, and rays rarely meet entries with many errors.
    cv : int, cross-validation generator or iterable, default=5
        Folds for errors="cv". Parameters of the kernel that depend on the data, like
        gamma and softness, are chosen on all training points.
    n_bounces : int, default=100_000
        Bounces of all eight balls together. The error (`table_.angle`) falls with the square
        root of their number.
    random_state : int, RandomState instance or None, default=None
        Seed of the billiard; pass an int for the same answer every time.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The class labels: errors on the first are negative errors, on the second positive.
    errors_ : tuple (n_negative, n_positive)
        The entry that predicts; None after `weigh`.
    weights_ : ndarray of shape (max_errors + 1, max_errors + 1)
        The weights of the entries after `weigh`, otherwise None.
    table_ : Bunch
        Arrays of shape (max_errors + 1, max_errors + 1), by n_negative and n_positive:
        `time_share` (share of the rays' length, zero if no ray came), `angle` (estimated error of
        the direction in radians, infinite if too few rays came), `resultant` (length of the mean
        of the unit hypotheses), `margin` (smallest training margin of the mean, scaled to unit
        length), `negative_errors`, `positive_errors` (training errors of the mean itself, -1 if
        there is no mean) and, with errors="cv", `cv_error`. Resultant and margin are NaN for
        entries that were never met.
    coef_ : ndarray of shape (max_errors + 1, max_errors + 1, n_support)
        Coefficients of the mean hypotheses on `support_vectors_`, NaN if never met.
    support_ : ndarray of shape (n_support,)
        Indices of the training points that have coefficients.
    support_vectors_ : array of shape (n_support, n_features)
        These points; without columns for a precomputed kernel.
    softness_, gamma_, constant_ : float
        Values that were used; `constant_` is the constant term of the kernel.
    origin_ : ndarray
        The point from which the kernels linear (with an intercept) and rbf measure.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X had them.

    Notes
    -----
    The mean of an entry weights each hypothesis by the solid angle of version space as seen from
    it. It may make other errors than its hypotheses: see `solvers.onion`. Memory is 32 m^2 bytes
    for m training points, as for the billiard.

    The walls of version space are hard: a row is there or not. Equal rows of the same class are one
    row and one error, except in a precomputed kernel. So any positive weight counts as one,
    and there are no class weights; `errors` makes classes unequal.

    References
    ----------
    Ruján, Marchand (2000), Computing the Bayes Kernel Classifier, in: Advances in Large
    Margin Classifiers, MIT Press, sec. 18.5.3.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from bayespoint import OnionClassifier
    >>> X, y = make_moons(100, noise=0.2, random_state=0)
    >>> model = OnionClassifier(softness=0.1, max_errors=2, random_state=0).fit(X, y)
    >>> model.table_.time_share.shape
    (3, 3)
    >>> model.classifier(1, 2).predict(X[:3])
    array([0, 1, 0])
    """

    errors_: tuple[int, int] | None
    _parameter_constraints = {
        **KernelMachine._parameter_constraints,
        "softness": [StrOptions({"auto"}), Interval(Real, 0, None, closed="left")],
        "errors": [StrOptions({"cv"}), tuple, list],
        "max_errors": [Interval(Integral, 0, None, closed="left")],
        "cv": ["cv_object"],
        "n_bounces": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        kernel="rbf",
        *,
        gamma="auto",
        degree=3,
        coef0=1.0,
        fit_intercept=True,
        normalize=False,
        softness="auto",
        errors=(0, 0),
        max_errors=5,
        cv=5,
        n_bounces=100_000,
        random_state=None,
    ):
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.fit_intercept = fit_intercept
        self.normalize = normalize
        self.softness = softness
        self.errors = errors
        self.max_errors = max_errors
        self.cv = cv
        self.n_bounces = n_bounces
        self.random_state = random_state

    def fit(self, X, y, sample_weight=None):
        """Sample version space and the layers around it.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training points; the kernel matrix for a precomputed kernel.
        y : array-like of shape (n_samples,)
            Their classes, exactly two.
        sample_weight : array-like of shape (n_samples,), default=None
            Zero leaves out a row. Any positive weight counts as one; a negative one is an error.

        Returns
        -------
        self : OnionClassifier
            The fitted classifier.
        """
        self._validate_params()
        X, y, sets = self._check_training_data(X, y, sample_weight)
        signs = y[sets.first]
        rng = new_generator(self.random_state)
        with one_blas_thread():
            kernel, softness = self._choose(X, signs)
            matrix = kernel_matrix(kernel, X)
            rows, space, layers = self._peel(matrix, signs, softness, rng)
            self._store(X, kernel, rows, space, layers)
            wrong = self._count_errors(self._training_outputs(matrix), signs)
            self.table_.negative_errors, self.table_.positive_errors = wrong
            entry = self.errors
            if entry == "cv":
                self.table_.cv_error = self._cross_validate(matrix, y, sets.member_of, rng)
                entry = self._best(self.table_.cv_error)
        self.support_ = sets.first[self.support_]
        self.errors_, self.weights_ = self._check_entry(entry), None
        return self

    def classifier(self, n_negative, n_positive):
        """Return this classifier with another entry of the table chosen.

        Parameters
        ----------
        n_negative, n_positive : int
            Errors on training points of the first and of the second class.

        Returns
        -------
        OnionClassifier
            Fitted; it shares its arrays with this one.
        """
        check_is_fitted(self)
        entry = self._check_entry((n_negative, n_positive))
        other = copy.copy(self)
        other.errors = other.errors_ = entry
        other.weights_ = None
        return other

    def weigh(self, weights):
        """Return this classifier with a mean over all entries of the table.

        002 tries different weights of the entries after one run of the billiard (sec. 18.5.3).

        Parameters
        ----------
        weights : array-like of shape (max_errors + 1, max_errors + 1)
            Posterior weight of a hypothesis with n_negative and n_positive errors, not
            negative; `ratio ** (i + j)` with `i, j = np.indices(shape)` is label noise, where
            each error lowers the posterior by a factor (000, eq. 4).

        Returns
        -------
        OnionClassifier
            Fitted; it shares its arrays with this one. Its `errors_` is None. An entry counts
            with its weight times its `table_.time_share`, so that entries without rays are
            left out.
        """
        check_is_fitted(self)
        weights, shape = np.asarray(weights, dtype=float), self.table_.time_share.shape
        valid = weights.shape == shape and np.all((weights >= 0) & (weights < np.inf))
        if not valid or not np.any(weights * self.table_.time_share > 0):
            raise ValueError(
                f"weights should have shape {shape}, be finite and not negative, and be positive "
                f"for an entry with a positive table_.time_share, but are {weights.tolist()}."
            )
        other = copy.copy(self)
        other.errors_, other.weights_ = None, weights
        return other

    def count_errors(self, X, y):
        """Return the errors that every entry of the table makes (002, table 18.1).

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Points; for a precomputed kernel their kernel with the training points.
        y : array-like of shape (n_samples,)
            Their classes.

        Returns
        -------
        negative, positive : ndarray of shape (max_errors + 1, max_errors + 1)
            Errors on points of the first and of the second class, -1 for entries that
            were never met.
        """
        check_is_fitted(self)
        y = column_or_1d(y)
        check_consistent_length(X, y)
        unknown = np.setdiff1d(y, self.classes_)
        if unknown.size:
            raise ValueError(f"y should hold classes {self.classes_}, but holds {unknown}.")
        signs = np.where(y == self.classes_[1], 1, -1)
        flat = self.coef_.reshape(-1, self.coef_.shape[-1])
        return self._count_errors(self._outputs(X, flat), signs)

    def _check_training_data(self, X, y, sample_weight) -> tuple[np.ndarray, np.ndarray, EqualRows]:
        """Return the distinct points, labels +1 and -1 of all rows, and the sets of equal rows."""
        require_labels(y)
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
        if (kind := type_of_target(y, input_name="y", raise_unknown=True)) == "multiclass":
            raise ValueError(
                f"Only binary classification is supported. The type of the target is {kind}."
            )
        self.classes_, target = number_classes(y)
        X, weight = self._check_points(X), check_sample_weight(sample_weight, X)
        number_classes(y[weight > 0])  # also without rows of weight zero there must be two
        signs = one_against_rest(target, 2)[0]
        if self.kernel == "precomputed":
            sets = keep_all_rows(weight)
            return X[np.ix_(sets.first, sets.first)], signs, sets
        sets = merge_equal_rows(X, target, weight)
        return X[sets.first], signs, sets

    def _choose(self, X, signs) -> tuple[Kernel, float]:
        """Return the kernel and the softness that the user fixed or the labels chose."""
        given = Settings(self._given_gamma(), self.fit_intercept, self.softness, 0.0)
        kernel_for = partial(self._settle_kernel, X)
        data = TrainingSet(X, signs, signs[None], self.kernel, kernel_for)
        best = choose(data, given, lambda seconds: False).best
        return kernel_for(best.gamma, best.fit_intercept), best.softness

    def _decide(self, X):
        check_is_fitted(self)
        return self._outputs(X, self._predicting_coef()[None])

    def _predicting_coef(self) -> np.ndarray:
        """Return the coefficients of the entry that predicts, or of the mean over entries."""
        if self.errors_ is not None:
            return self.coef_[self.errors_]
        shares = self.weights_ * self.table_.time_share
        used = shares > 0
        return shares[used] @ self.coef_[used] / shares.sum()

    def _peel(self, matrix, signs, softness, rng) -> tuple[np.ndarray, VersionSpace, Layers]:
        """Return the training points that were used, their version space and its layers."""
        rows, (space,) = pose_problem(matrix, np.arange(len(matrix)), signs[None], softness)
        limits = {"n_bounces": self.n_bounces, "max_errors": self.max_errors}
        return rows, space, peel_onion(space, space.enter(rng), rng, **limits)

    def _store(self, X, kernel: Kernel, rows, space: VersionSpace, layers: Layers) -> None:
        """Store what predictions need, as plain arrays and numbers."""
        means = layers.means()
        self.support_, self.coef_ = express(rows, space, means)
        self.softness_ = space.gram.softness
        self._store_kernel(X, kernel)
        resultant = np.linalg.norm(means, axis=-1)
        self.table_ = Bunch(
            time_share=layers.times.sum(axis=0) / layers.length,
            angle=layers.angles(),
            resultant=resultant,
            margin=space.margins(means).min(axis=-1) / resultant,
        )

    def _outputs(self, X, coef):
        """Return the outputs of hypotheses, one in each column, at points of unit length."""
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        return np.concatenate(list(self._kernel_outputs(X, np.ascontiguousarray(coef.T))))

    def _training_outputs(self, matrix):
        """Return the outputs of all entries at the training points, not divided by length."""
        return matrix[:, self.support_] @ self.coef_.reshape(-1, len(self.support_)).T

    def _count_errors(self, outputs, signs) -> tuple[np.ndarray, np.ndarray]:
        """Count wrong signs of the outputs of all entries, in the first and second class."""
        shape = (self.max_errors + 1, self.max_errors + 1)
        met = ~np.isnan(outputs[0])
        wrong = (outputs > 0) != (signs > 0)[:, None]
        counts = (np.where(met, wrong[signs == sign].sum(axis=0), -1) for sign in (-1, 1))
        negative, positive = (count.reshape(shape) for count in counts)
        return negative, positive

    def _cross_validate(self, matrix, y, member_of, rng) -> np.ndarray:
        """Return the error of every entry on left-out rows; member_of is their row in matrix."""
        total, n_points = np.zeros((self.max_errors + 1, self.max_errors + 1)), 0
        signs = np.zeros(len(matrix), y.dtype)
        signs[member_of[member_of >= 0]] = y[member_of >= 0]
        for fold in check_cv(self.cv, y, classifier=True).split(np.zeros((len(y), 1)), y):
            train, test = (members[members >= 0] for members in (member_of[part] for part in fold))
            train = np.unique(train)
            if len(np.unique(signs[train])) < 2:
                raise ValueError(
                    "Every fold of cv should leave points of both classes to train on; "
                    "pass fewer folds, or more points."
                )
            part = matrix[np.ix_(train, train)]
            rows, space, layers = self._peel(part, signs[train], self.softness_, rng)
            support, coef = express(train[rows], space, layers.means())
            out = matrix[np.ix_(test, support)] @ coef.reshape(-1, len(support)).T
            negative, positive = self._count_errors(out, signs[test])
            total += np.where(negative < 0, np.nan, negative + positive)
            n_points += len(test)
        return total / n_points

    def _best(self, cv_error) -> tuple[int, int]:
        """Return the entry with the smallest error; in a tie, with the fewest training errors."""
        n_negative, n_positive = np.indices(cv_error.shape).reshape(2, -1)
        usable = np.where(self.table_.time_share > 0, cv_error, np.inf).ravel()
        usable = np.where(np.isnan(usable), np.inf, usable)
        best = np.lexsort((n_negative, n_negative + n_positive, usable))[0]
        return int(n_negative[best]), int(n_positive[best])

    def _check_entry(self, entry) -> tuple[int, int]:
        """Return an entry of the table, or raise an error that lists all entries."""
        met = np.argwhere(self.table_.time_share > 0).tolist()
        if len(entry) == 2 and list(entry) in met:
            return int(entry[0]), int(entry[1])
        known = ", ".join(f"({i}, {j})" for i, j in met)
        raise ValueError(
            f"errors should be a pair (n_negative, n_positive) that the rays have met, but is "
            f"{entry}. These exist: {known}. Raise max_errors or n_bounces for more."
        )

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
