"""LinearMarginSVC: the hyperplane of largest margin in input space, in any distance lq."""

from __future__ import annotations

from numbers import Real

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.linear_model._base import LinearClassifierMixin
from sklearn.utils._param_validation import Interval, Options, StrOptions
from sklearn.utils.validation import validate_data

from .._runtime.old_pickles import OldPickles
from .._runtime.threads import one_blas_thread
from .._runtime.warn import warn
from ..solvers.programs.hyperplane import CONJUGATE_NORMS, fit_hyperplane
from ._labels import number_classes, one_against_rest, require_labels
from ._training_rows import weigh_rows


class LinearMarginSVC(OldPickles, LinearClassifierMixin, BaseEstimator):
    """Separate classes by the hyperplane that is farthest from the points.

    Parameters
    ----------
    distance : {"l1", "l2", "linf"} or float, default="l2"
        How the distance of a point from a hyperplane is measured. "l2" is the support
        vector machine. "linf" gives few features weight, "l1" gives many features weights
        of the same size; both are linear programs. A number q > 1 means lq, between these.
    C : float, default=1.0
        Cost of slacks: points within the margin or on the wrong side. Larger values allow less
        slack. np.inf allows none, and raises an error if the classes cannot be separated.
    fit_intercept : bool, default=True
        Whether to add a threshold, so that hyperplanes need not pass through the origin.
    class_weight : dict or "balanced", default=None
        Weight of each class, by which sample weights are multiplied. "balanced" gives all
        classes the same total weight.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels.
    coef_ : ndarray of shape (n_outputs, n_features)
        Normal vectors: one for two classes, otherwise one for each class against the rest.
    intercept_ : ndarray of shape (n_outputs,)
        Thresholds.
    margin_ : ndarray of shape (n_outputs,)
        The distance of points with output -1 or 1 from the hyperplane.
    objective_ : ndarray of shape (n_outputs,)
        Length of the normal vector in the conjugate norm (half its square for "l2"), plus C
        times the slacks, each times its weight.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X had them.

    Notes
    -----
    Minimize |w| + C sum xi_i so that y_i (<w, x_i> + b) >= 1 - xi_i, where |w| is the norm
    that is conjugate to the distance: the sum of absolute weights for "linf", the largest
    for "l1", |w|_p with 1 / p + 1 / q = 1 for a number q, and |w|^2 / 2 for "l2". The paper
    maximizes the margin with |w| = 1, which is the same if classes can be separated. HiGHS solves
    the linear programs, and "l2" without slacks, which is slow with hundreds of features; libsvm
    solves "l2" with slacks. For a number q, about a dozen linear programs close in on the curved
    norm, until the objective is known to 1e-8. Features should have similar scales.

    References
    ----------
    Smola, Bartlett, Schölkopf, Schuurmans (2000), Introduction to Large Margin Classifiers,
    MIT Press, eqs. 1.18 to 1.25.
    Mangasarian (1999), Arbitrary-norm separating plane, Operations Research Letters 24.

    Examples
    --------
    >>> from bayespoint import LinearMarginSVC
    >>> X, y = [[0, 0], [1, 0], [3, 1], [4, 0]], [0, 0, 1, 1]
    >>> [LinearMarginSVC(d, C=float("inf")).fit(X, y).margin_.round(3).item()
    ...  for d in ["l1", 1.5, "l2", 3.0, "linf"]]
    [1.5, 1.224, 1.118, 1.04, 1.0]
    """

    _parameter_constraints = {
        "distance": [StrOptions(set(CONJUGATE_NORMS)), Interval(Real, 1, None, closed="neither")],
        "C": [Interval(Real, 0, None, closed="neither"), Options(Real, {np.inf})],
        "fit_intercept": ["boolean"],
        "class_weight": [dict, StrOptions({"balanced"}), None],
    }

    def __init__(self, distance="l2", *, C=1.0, fit_intercept=True, class_weight=None):
        self.distance = distance
        self.C = C
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight

    def fit(self, X, y, sample_weight=None):
        """Find the hyperplane of every class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training points.
        y : array-like of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), default=None
            By what the cost of each row's slack is multiplied; not negative. Zero is the same as
            leaving out the row, and two is the same as repeating it. With C=np.inf there are no
            slacks, and any positive weight counts as one.

        Returns
        -------
        self : LinearMarginSVC
            The fitted classifier.
        """
        self._validate_params()
        require_labels(y)
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
        rows = weigh_rows(X, y, sample_weight, self.class_weight)
        X = rows.take(X)
        self.classes_, target = number_classes(rows.take(y))
        signs = one_against_rest(target, len(self.classes_), dtype=np.float64)
        weight = np.ones(len(target)) if rows.of_likelihood is None else rows.of_likelihood
        parameters = (self.distance, float(self.C), self.fit_intercept, weight)
        with one_blas_thread():
            found = [fit_hyperplane(X, sign, *parameters) for sign in signs]
        self.coef_ = np.stack([plane.coef for plane in found])
        self.intercept_ = np.array([plane.intercept for plane in found])
        self.margin_ = np.array([plane.margin for plane in found])
        self.objective_ = np.array([plane.objective for plane in found])
        if np.isinf(self.margin_).any():
            warn(f"With C={self.C:g} all weights of a class are zero: choose a larger C.")
        return self

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
