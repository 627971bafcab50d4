"""Programs that HiGHS cannot solve unchanged."""

import numpy as np
import pytest

from bayespoint.solvers.programs.dual_program import DualProgram
from bayespoint.solvers.programs.highs import NotSolvedError
from bayespoint.solvers.programs.linear_program import _FALLBACK_PENALTIES, solve
from program_problems import PROGRAMS, minimum, noisy_program, objective


def give_up_below(penalty, monkeypatch):
    """Let HiGHS fail on programs with smaller penalties."""
    run = DualProgram._run

    def fail(self, ends):
        if self.penalty < penalty:
            raise NotSolvedError("no")
        return run(self, ends)

    monkeypatch.setattr(DualProgram, "_run", fail)


def test_a_program_that_can_be_solved_has_no_penalty(rng):
    program = noisy_program(rng)
    found = solve(program)
    assert found.state == "solved"
    assert found.objective == pytest.approx(minimum(program), abs=1e-7)


@pytest.mark.parametrize("unit", [1e-8, 1e8])
@pytest.mark.parametrize("name", PROGRAMS)
def test_units_of_the_weights_do_not_matter(rng, name, unit):
    program = noisy_program(rng, weight=rng.uniform(0.2, 3.0, 60), **PROGRAMS[name])
    n_errors = None if program.n_errors is None else unit * program.n_errors
    scaled = program._replace(
        weight=unit * program.weight, penalty=unit * program.penalty, n_errors=n_errors
    )
    one, two = solve(program), solve(scaled)
    np.testing.assert_allclose(two.coef, one.coef, rtol=1e-6, atol=1e-8)
    assert two.objective == pytest.approx(unit * one.objective, rel=1e-7, abs=unit * 1e-7)
    assert abs(two.gap) <= unit * 1e-7


def test_the_first_penalty_that_helps_is_taken(rng, monkeypatch):
    program = noisy_program(rng)
    size = _FALLBACK_PENALTIES[1]
    give_up_below(0.9 * size, monkeypatch)
    found = solve(program)
    assert found.state == "held back"
    # The objective leaves out the penalty, and nothing proves it minimal: the gap is all of it.
    assert found.objective == pytest.approx(objective(program, found), abs=1e-7)
    assert found.gap == found.objective
    penalized = program._replace(penalty=size)
    assert found.objective + size * found.coef.sum() == pytest.approx(minimum(penalized), abs=1e-7)


def test_units_of_the_matrix_do_not_matter_for_penalties(rng, monkeypatch):
    program = noisy_program(rng)
    give_up_below(0.9 * _FALLBACK_PENALTIES[0], monkeypatch)
    scaled = program._replace(matrix=1e6 * program.matrix, diagonal=1e6 * program.diagonal)
    one, two = solve(program), solve(scaled)
    np.testing.assert_allclose(two.coef * 1e6, one.coef, rtol=1e-6, atol=1e-6)


def test_a_program_that_no_penalty_helps_is_an_error(rng, monkeypatch):
    give_up_below(np.inf, monkeypatch)
    with pytest.raises(NotSolvedError, match="no"):
        solve(noisy_program(rng))


def test_time_is_for_all_attempts_but_the_first_round_is_always_made(rng):
    found = solve(noisy_program(rng, m=200), max_time=0.0)
    assert found.n_rounds == 1
    assert np.isfinite(found.objective)
