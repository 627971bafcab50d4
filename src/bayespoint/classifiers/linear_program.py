"""LinearProgramSVC: the support vector machine as a linear program."""

from __future__ import annotations

from numbers import Real

import numpy as np
from sklearn.utils._param_validation import Interval

from .._runtime.warn import warn
from ..solvers.programs.linear_program import HIGHS_TOLERANCE, Program
from ._program_svc import ProgramSVC


class LinearProgramSVC(ProgramSVC):
    """Classify with few support vectors, by a linear program.

    The cost is the sum of the coefficients, where `SVC` has the squared length of the normal
    vector. Solutions have fewer support vectors, and any symmetric kernel works.

    Parameters
    ----------
    kernel : str or callable, default="rbf"
        As in `AdaptiveMarginSVC`; it need not be positive definite.
    C : float, default=1.0
        The cost of slacks, relative to coefficients. Larger values fit the training points more
        closely, with more support vectors, and take longer.
    nu : float, default=None
        In (0, 1]. If given, C is not used: at most this share of the training points, by weight,
        lies within the margin.
    gamma, degree, coef0, fit_intercept, normalize, max_time, class_weight
        As in `AdaptiveMarginSVC`.

    Attributes
    ----------
    margin_ : ndarray of shape (n_outputs,)
        With `nu`, the margin of coefficients that sum to one; the stored coefficients were
        divided by it. Otherwise one.
    objective_ : ndarray of shape (n_outputs,)
        Slacks plus coefficients / C. With `nu`, slacks - nu * n_samples * margin before the
        division. Slacks and samples count with their weights.
    classes_, support_, support_vectors_, dual_coef_, intercept_, dual_gap_, n_iter_, gamma_, \
            constant_, origin_, n_features_in_, feature_names_in_
        As in `AdaptiveMarginSVC`.

    See Also
    --------
    AdaptiveMarginSVC : No cost for coefficients, but margins that adapt.

    Notes
    -----
    Minimize sum a_i + C sum xi_i so that y_i f(x_i) >= 1 - xi_i with
    f(x) = sum_j a_j y_j k(x_j, x) and a, xi >= 0. The machine with nu maximizes
    r - sum xi_i / (nu m) so that y_i f(x_i) >= r - xi_i and sum a_i = 1. Divided by r, its
    solution is the one for C = 1 / (nu m r - sum xi_i). Time as for `AdaptiveMarginSVC`.

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
        **ProgramSVC._parameter_constraints,
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
        class_weight=None,
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
        self.class_weight = class_weight

    def _program(self, matrix, signs, weight):
        data = (matrix, signs, np.zeros(len(signs)), weight)
        if self.nu is None:
            return Program(*data, 1 / self.C, fit_intercept=self.fit_intercept)
        smaller, total = min(weight[signs > 0].sum(), weight[signs < 0].sum()), weight.sum()
        largest = 2 * smaller / total if self.fit_intercept else 1.0
        if self.nu > largest:
            raise ValueError(
                f"nu should be at most {largest:.4g} with an intercept, twice the share of the "
                f"smallest class, but is {self.nu:g}: the program has no solution."
            )
        return Program(*data, 0.0, self.nu * total, self.fit_intercept)

    def _check_solution(self, solution, program, label):
        margin = solution.margin
        if self.nu is not None and margin <= HIGHS_TOLERANCE * np.abs(program.matrix).max():
            warn(
                f"The margin of class {label} is {margin:.2g}: it cannot be separated from the "
                f"others with nu={self.nu:g}, and outputs have no unit. Raise nu, or choose "
                "another kernel.",
            )
            solution = solution._replace(margin=min(margin, 0.0))  # `_store` must not divide by it
        elif self.nu is None and not solution.coef.any():
            warn(
                f"With C={self.C:g} no coefficient of class {label} is positive, and all points "
                "get the same output: choose a larger C.",
            )
        return super()._check_solution(solution, program, label)

    def _store(self, prepared, found):
        self.margin_ = np.array([s.margin for s in found])
        units = np.where(self.margin_ > 0, self.margin_, 1.0)
        scaled = [
            s._replace(coef=s.coef / unit, intercept=s.intercept / unit)
            for s, unit in zip(found, units, strict=True)
        ]
        super()._store(prepared, scaled)
