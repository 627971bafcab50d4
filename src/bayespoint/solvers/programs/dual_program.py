"""The dual linear program of a kernel machine; its constraints are added as needed."""

from __future__ import annotations

import time
from typing import NamedTuple

import highspy
import numpy as np

from .highs import HIGHS_TOLERANCE, NotSolvedError, add_constraints, new_highs

# New constraints per round: this many, or one per this many points if that is more. Fewer mean
# more rounds, more mean useless constraints; half and twice as many took equally long.
_MIN_NEW_CONSTRAINTS = 50
_POINTS_PER_NEW_CONSTRAINT = 20
# Drop a constraint that is farther from its bound than this, in units of the largest entry.
_IDLE_DISTANCE = 0.1
# Constraints violated by at most this are satisfied up to the rounding of HiGHS.
_MAX_ROUNDING_VIOLATION = 100 * HIGHS_TOLERANCE
# After this many iterations in a round the simplex method must be cycling: rounds that
# finished needed at most a few per point.
_MAX_ITERATIONS = 10_000
_MAX_ITERATIONS_PER_POINT = 10


class Program(NamedTuple):
    """The linear program of a kernel machine with coefficients and slacks >= 0.

    Minimize sum(weight * slack) + penalty * sum(coefficients) so that for every point
    sign * output - diagonal * coefficient >= 1 - slack, where an output is
    sum_j sign_j coefficient_j k(x_j, x), plus a threshold if there is an intercept.

    With `n_errors` the margin is a variable instead of one: minimize
    sum(weight * slack) - n_errors * margin, where the coefficients sum to one.
    """

    matrix: np.ndarray  # kernel matrix, symmetric, without signs
    signs: np.ndarray  # -1.0 and +1.0
    diagonal: np.ndarray
    weight: np.ndarray  # > 0, about one
    penalty: float = 0.0
    n_errors: float | None = None
    fit_intercept: bool = False


class Solution(NamedTuple):
    """The best coefficients, and how close they are proved to be to the minimum."""

    coef: np.ndarray  # one for each point, >= 0
    intercept: float
    margin: float
    objective: float
    gap: float  # the minimum is at most this much below the objective
    n_iter: int
    n_rounds: int
    state: str  # "solved", "held back" (a penalty was needed) or "stopped"


