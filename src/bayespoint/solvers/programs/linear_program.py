"""Linear programs of large margin machines, by HiGHS and rows that are added as needed."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import highspy
import numpy as np
from scipy import sparse

# HiGHS satisfies bounds and rows to this precision, of outputs and multipliers near one.
TOLERANCE = 1e-9
# Rows found in a round: so many, or this share of the points. Fewer rows mean more
# rounds, more of them mean rows in vain; from half to twice as many took as long.
_FEW_ROWS = 50
_ROW_SHARE = 20
# A row this far from its bound, where the largest entry of the matrix is one, is dropped.
_IDLE = 0.1
# Rows violated by no more than this are satisfied up to HiGHS's rounding.
_SATISFIED = 100 * TOLERANCE
# Iterations in a round after which the simplex method must be going in circles: rounds
# that came to an end needed a few a point at most.
_MAX_ITERATIONS = 10_000
_MAX_ITERATIONS_A_POINT = 10
# Where the program as it is cannot be solved, its coefficients are held back by the first
# of these penalties with which it can, in units in which the largest entry of the matrix is
# one.
_HELD_BACK = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2)


class NotSolvedError(RuntimeError):
    """HiGHS has stopped without a solution."""


class Program(NamedTuple):
    """The linear program of a kernel machine with coefficients and slacks >= 0.

    Minimize sum(slacks) + penalty * sum(coefficients) so that for every point
    sign * output - diagonal * coefficient >= 1 - slack, where an output is
    sum_j sign_j coefficient_j k(x_j, x), plus a threshold if there is an intercept.

    With `n_errors` the margin is another variable instead of one: minimize
    sum(slacks) - n_errors * margin, where the coefficients sum to one.
    """

    matrix: np.ndarray  # of the kernel, symmetric, without signs
    signs: np.ndarray  # -1.0 and +1.0
    diagonal: np.ndarray
    penalty: float = 0.0
    n_errors: float | None = None
    fit_intercept: bool = False


class Solution(NamedTuple):
    """Where the program has its minimum, and how we know."""

    coef: np.ndarray  # one a point, >= 0
    intercept: float
    margin: float
    objective: float
    gap: float  # the minimum is at most this far below the objective
    n_iter: int
    n_rounds: int
    state: str  # "solved", "held back" (a penalty was needed) or "stopped"


def solve(
    program: Program,
    start: np.ndarray | None = None,
    *,
    max_time: float = np.inf,
    stop: Callable[[], Any] = lambda: False,
) -> Solution:
    """Solve the program of a kernel machine.

    Parameters
    ----------
    program : Program
        What to solve.
    start : ndarray of int, default=None
        Points that are expected to have coefficients, from a similar program. They save
        rounds, and change nothing else.
    max_time : float, default=np.inf
        Seconds after which the best coefficients so far are returned.
    stop : callable, default=never
        Asked after every round whether to return the best coefficients so far.

    Returns
    -------
    Solution
        A `gap` near zero proves that it is the minimum.

    Raises
    ------
    NotSolvedError
        If HiGHS gives up even on the program with coefficients that are held back.

    Notes
    -----
    In the dual program every point has a multiplier between zero and one, and every
    coefficient is a row: sum_i (y_i y_j k_ij - diagonal_ij) b_i <= penalty. Few
    coefficients are positive, so few rows matter: they are generated. The dual simplex
    method goes on from where it was when rows are added, its basis is as large as the
    number of rows, and it flips multipliers between their bounds many at a time. At any
    time the multipliers of the rows are coefficients that the minimum can only improve, so
    that a fit can be stopped. Memory is that of the matrix and of the
    rows, which HiGHS holds twice, with indices.

    Where kernel values are tiny, coefficients become huge (10^8 and more), and HiGHS may
    lose its way in rounding errors. Then the program is solved with a small penalty.
    """
    ends = time.perf_counter() + max_time
    for size in (0.0, *_HELD_BACK):
        extra = size * _unit(program.matrix)
        rows = _Rows(program._replace(penalty=program.penalty + extra), max(size, TOLERANCE))
        try:
            found = rows.generate(start, ends, stop)
        except NotSolvedError as error:
            failed = error
            continue
        if not extra:
            return found
        objective = found.objective - extra * found.coef.sum()
        # Of the program without the penalty nothing is known but that slacks are positive.
        return found._replace(objective=objective, gap=objective, state="held back")
    raise failed


class _Rows:
    """The dual program with some of its rows."""

    def __init__(self, program: Program, tiny: float):
        self.program = program
        self.tiny = tiny
        self.n_points = len(program.signs)
        # HiGHS has absolute tolerances: outputs are measured in units of the matrix.
        self.unit = _unit(program.matrix)
        self.penalty = program.penalty / self.unit
        self.points = np.empty(0, dtype=int)
        self.n_fixed = 0
        self.n_iter = 0
        self.highs = new_highs()
        limit = _MAX_ITERATIONS + _MAX_ITERATIONS_A_POINT * self.n_points
        self.highs.setOptionValue("simplex_iteration_limit", limit)
        self._pass_columns()

    def _pass_columns(self) -> None:
        """Pass multipliers of points, the bound of all rows, and rows that are fixed."""
        m, program = self.n_points, self.program
        self.highs.addVars(m, np.zeros(m), np.ones(m))
        if program.n_errors is None:
            self.highs.changeColsCost(m, np.arange(m, dtype=np.int32), np.full(m, -1.0))
        else:
            # Rows are bounded by a variable that is to be minimized.
            self.highs.addCol(1.0, -np.inf, np.inf, 0, [], [])
            self._add_fixed_row(np.ones(m), program.n_errors)
        if program.fit_intercept:
            self._add_fixed_row(program.signs, 0.0)

    def _add_fixed_row(self, values, right: float) -> None:
        everywhere = np.arange(self.n_points, dtype=np.int32)
        self.highs.addRow(right, right, self.n_points, everywhere, values)
        self.n_fixed += 1

    def generate(self, start, ends: float, stop) -> Solution:
        """Add rows and solve, in turns, until all rows are satisfied."""
        size = max(_FEW_ROWS, self.n_points // _ROW_SHARE)
        excess = self._uses(self._first_multipliers())
        new = _largest(excess, size) if start is None or len(start) == 0 else start
        n_rounds, best, lowest, state = 0, None, np.inf, "solved"
        while len(new):
            self._add(new)
            if not self._run(ends if best is not None else np.inf):
                state = "stopped"
                break
            n_rounds += 1
            excess, value, best = self._read(n_rounds)
            candidates = excess.copy()
            candidates[self.points] = -np.inf
            new = _largest(candidates, size)
            new = new[candidates[new] > TOLERANCE]
            if len(new) and (time.perf_counter() >= ends or stop()):
                state = "stopped"
                break
            # Rows dropped while the value stands still could come and go for ever.
            if len(new) and value < lowest:
                lowest = value
                self._drop(np.flatnonzero(excess[self.points] < -_IDLE))
        assert best is not None  # the first round always has rows and all the time
        return best._replace(state=state, n_iter=self.n_iter)

    def _first_multipliers(self) -> np.ndarray:
        """Return equal multipliers in each class that satisfy the fixed rows."""
        program = self.program
        positive = program.signs > 0
        share = np.ones(self.n_points)
        if program.fit_intercept:
            n_positive = np.count_nonzero(positive)
            n_smaller = min(n_positive, self.n_points - n_positive)
            share = n_smaller / np.where(positive, n_positive, self.n_points - n_positive)
        return share if program.n_errors is None else share * (program.n_errors / share.sum())

    def _uses(self, multipliers) -> np.ndarray:
        """Return the left side of all rows, less the penalty."""
        return _signed_product(self.program, multipliers) / self.unit - self.penalty

    def _add(self, points: np.ndarray) -> None:
        """Add the rows of these points."""
        program = self.program
        rows = program.signs[points, None] * program.signs * program.matrix[points]
        rows[np.arange(len(points)), points] -= program.diagonal[points]
        rows /= self.unit
        # HiGHS would leave out what is below its tolerance. What is below a penalty is not
        # worth a coefficient, unless there are many of it, and brings HiGHS to grief.
        rows[np.abs(rows) <= self.tiny] = 0.0
        if program.n_errors is not None:
            rows = np.column_stack([rows, np.full(len(points), -1.0)])
        block = sparse.csr_matrix(rows)
        self.highs.addRows(
            len(points),
            np.full(len(points), -np.inf),
            np.full(len(points), self.penalty),
            block.nnz,
            block.indptr[:-1].astype(np.int32),
            block.indices.astype(np.int32),
            block.data,
        )
        self.points = np.append(self.points, points)

    def _drop(self, places: np.ndarray) -> None:
        """Forget rows that are far from their bound; they may come back."""
        if len(places):
            self.highs.deleteRows(len(places), (places + self.n_fixed).astype(np.int32))
            self.points = np.delete(self.points, places)

    def _run(self, ends: float) -> bool:
        """Solve with the rows there are; False if there is no time for it."""
        left = max(ends - time.perf_counter(), 0.0)
        self.highs.setOptionValue("time_limit", self.highs.getRunTime() + left)
        self.highs.run()
        self.n_iter += self.highs.getInfo().simplex_iteration_count
        status = self.highs.getModelStatus()
        if status == highspy.HighsModelStatus.kTimeLimit:
            return False
        if status != highspy.HighsModelStatus.kOptimal:
            raise NotSolvedError(
                "HiGHS has stopped without a solution of the linear program: "
                f"{self.highs.modelStatusToString(status).lower()}. Kernel values may be too "
                "small, too large or all alike; change gamma, or scale the features."
            )
        return True

    def _read(self, n_rounds: int) -> tuple[np.ndarray, float, Solution]:
        """Return by how much rows are violated, the dual value, and the coefficients."""
        program, m = self.program, self.n_points
        found = self.highs.getSolution()
        columns, rows = np.array(found.col_value), np.array(found.row_dual)
        coef = np.zeros(m)
        coef[self.points] = np.maximum(-rows[self.n_fixed :], 0.0)
        intercept = -rows[self.n_fixed - 1] if program.fit_intercept else 0.0
        outputs = _signed_product(program, coef) / self.unit + program.signs * intercept
        excess = self._uses(columns[:m])
        if program.n_errors is None:
            value = columns.sum()
            objective = np.maximum(1.0 - outputs, 0.0).sum() + self.penalty * coef.sum()
            gap = objective - self._bound(value, excess.max(), coef.sum())
            coef, margin, unit = coef / self.unit, 1.0, 1.0
        else:
            value, margin = -columns[m], rows[0]
            excess = excess - columns[m]
            objective = np.maximum(margin - outputs, 0.0).sum() - program.n_errors * margin
            # A larger bound of the rows satisfies all of them.
            gap = objective - value + max(excess.max(), 0.0)
            # Coefficients sum to one, so that outputs have the unit of the matrix.
            unit = self.unit
        best = Solution(
            coef,
            unit * intercept,
            unit * margin,
            unit * objective,
            unit * gap,
            self.n_iter,
            n_rounds,
            "solved",
        )
        return excess, value, best

    def _bound(self, value: float, worst: float, total: float) -> float:
        """Return what the minimum cannot fall below, if rows are violated by so much."""
        if worst <= _SATISFIED:
            # Each row counts with its coefficient, which the minimum has, too, or nearly so.
            return value - max(worst, 0.0) * total
        # Smaller multipliers satisfy all rows, if they may be positive.
        return value * self.penalty / (self.penalty + worst)


def new_highs() -> highspy.Highs:
    """Return HiGHS with the options that all programs share.

    Presolve does nothing for dense rows, and scaling has made the programs that are hard
    because of tiny numbers harder: with it HiGHS gave up on more of them.
    """
    highs = highspy.Highs()
    options: dict[str, bool | int | float | str] = {
        "output_flag": False,
        "parallel": "off",
        "presolve": "off",
        "simplex_scale_strategy": 0,
        "primal_feasibility_tolerance": TOLERANCE,
        "dual_feasibility_tolerance": TOLERANCE,
    }
    for name, value in options.items():
        highs.setOptionValue(name, value)
    return highs


def _unit(matrix: np.ndarray) -> float:
    """Return the largest entry of a matrix, or one."""
    return float(max(matrix.max(), -matrix.min())) or 1.0


def _signed_product(program: Program, vector: np.ndarray) -> np.ndarray:
    """Return the signed matrix, its diagonal lowered, times a vector."""
    signed = program.signs * (program.matrix @ (program.signs * vector))
    return signed - program.diagonal * vector


def _largest(values: np.ndarray, n: int) -> np.ndarray:
    """Return where the n largest values are."""
    if n >= len(values):
        return np.arange(len(values))
    return np.sort(np.argpartition(-values, n)[:n])
