"""Common base of margin machines that solve one linear program for each output."""

from __future__ import annotations

import time
from numbers import Real
from typing import NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from .._runtime.interrupt import interrupts
from .._runtime.sample_weight import combined_weight
from .._runtime.threads import one_blas_thread
from .._runtime.warn import warn
from ..geometry.equal_rows import keep_all_rows, merge_equal_rows
from ..geometry.gram import check_symmetric
from ..geometry.kernels import Kernel
from ..solvers.programs.linear_program import Program, Solution, solve
from ._kernel_machine import KernelMachine
from ._labels import number_classes, one_against_rest, require_labels

# A duality gap above this, for each training point (by weight), is reported.
MAX_GAP_PER_POINT = 1e-6


class Prepared(NamedTuple):
    """Training data of the programs. Equal rows are one; rows of weight zero are left out."""

    X: np.ndarray
    kernel: Kernel
    matrix: np.ndarray
    signs: np.ndarray  # labels +1 and -1, one row for each output
    weight: np.ndarray
    rows: np.ndarray  # their numbers in the user's table


class ProgramSVC(KernelMachine):
    """A classifier whose coefficients solve a linear program.

    Outputs are in units of the margin of the training points.
    """

    _parameter_constraints = {
        **KernelMachine._parameter_constraints,
        "gamma": [StrOptions({"scale"}), Interval(Real, 0, None, closed="neither")],
        "fit_intercept": ["boolean"],
        "max_time": [None, Interval(Real, 0, None, closed="neither")],
        "class_weight": [dict, StrOptions({"balanced"}), None],
    }

    max_time: float | None
    class_weight: dict | str | None

    def fit(self, X, y, sample_weight=None):
        """Solve the linear program of every class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training points; the kernel matrix for a precomputed kernel.
        y : array-like of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), default=None
            By what the cost of each row's slack is multiplied; not negative. Zero is the same as
            leaving out the row, and two is the same as repeating it.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        prepared = self._prepare(X, y, sample_weight)
        self._solve(prepared, [None] * len(prepared.signs))
        return self

    def _decide(self, X) -> np.ndarray:
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        outputs = np.zeros((X.shape[0], len(self.intercept_)))
        if len(self.support_):
            columns = np.ascontiguousarray(self.dual_coef_.T)
            outputs = np.concatenate(list(self._kernel_outputs(X, columns, unit=False)))
        return outputs + self.intercept_

    def _prepare(self, X, y, sample_weight) -> Prepared:
        """Check the training data, merge equal rows, and compute the kernel matrix.

        Where many coefficients are optimal, the solver's choice depends on the order of the rows.
        Merged and sorted, repeated rows give the same answer as weights.
        """
        self._validate_params()
        require_labels(y)
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
        X = self._check_points(X)
        weight = combined_weight(sample_weight, self.class_weight, X, y)
        if self.kernel == "precomputed":
            rows, weight, _ = keep_all_rows(weight)
            X = X[np.ix_(rows, rows)]
        else:
            rows, weight, _ = merge_equal_rows(X, np.unique(y, return_inverse=True)[1], weight)
            X = X[rows]
        self.classes_, target = number_classes(y[rows])
        signs = one_against_rest(target, len(self.classes_), dtype=np.float64)
        kernel = self._settle_kernel(X, self._given_gamma(), False, weight)
        matrix = X if self.kernel == "precomputed" else kernel(X, X)
        if self.kernel == "precomputed" or callable(self.kernel):
            check_symmetric(matrix)
            matrix = (matrix + matrix.T) / 2  # the duality gap is exact only with symmetry
        return Prepared(X, kernel, matrix, signs, weight, rows)

    def _solve(self, prepared: Prepared, starts) -> list:
        """Solve the programs, store the result; return the support vectors of each output.

        `starts` are support vectors to begin with, or None, for each output.
        """
        max_time = np.inf if self.max_time is None else float(self.max_time)
        deadline = time.perf_counter() + max_time
        matrix, signs, weight = prepared.matrix, prepared.signs, prepared.weight
        found = []
        with one_blas_thread(), interrupts() as interrupted:
            for label, sign, start in zip(self._positive_classes(), signs, starts, strict=True):
                left = max(deadline - time.perf_counter(), 0.0)
                program = self._program(matrix, sign, weight)
                solution = solve(program, start, max_time=left, stop=lambda: interrupted.pressed)
                found.append(self._check_solution(solution, program, label))
        self._store(prepared, found)
        return [np.flatnonzero(solution.coef) for solution in found]

    def _positive_classes(self) -> np.ndarray:
        """Return the class that each output is positive for."""
        return self.classes_[1:] if len(self.classes_) == 2 else self.classes_

    def _program(self, matrix, signs, weight) -> Program:
        raise NotImplementedError

    def _check_solution(self, solution: Solution, program: Program, label) -> Solution:
        """Return the solution; warn if it is not exact."""
        name = f"The program of class {label}"
        if solution.state == "stopped":
            warn(
                f"{name} was stopped before it was solved: slacks sum to "
                f"{solution.objective:.4g}, which is at most {solution.gap:.2g} above the "
                "minimum. Raise max_time to solve it completely.",
                ConvergenceWarning,
            )
        elif solution.state == "held back":
            warn(
                f"{name} asks for coefficients that are too large for double precision; a small "
                "penalty limits them. Kernel values are too small, or labels contradict each "
                "other: choose a smaller gamma, a larger adaptivity or a smaller C.",
                ConvergenceWarning,
            )
        elif solution.gap > MAX_GAP_PER_POINT * program.weight.sum():
            warn(
                f"{name} is solved only to within {solution.gap:.2g} of the minimum, as "
                f"coefficients are as large as {solution.coef.max():.2g}. Choose a smaller "
                "gamma, a larger adaptivity or a smaller C.",
                ConvergenceWarning,
            )
        return solution

    def _store(self, prepared: Prepared, found: list[Solution]) -> None:
        """Store what predictions need, as plain arrays and numbers."""
        signs = prepared.signs
        coef = np.stack([s.coef * sign for s, sign in zip(found, signs, strict=True)])
        self.support_ = np.flatnonzero(np.any(coef != 0, axis=0))
        self.dual_coef_ = coef[:, self.support_]
        self.intercept_ = np.array([s.intercept for s in found])
        self.objective_ = np.array([s.objective for s in found])
        self.dual_gap_ = np.array([s.gap for s in found])
        self.n_iter_ = max(s.n_iter for s in found)
        self._store_kernel(prepared.X, prepared.kernel, prepared.weight)
        self.support_ = prepared.rows[self.support_]
