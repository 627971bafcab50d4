import numpy as np

from bayespoint.papers.experiment import Measured
from bayespoint.papers.learning_rates import MACHINES, extrapolate, learn_all


def test_extrapolation_finds_the_intercept_of_a_line(rng):
    dimensions = np.array([5, 10, 20])
    values = 0.4 + 2 / dimensions[:, None] + 0.01 * rng.standard_normal((3, 400))
    found = extrapolate(dimensions, values)
    assert isinstance(found, Measured)
    assert abs(found.mean - 0.4) < 4 * found.error
    assert found.error < 0.002


def test_limits_of_the_theories_are_the_published_rates():
    for machine in MACHINES.values():
        limit = 2000**machine.power * machine.theory(2000)
        assert abs(limit - machine.paper_rate) < 0.006  # printed with two digits


def test_adaline_follows_its_theory():
    """In 40 dimensions: allow three standard errors and a correction of order 1 / 40."""
    errors = np.array([learn_all(200, 40, seed)[2] for seed in range(12)])
    allowed = 3 * errors.std(ddof=1) / np.sqrt(12) + 0.2 / 40
    assert abs(errors.mean() - MACHINES["Adaline"].theory(5)) < allowed
