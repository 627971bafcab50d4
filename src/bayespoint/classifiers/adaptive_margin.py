"""AdaptiveMarginSVC: margins that adapt to each training point, by a linear program."""

from __future__ import annotations

import copy
from numbers import Real

import numpy as np
from sklearn.base import clone
from sklearn.utils._param_validation import Interval, Options

from .._runtime.warn import warn
from ..solvers.programs.linear_program import HIGHS_TOLERANCE, Program, Solution
from ._program_svc import ProgramSVC


class AdaptiveMarginSVC(ProgramSVC):
    """Classify with margins that adapt to each training point (LOO-SVM, AM-SVM).

    The *other* points have to classify each training point with margin one: its own share in the
    output does not count. The sum of the shortfalls, which bounds the leave-one-out error, is
    minimized. With `adaptivity=1` there is no regularization parameter at all.

    Parameters
    ----------
    kernel : str or callable, default="rbf"
        "linear", "poly", "rbf", "laplacian", "sigmoid", "precomputed", or a function of two
        arrays of points that returns a symmetric matrix.
    adaptivity : float, default=1.0
        How much of a point's own share in its output is subtracted. 1 is the leave-one-out
        machine. Less fits the training points more closely; 0 does not regularize at all. More
        gives smoother decisions, until all coefficients are zero: see Notes. np.inf gives Parzen
        windows.
    gamma : "scale" or float, default="scale"
        Coefficient of the kernels "poly", "rbf", "laplacian" and "sigmoid"; "scale" is
        1 / (n_features * X.var()). Larger values give more local decisions. The paper would choose
        it by the bound or by `objective_`: both prefer values that are too large (see Notes).
    degree, coef0 : float, default=3 and 1.0
        Parameters of the kernels "poly" and "sigmoid".
    fit_intercept : bool, default=False
        Whether to add an unpenalized threshold; the published machine has none.
    normalize : bool, default=False
        Whether to scale points to unit length in feature space.
    max_time : float, default=None
        About this many seconds after the start, the best coefficients so far are used.
    class_weight : dict or "balanced", default=None
        Weight of each class, by which sample weights are multiplied. "balanced" gives all
        classes the same total weight.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels.
    support_ : ndarray of shape (n_support,)
        Indices of training points with nonzero coefficients.
    support_vectors_ : array of shape (n_support, n_features)
        These points; without columns for a precomputed kernel.
    dual_coef_ : ndarray of shape (n_outputs, n_support)
        Their coefficients, with the sign of their class: one row for two classes, otherwise one
        for each class.
    intercept_ : ndarray of shape (n_outputs,)
        Thresholds, zero without `fit_intercept`.
    objective_ : ndarray of shape (n_outputs,)
        The sum of the slacks, each times its weight.
    dual_gap_ : ndarray of shape (n_outputs,)
        The objective is at most this far above its minimum. Duality proves it, even if the
        solver fails.
    n_iter_ : int
        Iterations of the simplex method, for the class that needed most.
    gamma_, constant_ : float
        The gamma that was used; the constant term of the kernel, which is zero.
    origin_ : ndarray
        The point that the rbf kernel subtracts first, to reduce rounding errors.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X had them.

    See Also
    --------
    LinearProgramSVC : The same margin for all points, and a cost for coefficients.

    Notes
    -----
    Minimize sum xi_i so that y_i f(x_i) >= 1 - xi_i + adaptivity * a_i k(x_i, x_i) with
    f(x) = sum_j a_j y_j k(x_j, x) and a, xi >= 0. There is always a solution. Time grows as
    m^2 to m^2.3 (0.2 to 1.2 s for m = 1000, 5 to 50 s for 5000), memory is the kernel
    matrix, 8 m^2 bytes, and the rows of support vectors.

    The paper says that for large adaptivity coefficients become equal and small (Parzen
    windows). In fact they become zero: the dual program shows that no coefficient is positive if
    adaptivity is at least max_j sum_i y_i y_j k_ij / k_jj. A warning gives that limit. Well below
    it all support vectors may be of one class, and then all predictions are too.

    A row of weight w stands for w equal rows, also if w is not an integer: its slack costs w
    times as much, and its own share, for which margins adapt, is a_i / w. When one of several
    equal rows is left out, the others are still there.

    With more than two classes, each class is separated from the rest.

    Gamma by the smallest bound or slacks (004, sec. 2.6.2) made 21.8 % and 21.7 % errors on six
    sets, "scale" 18.4 % (docs/notes/linear_programs.md): coefficients adapt to the bound.

    References
    ----------
    Weston, Herbrich (2000), Adaptive Margin Support Vector Machines, in: Advances in Large
    Margin Classifiers, MIT Press, eqs. 2.10 to 2.12.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from bayespoint import AdaptiveMarginSVC
    >>> X, y = make_moons(200, noise=0.3, random_state=0)
    >>> model = AdaptiveMarginSVC(gamma=1.0).fit(X, y)
    >>> len(model.support_)
    33
    >>> model.predict(X[:3])
    array([0, 1, 1])
    """

    _parameter_constraints = {
        **ProgramSVC._parameter_constraints,
        "adaptivity": [Interval(Real, 0, None, closed="left"), Options(Real, {np.inf})],
    }

    def __init__(
        self,
        kernel="rbf",
        *,
        adaptivity=1.0,
        gamma="scale",
        degree=3,
        coef0=1.0,
        fit_intercept=False,
        normalize=False,
        max_time=None,
        class_weight=None,
    ):
        self.kernel = kernel
        self.adaptivity = adaptivity
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.fit_intercept = fit_intercept
        self.normalize = normalize
        self.max_time = max_time
        self.class_weight = class_weight

    def fit_path(self, X, y, adaptivities, sample_weight=None):
        """Fit a classifier for every adaptivity, each starting from the last.

        The kernel matrix is computed once, and each program starts from the support vectors of
        the next larger adaptivity. Eleven adaptivities from 0.1 to 10 took half the time of
        separate fits with few support vectors. With many they took as long, because the support
        vectors then change from one adaptivity to the next.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training points; the kernel matrix for a precomputed kernel.
        y : array-like of shape (n_samples,)
            Their classes.
        adaptivities : sequence of float
            In any order. `max_time` applies to each of them.
        sample_weight : array-like of shape (n_samples,), default=None
            As in `fit`.

        Returns
        -------
        list of AdaptiveMarginSVC
            Fitted, in the order of `adaptivities`. This classifier is not changed.
        """
        adaptivities = np.asarray(adaptivities, dtype=float)
        if adaptivities.ndim != 1 or not np.all(adaptivities >= 0):
            raise ValueError(
                "adaptivities should be a sequence of numbers that are not negative, but is "
                f"{adaptivities!r}."
            )
        base = clone(self)
        prepared = base._prepare(X, y, sample_weight)
        models = [copy.copy(base) for _ in adaptivities]
        starts: list = [None] * len(prepared.signs)
        for i in np.argsort(-adaptivities, kind="stable"):
            models[i].adaptivity = float(adaptivities[i])
            starts = models[i]._solve(prepared, starts)
        return models

    def _solve(self, prepared, starts):
        diagonal, weight = np.diagonal(prepared.matrix), prepared.weight
        if diagonal.min() < 0:
            row = prepared.rows[diagonal.argmin()]
            raise ValueError(
                f"The kernel gives k(x, x) = {diagonal.min():.3g} for row {row}, but "
                "a margin adapts to the squared length of a point, which cannot be negative. "
                "Choose another kernel, or for sigmoid and poly a larger coef0."
            )
        if np.isfinite(self.adaptivity):
            return super()._solve(prepared, starts)
        total = float(weight.sum())
        windows = Solution(weight / total, 0.0, 1.0, total, 0.0, 0, 0, "solved")
        self._store(prepared, [windows] * len(prepared.signs))
        return [None] * len(prepared.signs)

    def _program(self, matrix, signs, weight):
        own = self.adaptivity * np.diagonal(matrix) / weight
        return Program(matrix, signs, own, weight, fit_intercept=self.fit_intercept)

    def _check_solution(self, solution, program, label):
        if not solution.coef.any():
            signs, lengths = program.signs, np.diagonal(program.matrix)
            gains = signs * (program.matrix @ (program.weight * signs))
            gains = gains[lengths > 0] / lengths[lengths > 0]
            limit = gains.max(initial=0.0)
            advice = "choose another kernel or gamma"
            if limit > HIGHS_TOLERANCE and not self.fit_intercept:
                advice = f"choose an adaptivity below {limit:.4g}"
            warn(
                f"With adaptivity={self.adaptivity:g} no coefficient of class {label} is "
                f"positive, and all points get the same output: {advice}, or np.inf for Parzen "
                "windows.",
            )
        return super()._check_solution(solution, program, label)
