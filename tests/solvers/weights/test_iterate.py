import numpy as np
import pytest

from bayespoint._runtime.share_done import heard_by
from bayespoint.solvers.weights.belief import Belief, independent
from bayespoint.solvers.weights.iterate import MIN_DAMPING_SHARE, iterate
from bayespoint.solvers.weights.prior_scale import PriorScale
from bayespoint.solvers.weights.rows import Rows


class Overshooting(Rows):
    """Sites whose full updates overshoot by a factor."""

    def __init__(self, factor, wanted=3.0):
        self.factor, self.wanted = factor, wanted
        self.shift, self.shares = 0.0, []

    def sweep(self, belief, share):
        self.shares.append(share)
        self.shift += share * self.factor * (self.wanted - self.shift)
        return Belief(np.ones(1), np.array([self.shift]))

    def log_constant(self, belief):
        return 0.0


@pytest.mark.parametrize("factor", [0.5, 1.9, 5.0])
def test_the_share_that_is_done_never_falls(factor):
    heard = []
    with heard_by(lambda share, step: heard.append(share)):
        iterate(Overshooting(factor), independent(np.ones(1), False), 1000, 1e-8)
    assert heard == sorted(heard)
    assert (heard[0], heard[-1]) == (0, 1)
    assert len(set(heard)) > 3


@pytest.mark.parametrize("factor", [1.0, 1.9, 5.0])
def test_oscillating_updates_are_damped(factor):
    rows, prior = Overshooting(factor), independent(np.ones(1), False)
    fit = iterate(rows, prior, 1000, 1e-8)
    assert fit.change <= 1e-8
    assert rows.shift == pytest.approx(3.0, abs=1e-6)
    assert rows.shares[0] == 1.0
    assert min(rows.shares) >= MIN_DAMPING_SHARE
    # Without damping, a factor of two or more would never converge.
    assert (min(rows.shares) < 1) == (factor > 2)


def test_sweeps_are_limited():
    rows, prior = Overshooting(1.9), independent(np.ones(1), False)
    fit = iterate(rows, prior, 3, 0.0)
    assert fit.n_iter == len(rows.shares) == 3
    assert fit.change > 0


def test_the_first_sweep_begins_at_the_start():
    seen = []

    class Noting(Overshooting):
        def sweep(self, belief, share):
            seen.append(belief)
            return super().sweep(belief, share)

    prior, start = (independent(np.full(1, v), False) for v in (1.0, 0.1))
    iterate(Noting(1.0), prior, 2, 0.0, start=start)
    assert seen[0] is start
    np.testing.assert_allclose(seen[1].precision, prior.precision + 1)


@pytest.mark.parametrize("given", [False, True])
def test_a_start_lets_the_prior_step_after_one_sweep(given):
    seen = []

    class Noting(Overshooting):
        def sweep(self, belief, share):
            seen.append(belief)
            return super().sweep(belief, share)

    scale = PriorScale(np.ones(1), 1.0, 0.0, 1)
    start = independent(np.full(1, 0.01), False) if given else None
    iterate(Noting(1.0), scale.prior(False), 2, 0.0, scale=scale, start=start)
    # The sites have precision 1, and so has the first prior. The mean 1.5 asks for a wider one, but
    # a sweep that moved by more than this correction is no reason to step.
    if given:
        assert 1 < seen[1].precision[0] < 1.5
    else:
        assert seen[1].precision[0] == 2
