import pickle
import time
from typing import NamedTuple

import numpy as np
import pytest

from bayespoint._runtime.interrupt import Interrupted
from bayespoint.solvers.rounds import BURN_IN_SHARE, Rounds, Step, Stop
from helpers import orthant_space


class Leg(NamedTuple):
    total: np.ndarray
    n: int
    draws: np.ndarray | None


def advance(space, chain, rng, n, should_stop):
    """Draw n independent unit vectors from the orthant."""
    w = np.abs(rng.standard_normal((n, space.gram.rank)))
    w /= np.linalg.norm(w, axis=1, keepdims=True)
    return chain + n, Leg(w.sum(axis=0), n, w[:8])


class Independent(Rounds):
    length_parameter = "n_samples"

    def __init__(self, solver, space, rng):
        super().__init__(solver, space, rng, 10)
        self.chains = [0] * solver.n_chains

    def _step(self):
        return Step(advance, self.space)

    def _size(self, legs):
        return legs[0].n

    def _share(self, leg):
        return leg.total, float(leg.n)

    def info(self, stop):
        return {"stop": stop, "sizes": list(self.sizes), **self.precision()._asdict()}


class Limits(NamedTuple):
    n_samples: int = 40_000
    n_chains: int = 4
    n_draws: int = 16
    tol: float = 0.0


def run(limits, rng, deadline=np.inf, on_round=None):
    return Independent(limits, orthant_space(5), rng).run(None, deadline, on_round)


def test_goes_on_to_the_allowed_length_in_growing_rounds(rng):
    posterior = run(Limits(), rng)
    assert posterior.info["stop"] == "n_samples"
    sizes = posterior.info["sizes"]
    assert sum(sizes) == 10_000
    assert sizes[:-1] == sorted(sizes[:-1])
    assert posterior.draws.shape == (16, 5)
    assert posterior.draw_chains == 4


def test_the_error_estimate_is_right_for_independent_draws(rng):
    info = run(Limits(), rng).info
    kept = 40_000 * (1 - BURN_IN_SHARE)
    # Four chains or eight halves in five dimensions give a chi square with about 12 degrees of
    # freedom: within a factor of 4 of its mean except for one case in a thousand.
    assert kept / 4 < info["ess"] < kept * 4
    assert info["r_hat"] < 1.05


def test_stops_at_tol(rng):
    posterior = run(Limits(tol=0.05), rng)
    assert posterior.info["stop"] == "tol"
    assert posterior.info["angle"] <= 0.05


def test_stops_when_asked_to_or_when_time_is_up(rng):
    assert run(Limits(), rng, on_round=lambda info: True).info["stop"] == "callback"
    assert run(Limits(), rng, deadline=time.perf_counter()).info["stop"] == "max_time"


def test_a_stop_sent_to_another_process_keeps_the_time_that_is_left():
    interrupted = Interrupted()
    stop = Stop(interrupted, time.perf_counter() + 3600)
    elsewhere = pickle.loads(pickle.dumps(stop))
    assert not elsewhere()
    assert elsewhere.deadline == pytest.approx(stop.deadline, abs=60)
    interrupted.pressed = True
    assert stop()
    assert not elsewhere()  # Ctrl-C is not passed on
    assert pickle.loads(pickle.dumps(Stop(interrupted, time.perf_counter() - 1)))()
