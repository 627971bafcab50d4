"""Linear programs of large margin machines, solved by HiGHS, with a penalty if needed."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from .dual_program import DualProgram, Program, Solution, largest_entry
from .highs import HIGHS_TOLERANCE, NotSolvedError

# If HiGHS cannot solve a program, try these penalties on the coefficients in turn, in units of
# the largest entry of the matrix.
_FALLBACK_PENALTIES = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2)


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
        The program to solve.
    start : ndarray of int, default=None
        Points that are expected to have coefficients, from a similar program. They save
        rounds but do not change the answer.
    max_time : float, default=np.inf
        Seconds after which the best coefficients so far are returned.
    stop : callable, default=never
        Called after every round; a true return value stops with the best coefficients so
        far.

    Returns
    -------
    Solution
        A `gap` near zero proves that it is the minimum.

    Raises
    ------
    NotSolvedError
        If HiGHS gives up even on the program with a penalty on the coefficients.

    Notes
    -----
    Where kernel values are tiny, coefficients become huge (10^8 and more), and HiGHS may
    fail because of rounding errors. Then the program is solved with a small penalty.
    """
    ends = time.perf_counter() + max_time
    # Tolerances are absolute, so costs are measured in units of the mean weight.
    unit = float(program.weight.mean())
    n_errors = None if program.n_errors is None else program.n_errors / unit
    program = program._replace(
        weight=program.weight / unit, penalty=program.penalty / unit, n_errors=n_errors
    )
    for size in (0.0, *_FALLBACK_PENALTIES):
        extra = size * largest_entry(program.matrix)
        penalized = program._replace(penalty=program.penalty + extra)
        try:
            found = DualProgram(penalized, max(size, HIGHS_TOLERANCE)).generate(start, ends, stop)
        except NotSolvedError as error:
            failed = error
            continue
        found = found._replace(objective=unit * found.objective, gap=unit * found.gap)
        if not extra:
            return found
        objective = found.objective - unit * extra * found.coef.sum()
        # For the program without the penalty, zero is the only known lower bound of the slacks.
        return found._replace(objective=objective, gap=objective, state="held back")
    raise failed
