"""The dual program against SciPy's primal program; adding and dropping constraints."""

import time

import numpy as np
import pytest

from bayespoint.solvers.programs import dual_program
from bayespoint.solvers.programs.dual_program import DualProgram, largest_entry, signed_product
from bayespoint.solvers.programs.highs import HIGHS_TOLERANCE
from program_problems import PROGRAMS, minimum, noisy_program, objective

# HiGHS satisfies constraints to 1e-9, and the coefficients sum to less than a hundred.
PRECISION = 100 * 1e-9


def generate(program, start=None, ends=np.inf, stop=lambda: False):
    return DualProgram(program, HIGHS_TOLERANCE).generate(start, ends, stop)


@pytest.mark.parametrize("name", PROGRAMS)
def test_finds_the_minimum_and_proves_it(rng, name):
    program = noisy_program(rng, **PROGRAMS[name])
    found = generate(program)
    assert found.state == "solved"
    assert np.all(found.coef >= 0)
    assert found.objective == pytest.approx(objective(program, found), abs=PRECISION)
    assert found.objective == pytest.approx(minimum(program), abs=PRECISION)
    assert abs(found.gap) <= PRECISION
    if program.n_errors is not None:
        assert found.coef.sum() == pytest.approx(1)


@pytest.mark.parametrize("name", PROGRAMS)
def test_weights_are_costs_of_slacks(rng, name):
    program = noisy_program(rng, weight=rng.uniform(0.2, 3.0, 60), **PROGRAMS[name])
    found = generate(program)
    assert found.objective == pytest.approx(objective(program, found), abs=3 * PRECISION)
    assert found.objective == pytest.approx(minimum(program), abs=3 * PRECISION)
    assert abs(found.gap) <= 3 * PRECISION


@pytest.mark.parametrize("name", PROGRAMS)
def test_few_constraints_a_round_find_the_same_minimum(rng, name, monkeypatch):
    program = noisy_program(rng, **PROGRAMS[name])
    expected = generate(program)
    monkeypatch.setattr(dual_program, "_MIN_NEW_CONSTRAINTS", 1)
    monkeypatch.setattr(dual_program, "_POINTS_PER_NEW_CONSTRAINT", 1000)
    found = generate(program)
    assert found.n_rounds > expected.n_rounds
    assert found.objective == pytest.approx(expected.objective, abs=PRECISION)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_start_saves_rounds_and_changes_nothing_else(rng, name):
    program = noisy_program(rng, m=400, **PROGRAMS[name])
    cold = generate(program)
    warm = generate(program, np.flatnonzero(cold.coef))
    assert warm.n_rounds <= cold.n_rounds
    assert warm.objective == pytest.approx(cold.objective, abs=400 / 60 * PRECISION)


@pytest.mark.parametrize("why", ["time", "asked"])
def test_stops_with_coefficients_and_an_honest_gap(rng, why, monkeypatch):
    monkeypatch.setattr(dual_program, "_MIN_NEW_CONSTRAINTS", 2)
    program = noisy_program(rng, m=200, penalty=0.5)
    if why == "time":
        found = generate(program, ends=time.perf_counter())
    else:
        found = generate(program, stop=lambda: True)
    least = generate(program).objective
    assert found.state == "stopped"
    assert found.n_rounds == 1
    assert found.objective == pytest.approx(objective(program, found), abs=PRECISION)
    assert found.objective - found.gap <= least + PRECISION < found.objective


def test_idle_constraints_are_dropped(rng, monkeypatch):
    monkeypatch.setattr(dual_program, "_MIN_NEW_CONSTRAINTS", 10)
    monkeypatch.setattr(dual_program, "_POINTS_PER_NEW_CONSTRAINT", 1000)
    dropped = []

    class Noting(DualProgram):
        def _drop(self, places):
            before = self.points
            super()._drop(places)
            dropped.extend(np.setdiff1d(before, self.points))
            assert self.highs.getNumRow() == len(self.points) + self.n_fixed

    program = noisy_program(rng, m=200, fit_intercept=True)
    found = Noting(program, HIGHS_TOLERANCE).generate(None, np.inf, lambda: False)
    assert dropped
    assert found.objective == pytest.approx(minimum(program), abs=4 * PRECISION)


@pytest.mark.parametrize(("matrix", "largest"), [([[1, -3], [2, 0]], 3), ([[0.0]], 1), ([[-2]], 2)])
def test_largest_entry(matrix, largest):
    assert largest_entry(np.array(matrix, dtype=float)) == largest


def test_signed_product_is_the_product_with_the_signed_matrix(rng):
    program = noisy_program(rng, m=9)._replace(diagonal=rng.uniform(0, 1, 9))
    vector = rng.standard_normal(9)
    signed = program.matrix * np.outer(program.signs, program.signs) - np.diag(program.diagonal)
    np.testing.assert_allclose(signed_product(program, vector), signed @ vector, atol=1e-14)