class DualProgram:
    """The dual program with some of its constraints; entries up to `tiny` count as zero.

    In the dual program every point has a multiplier between zero and one, in units of its
    weight w, and every coefficient is a constraint:
    sum_i (y_i y_j k_ij - diagonal_ij) w_i b_i <= penalty. Few
    coefficients are positive, so few constraints matter, and only these are generated. When
    constraints are added, the dual simplex method continues from its last basis. The basis
    is as large as the number of constraints, and many multipliers flip between their bounds
    at a time. The dual values of the constraints are valid coefficients after every round, so
    that a fit can be stopped at any time. Memory is needed for the matrix, and twice for the
    constraints, with indices.
    """

    def __init__(self, program: Program, tiny: float):
        self.program = program
        self.tiny = tiny
        self.n_points = len(program.signs)
        # HiGHS has absolute tolerances, so outputs are measured in units of the matrix.
        self.unit = largest_entry(program.matrix)
        self.penalty = program.penalty / self.unit
        self.points = np.empty(0, dtype=int)  # whose constraints are in the program
        self.n_fixed = 0
        self.n_iter = 0
        self.highs = new_highs()
        limit = _MAX_ITERATIONS + _MAX_ITERATIONS_PER_POINT * self.n_points
        self.highs.setOptionValue("simplex_iteration_limit", limit)
        self._pass_columns()

    def _pass_columns(self) -> None:
        """Pass the multipliers, the common bound of constraints, and the fixed constraints."""
        m, program = self.n_points, self.program
        self.highs.addVars(m, np.zeros(m), np.ones(m))
        if program.n_errors is None:
            self.highs.changeColsCost(m, np.arange(m, dtype=np.int32), -program.weight)
        else:
            # The bound of the constraints is a variable, which is minimized.
            self.highs.addCol(1.0, -np.inf, np.inf, 0, [], [])
            self._add_equation(program.weight, program.n_errors)
        if program.fit_intercept:
            self._add_equation(program.signs * program.weight, 0.0)

    def _add_equation(self, values, right: float) -> None:
        """Add the fixed constraint values @ multipliers = right."""
        everywhere = np.arange(self.n_points, dtype=np.int32)
        self.highs.addRow(right, right, self.n_points, everywhere, values)
        self.n_fixed += 1

    def generate(self, start, ends: float, stop) -> Solution:
        """Add constraints and solve, in turns, until all constraints are satisfied."""
        size = max(_MIN_NEW_CONSTRAINTS, self.n_points // _POINTS_PER_NEW_CONSTRAINT)
        excess = self._excess(self._first_multipliers())
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
            new = new[candidates[new] > HIGHS_TOLERANCE]
            if len(new) and (time.perf_counter() >= ends or stop()):
                state = "stopped"
                break
            # Drop only while the value improves, or constraints could come and go forever.
            if len(new) and value < lowest:
                lowest = value
                self._drop(np.flatnonzero(excess[self.points] < -_IDLE_DISTANCE))
        assert best is not None  # the first round has constraints and unlimited time
        return best._replace(state=state, n_iter=self.n_iter)

    def _first_multipliers(self) -> np.ndarray:
        """Return multipliers, equal in each class, that satisfy the fixed constraints."""
        program = self.program
        positive = program.signs > 0
        share = np.ones(self.n_points)
        if program.fit_intercept:
            totals = program.weight[positive].sum(), program.weight[~positive].sum()
            share = min(totals) / np.where(positive, *totals)
        if program.n_errors is None:
            return share
        return share * (program.n_errors / (program.weight @ share))

    def _excess(self, multipliers) -> np.ndarray:
        """Return the left side of all constraints minus the penalty."""
        weighted = self.program.weight * multipliers
        return signed_product(self.program, weighted) / self.unit - self.penalty

    def _add(self, points: np.ndarray) -> None:
        """Add the constraints of these points."""
        program = self.program
        entries = program.signs[points, None] * program.signs * program.matrix[points]
        entries[np.arange(len(points)), points] -= program.diagonal[points]
        entries /= self.unit
        entries *= program.weight
        # HiGHS ignores entries below its tolerance. Entries below a penalty seldom justify a
        # coefficient, and make HiGHS fail.
        entries[np.abs(entries) <= self.tiny] = 0.0
        if program.n_errors is not None:
            entries = np.column_stack([entries, np.full(len(points), -1.0)])
        add_constraints(self.highs, entries, -np.inf, self.penalty)
        self.points = np.append(self.points, points)

    def _drop(self, places: np.ndarray) -> None:
        """Drop constraints that are far from their bound; they may come back."""
        if len(places):
            self.highs.deleteRows(len(places), (places + self.n_fixed).astype(np.int32))
            self.points = np.delete(self.points, places)

    def _run(self, ends: float) -> bool:
        """Solve with the current constraints; return False if time runs out."""
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
        """Return the violation of each constraint, the dual value, and the coefficients."""
        program, m = self.program, self.n_points
        found = self.highs.getSolution()
        columns, duals = np.array(found.col_value), np.array(found.row_dual)
        coef = np.zeros(m)
        coef[self.points] = np.maximum(-duals[self.n_fixed :], 0.0)
        intercept = -duals[self.n_fixed - 1] if program.fit_intercept else 0.0
        outputs = signed_product(program, coef) / self.unit + program.signs * intercept
        excess = self._excess(columns[:m])
        if program.n_errors is None:
            value = program.weight @ columns
            objective = program.weight @ np.maximum(1.0 - outputs, 0.0) + self.penalty * coef.sum()
            gap = objective - self._bound(value, excess.max(), coef.sum())
            coef, margin, unit = coef / self.unit, 1.0, 1.0
        else:
            value, margin = -columns[m], duals[0]
            excess = excess - columns[m]
            slacks = np.maximum(margin - outputs, 0.0)
            objective = program.weight @ slacks - program.n_errors * margin
            # A larger common bound would satisfy all constraints.
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
        """Return a lower bound of the minimum, if constraints are violated by up to `worst`."""
        if worst <= _MAX_ROUNDING_VIOLATION:
            # Each violation counts with the coefficient of its constraint, which is about the
            # same at the minimum.
            return value - max(worst, 0.0) * total
        # With a penalty, smaller multipliers satisfy all constraints.
        return value * self.penalty / (self.penalty + worst)


def largest_entry(matrix: np.ndarray) -> float:
    """Return the largest absolute entry of a matrix, or one if all are zero."""
    return float(max(matrix.max(), -matrix.min())) or 1.0


def signed_product(program: Program, vector: np.ndarray) -> np.ndarray:
    """Return the signed matrix, with its diagonal lowered, times a vector."""
    signed = program.signs * (program.matrix @ (program.signs * vector))
    return signed - program.diagonal * vector


def _largest(values: np.ndarray, n: int) -> np.ndarray:
    """Return the indices of the n largest values, in ascending order."""
    if n >= len(values):
        return np.arange(len(values))
    return np.sort(np.argpartition(-values, n)[:n])
