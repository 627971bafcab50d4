"""Shares of time, cut-down training sets, and the warning about an early stop."""

import time
from contextlib import contextmanager

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from bayespoint.fitting import time_budget
from bayespoint.fitting.task import Task
from bayespoint.fitting.time_budget import (
    affordable_points,
    solve_at_once,
    solve_in_turn,
    warn_unless_converged,
)
from bayespoint.solvers import Posterior


def task(m=1000, **limits):
    return Task(
        X=np.zeros((m, 1)),
        signs=np.ones((1, m)),
        target=np.arange(m) % 2,
        kernel=None,
        solver=None,
        softness=0.0,
        rng=np.random.default_rng(0),
        **limits,
    )


def in_seconds(seconds, **limits):
    return task(max_time=seconds, deadline=time.perf_counter() + seconds, **limits)


def test_without_a_limit_all_points_are_used():
    np.testing.assert_array_equal(
        affordable_points(task(), np.arange(1000), lambda n: n * 1e9), np.arange(1000)
    )


@pytest.mark.parametrize("seconds_per_point", [0.1, 1.0, 1e9])
def test_as_many_points_as_half_of_the_time_allows(seconds_per_point):
    with pytest.warns(ConvergenceWarning, match=r"max_time=100 is too short to use all 1000"):
        kept = affordable_points(
            in_seconds(100.0), np.arange(1000), lambda n: n * seconds_per_point
        )
    # Half is 50 seconds; sizes are multiples of 50 from 100 on, and both classes are always kept.
    expected = max(50 / seconds_per_point // 50 * 50, 100)
    assert expected - 50 <= len(kept) <= expected + 2


def posterior(stop):
    return Posterior(np.zeros(1), np.zeros((2, 1)), np.zeros((2, 1)), {"stop": stop})


@pytest.mark.parametrize("stop", ["tol", "interrupted", "callback"])
def test_outputs_share_the_time_that_is_left(stop):
    given = []

    def solve(deadline, on_round):
        given.append(deadline - time.perf_counter())
        return posterior(stop)

    assert len(solve_in_turn(in_seconds(60.0), None, [solve] * 3)) == 3
    # The first output takes no time, so the second of three gets half of the rest, and so on.
    expected = [20.0, 30.0, 60.0] if stop == "tol" else [20.0, 0.0, 0.0]
    np.testing.assert_allclose(given, expected, atol=5.0)


def info(stop, angle=0.1, mixed=True):
    return {"stop": stop, "angle": angle, "mixed": mixed, "n_bounces": 7, "r_hat": 1.5}


def test_the_worst_output_is_reported():
    infos = [info("tol"), info("max_time", angle=0.2), info("n_bounces", mixed=False)]
    with pytest.warns(ConvergenceWarning, match=r"stopped early \(n_bounces\).*Raise n_bounces"):
        warn_unless_converged(infos)


@pytest.mark.parametrize("stop", time_budget.ADVICE)
def test_every_reason_has_its_advice(stop):
    with pytest.warns(ConvergenceWarning, match="The answer so far is kept"):
        warn_unless_converged([info(stop)])


def test_converged_outputs_are_no_warning():
    warn_unless_converged([info("tol"), info("done")])


def test_outputs_at_once_stop_like_outputs_in_turn():
    deadlines = []

    def solve(deadline, on_round):
        deadlines.append(deadline)
        return posterior("max_time" if deadline < 0 else "tol")

    class Stopping:
        @contextmanager
        def output(self, number):
            yield lambda info: number == 1

    found = solve_at_once(map, Stopping(), [solve] * 4)
    assert deadlines == [np.inf, np.inf, -np.inf, -np.inf]
    assert [p.info["stop"] for p in found] == ["tol", "tol", "callback", "callback"]
    deadlines.clear()
    assert len(solve_at_once(map, None, [solve] * 3)) == 3
    assert deadlines == [np.inf] * 3
