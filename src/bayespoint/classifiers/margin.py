"""AdaptiveMarginSVC and LinearProgramSVC: large margin machines by linear programs."""

from __future__ import annotations

import copy
import time
from numbers import Real

import numpy as np
from sklearn.base import ClassifierMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, Options, StrOptions
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from .._runtime.interrupt import interrupts
from .._runtime.threads import one_blas_thread
from .._runtime.warn import warn
from ..geometry.gram import check_symmetric
from ..geometry.kernels import GAMMA_KERNELS, KERNELS
from ..solvers.programs.linear_program import TOLERANCE, Program, Solution, solve
from ._kernel_machine import KernelMachine

# A fit that is less precise than this, in slacks a point, is said to be so.
_LARGEST_GAP = 1e-6


class _ProgramSVC(ClassifierMixin, KernelMachine):
    """What both machines share: one linear program a class, and its coefficients."""

    _parameter_constraints = {
        "kernel": [StrOptions(set(KERNELS)), callable],
        "gamma": [StrOptions({"scale"}), Interval(Real, 0, None, closed="neither")],
        "degree": [Interval(Real, 0, None, closed="left")],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "fit_intercept": ["boolean"],
        "normalize": ["boolean"],
        "max_time": [None, Interval(Real, 0, None, closed="neither")],
    }

    def fit(self, X, y):
        """Solve the linear program of every class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training points; the kernel matrix for a precomputed kernel.
        y : array-like of shape (n_samples,)
            Their classes.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        X, kernel, matrix, signs = self._prepare(X, y)
        self._solve(X, kernel, matrix, signs, [None] * len(signs))
        return self

    def decision_function(self, X):
        """Return the outputs at points; the margin of the training points is one.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Points; for a precomputed kernel their kernel with the training points.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Positive for the second of two classes; one column a class if there are more.
        """
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        outputs = np.zeros((X.shape[0], len(self.intercept_)))
        if len(self.support_):
            columns = np.ascontiguousarray(self.dual_coef_.T)
            outputs = np.concatenate(list(self._kernel_outputs(X, columns, unit=False)))
        outputs = outputs + self.intercept_
        return outputs[:, 0] if len(self.classes_) == 2 else outputs

    def predict(self, X):
        """Return the class of each point.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Points; for a precomputed kernel their kernel with the training points.

        Returns
        -------
        ndarray of shape (n_samples,)
            Class labels.
        """
        outputs = self.decision_function(X)
        winners = (outputs > 0).astype(int) if outputs.ndim == 1 else outputs.argmax(axis=1)
        return self.classes_[winners]

    def _prepare(self, X, y):
        """Return the points, the kernel and its matrix, and the signs of every class."""
        self._validate_params()
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
        check_classification_targets(y)
        self.classes_, target = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(
                "y should hold at least two classes to tell apart, but holds one class: "
                f"{self.classes_[0]!r}."
            )
        X = self._points(X)
        positive = [1] if len(self.classes_) == 2 else range(len(self.classes_))
        signs = [np.where(target == c, 1.0, -1.0) for c in positive]
        gamma = self.gamma if self.kernel in GAMMA_KERNELS else 1.0
        kernel = self._settle_kernel(X, gamma, False)
        matrix = X if self.kernel == "precomputed" else kernel(X, X)
        if self.kernel == "precomputed" or callable(self.kernel):
            check_symmetric(matrix)
        return X, kernel, matrix, signs

    def _solve(self, X, kernel, matrix, signs, starts) -> list[np.ndarray]:
        """Solve the programs, keep what they give, return where coefficients are."""
        max_time = np.inf if self.max_time is None else float(self.max_time)
        ends = time.perf_counter() + max_time
        found = []
        with one_blas_thread(), interrupts() as interrupted:
            for label, sign, start in zip(self._labels(), signs, starts, strict=True):
                left = max(ends - time.perf_counter(), 0.0)
                program = self._program(matrix, sign)
                solution = solve(program, start, max_time=left, stop=lambda: interrupted.pressed)
                found.append(self._finish(solution, matrix, sign, label))
        self._store(X, kernel, signs, found)
        return [np.flatnonzero(solution.coef) for solution in found]

    def _labels(self):
        """Return the class that each program tells from the others."""
        return self.classes_[1:] if len(self.classes_) == 2 else self.classes_

    def _program(self, matrix, signs) -> Program:
        raise NotImplementedError

    def _finish(self, solution: Solution, matrix, signs, label) -> Solution:
        """Return a solution in units in which the margin is one, and say if it is poor."""
        n_points = len(signs)
        where = f"The program of class {label}"
        if solution.state == "stopped":
            warn(
                f"{where} was stopped before it was solved: slacks sum to "
                f"{solution.objective:.4g}, which is at most {solution.gap:.2g} above the "
                "minimum. Allow more max_time for all of it.",
                ConvergenceWarning,
            )
        elif solution.state == "held back":
            warn(
                f"{where} asks for coefficients that are too large for double precision; they "
                "were held back by a small penalty. Kernel values are too small, or labels "
                "contradict each other: choose a smaller gamma, a larger adaptivity or a smaller "
                "C.",
                ConvergenceWarning,
            )
        elif solution.gap > _LARGEST_GAP * n_points:
            warn(
                f"{where} is solved to within {solution.gap:.2g} of the minimum only, as "
                f"coefficients are as large as {solution.coef.max():.2g}. Choose a smaller "
                "gamma, a larger adaptivity or a smaller C.",
                ConvergenceWarning,
            )
        return solution

    def _store(self, X, kernel, signs, found: list[Solution]) -> None:
        """Keep what predictions need, as plain arrays and numbers."""
        coef = np.stack([s.coef * sign for s, sign in zip(found, signs, strict=True)])
        self.support_ = np.flatnonzero(np.any(coef != 0, axis=0))
        self.dual_coef_ = coef[:, self.support_]
        self.intercept_ = np.array([s.intercept for s in found])
        self.objective_ = np.array([s.objective for s in found])
        self.dual_gap_ = np.array([s.gap for s in found])
        self.n_iter_ = max(s.n_iter for s in found)
        self._keep_kernel(X, kernel)


class AdaptiveMarginSVC(_ProgramSVC):
    """Classify with margins that adapt to each training point (LOO-SVM, AM-SVM).

    A training point has to be classified by the *others* with margin one: its own share in
    the output does not count. The sum of what is missing is minimized, a bound on the
    leave-one-out error. With `adaptivity=1` there is no regularization parameter at all.

    Parameters
    ----------
    kernel : str or callable, default="rbf"
        "linear", "poly", "rbf", "laplacian", "sigmoid", "precomputed", or a function of two
        arrays of points that returns a symmetric matrix.
    adaptivity : float, default=1.0
        How much of a point's own share in its output is taken off, from 0. 1 is the
        leave-one-out machine. Less fits the training points more closely; 0 does not
        regularize at all. More gives smoother decisions, until no coefficient is worth its
        price: see Notes. np.inf gives Parzen windows.
    gamma : "scale" or float, default="scale"
        Of the kernels "poly", "rbf", "laplacian" and "sigmoid"; "scale" is 1 / (n_features *
        X.var()). Larger values give more local decisions.
    degree, coef0 : float, default=3 and 1.0
        Of the kernels "poly" and "sigmoid".
    fit_intercept : bool, default=False
        Whether to add a threshold, free of cost; the published machine has none.
    normalize : bool, default=False
        Whether to scale points to unit length in feature space.
    max_time : float, default=None
        Seconds, about, after which the best coefficients so far are taken.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels.
    support_ : ndarray of shape (n_support,)
        Indices of training points with coefficients.
    support_vectors_ : array of shape (n_support, n_features)
        These points; without columns for a precomputed kernel.
    dual_coef_ : ndarray of shape (n_outputs, n_support)
        Their coefficients, with the sign of their class; a row a class, one for two.
    intercept_ : ndarray of shape (n_outputs,)
        Thresholds, zero without `fit_intercept`.
    objective_ : ndarray of shape (n_outputs,)
        The sum of the slacks.
    dual_gap_ : ndarray of shape (n_outputs,)
        By how much it can be above the minimum, by duality, whatever the solver did.
    n_iter_ : int
        Iterations of the simplex method, the most of any class.
    gamma_, constant_ : float
        The gamma that was used; zero.
    origin_ : ndarray
        The point from which the rbf kernel measures, for rounding.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X had them.

    See Also
    --------
    LinearProgramSVC : The same margin for all points, and a price for coefficients.

    Notes
    -----
    Minimize sum xi_i so that y_i f(x_i) >= 1 - xi_i + adaptivity * a_i k(x_i, x_i) with
    f(x) = sum_j a_j y_j k(x_j, x) and a, xi >= 0. There is always a solution. Time grows as
    m^2 to m^2.3 (0.2 to 1.2 s for m = 1000, 5 to 50 s for 5000), memory is the kernel
    matrix, 8 m^2 bytes, and the rows of support vectors.

    The paper says that for large adaptivity coefficients become equal and small (Parzen
    windows). They become zero: the dual program shows that no coefficient is positive from
    max_j sum_i y_i y_j k_ij / k_jj on. A warning says so and gives that limit. Well below it
    all support vectors may be of one class, and so are all predictions.

    More than two classes are told apart one against the rest.

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
        **_ProgramSVC._parameter_constraints,
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
    ):
        self.kernel = kernel
        self.adaptivity = adaptivity
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.fit_intercept = fit_intercept
        self.normalize = normalize
        self.max_time = max_time

    def fit_path(self, X, y, adaptivities):
        """Fit a classifier for every adaptivity, each starting from the last.

        The kernel matrix is computed once, and support vectors of the next larger
        adaptivity are the first rows of a program. Eleven adaptivities from 0.1 to 10 took
        half the time of separate fits where there are few support vectors, and as long
        where there are many, as these then change from one to the next.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training points; the kernel matrix for a precomputed kernel.
        y : array-like of shape (n_samples,)
            Their classes.
        adaptivities : sequence of float
            In any order. `max_time` is for each of them.

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
        prepared = base._prepare(X, y)
        models = [copy.copy(base) for _ in adaptivities]
        starts: list = [None] * len(prepared[-1])
        for i in np.argsort(-adaptivities, kind="stable"):
            models[i].adaptivity = float(adaptivities[i])
            starts = models[i]._solve(*prepared, starts)
        return models

    def _solve(self, X, kernel, matrix, signs, starts):
        diagonal = np.diagonal(matrix)
        if diagonal.min() < 0:
            raise ValueError(
                f"The kernel gives k(x, x) = {diagonal.min():.3g} for row {diagonal.argmin()}, but "
                "a margin adapts to the squared length of a point, which cannot be negative. "
                "Choose another kernel, or for sigmoid and poly a larger coef0."
            )
        if np.isfinite(self.adaptivity):
            return super()._solve(X, kernel, matrix, signs, starts)
        m = len(matrix)
        windows = Solution(np.full(m, 1 / m), 0.0, 1.0, float(m), 0.0, 0, 0, "solved")
        self._store(X, kernel, signs, [windows] * len(signs))
        return [None] * len(signs)

    def _program(self, matrix, signs):
        own = self.adaptivity * np.diagonal(matrix)
        return Program(matrix, signs, own, fit_intercept=self.fit_intercept)

    def _finish(self, solution, matrix, signs, label):
        if not solution.coef.any():
            lengths = np.diagonal(matrix)
            gains = (signs * (matrix @ signs))[lengths > 0] / lengths[lengths > 0]
            limit = gains.max(initial=0.0)
            advice = "choose another kernel or gamma"
            if limit > TOLERANCE and not self.fit_intercept:
                advice = f"choose an adaptivity below {limit:.4g}"
            warn(
                f"With adaptivity={self.adaptivity:g} no coefficient of class {label} is "
                f"positive, and all points get the same output: {advice}, or np.inf for Parzen "
                "windows.",
            )
        return super()._finish(solution, matrix, signs, label)


class LinearProgramSVC(_ProgramSVC):
    """Classify with few support vectors: the support vector machine as linear program.

    The sum of the coefficients takes the place of the squared length of the normal vector
    in `SVC`. Solutions have fewer support vectors, and any symmetric kernel will do.

    Parameters
    ----------
    kernel : str or callable, default="rbf"
        As in `AdaptiveMarginSVC`; it need not be positive definite.
    C : float, default=1.0
        The price of slacks, where a coefficient costs one. Larger values fit the training
        points more closely, with more support vectors, and take longer.
    nu : float, default=None
        If given, the machine is that of nu, and C is not used: at most this share of the
        training points lies within the margin, in (0, 1].
    gamma : "scale" or float, default="scale"
        Of the kernels "poly", "rbf", "laplacian" and "sigmoid"; "scale" is 1 / (n_features *
        X.var()). Larger values give more local decisions.
    degree, coef0 : float, default=3 and 1.0
        Of the kernels "poly" and "sigmoid".
    fit_intercept : bool, default=False
        Whether to add a threshold, free of cost; the published machine has none.
    normalize : bool, default=False
        Whether to scale points to unit length in feature space.
    max_time : float, default=None
        Seconds, about, after which the best coefficients so far are taken.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels.
    support_ : ndarray of shape (n_support,)
        Indices of training points with coefficients.
    support_vectors_ : array of shape (n_support, n_features)
        These points; without columns for a precomputed kernel.
    dual_coef_ : ndarray of shape (n_outputs, n_support)
        Their coefficients, with the sign of their class; a row a class, one for two.
    intercept_ : ndarray of shape (n_outputs,)
        Thresholds, zero without `fit_intercept`.
    margin_ : ndarray of shape (n_outputs,)
        Of `nu`, with coefficients that sum to one: they were divided by it. Otherwise one.
    objective_ : ndarray of shape (n_outputs,)
        Slacks plus coefficients / C; of `nu` slacks - nu * n_samples * margin, before they
        were divided.
    dual_gap_ : ndarray of shape (n_outputs,)
        By how much it can be above the minimum, by duality, whatever the solver did.
    n_iter_ : int
        Iterations of the simplex method, the most of any class.
    gamma_, constant_ : float
        The gamma that was used; zero.
    origin_ : ndarray
        The point from which the rbf kernel measures, for rounding.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X had them.

    See Also
    --------
    AdaptiveMarginSVC : No price for coefficients, but margins that adapt.

    Notes
    -----
    Minimize sum a_i + C sum xi_i so that y_i f(x_i) >= 1 - xi_i with
    f(x) = sum_j a_j y_j k(x_j, x) and a, xi >= 0. The machine of nu maximizes
    r - sum xi_i / (nu m) so that y_i f(x_i) >= r - xi_i and sum a_i = 1; divided by r, its
    solution is that of C = 1 / (nu m r - sum xi_i). Cost as for `AdaptiveMarginSVC`.

    References
    ----------
    Weston, Herbrich (2000), Adaptive Margin Support Vector Machines, in: Advances in Large
    Margin Classifiers, MIT Press, eq. 2.18, with C = 1 / lambda.
    Graepel, Herbrich, Schölkopf, Smola, Bartlett, Müller, Obermayer, Williamson (1999),
    Classification on proximity data with LP-machines, ICANN.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from bayespoint import LinearProgramSVC
    >>> X, y = make_moons(200, noise=0.3, random_state=0)
    >>> model = LinearProgramSVC(gamma=1.0, nu=0.3).fit(X, y)
    >>> bool((model.decision_function(X) * (2 * y - 1) < 1 - 1e-9).mean() <= 0.3)
    True
    """

    _parameter_constraints = {
        **_ProgramSVC._parameter_constraints,
        "C": [Interval(Real, 0, None, closed="neither")],
        "nu": [None, Interval(Real, 0, 1, closed="right")],
    }

    def __init__(
        self,
        kernel="rbf",
        *,
        C=1.0,
        nu=None,
        gamma="scale",
        degree=3,
        coef0=1.0,
        fit_intercept=False,
        normalize=False,
        max_time=None,
    ):
        self.kernel = kernel
        self.C = C
        self.nu = nu
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.fit_intercept = fit_intercept
        self.normalize = normalize
        self.max_time = max_time

    def _program(self, matrix, signs):
        none = np.zeros(len(signs))
        if self.nu is None:
            return Program(matrix, signs, none, 1 / self.C, fit_intercept=self.fit_intercept)
        n_smaller = min(np.sum(signs > 0), np.sum(signs < 0))
        largest = 2 * n_smaller / len(signs) if self.fit_intercept else 1.0
        if self.nu > largest:
            raise ValueError(
                f"nu should be at most {largest:.4g} with an intercept, twice the share of the "
                f"smallest class, but is {self.nu:g}: the program has no solution."
            )
        n_errors = self.nu * len(signs)
        return Program(matrix, signs, none, 0.0, n_errors, self.fit_intercept)

    def _finish(self, solution, matrix, signs, label):
        margin = solution.margin
        if self.nu is not None and margin <= TOLERANCE * np.abs(matrix).max():
            warn(
                f"The margin of class {label} is {margin:.2g}: it cannot be told from the "
                f"others with nu={self.nu:g}, and outputs have no unit. Raise nu, or choose "
                "another kernel.",
            )
            solution = solution._replace(margin=min(margin, 0.0))  # nothing to divide by
        elif self.nu is None and not solution.coef.any():
            warn(
                f"With C={self.C:g} no coefficient of class {label} is positive, and all points "
                "get the same output: choose a larger C.",
            )
        return super()._finish(solution, matrix, signs, label)

    def _store(self, X, kernel, signs, found):
        self.margin_ = np.array([s.margin for s in found])
        units = np.where(self.margin_ > 0, self.margin_, 1.0)
        scaled = [
            s._replace(coef=s.coef / unit, intercept=s.intercept / unit)
            for s, unit in zip(found, units, strict=True)
        ]
        super()._store(X, kernel, signs, scaled)
