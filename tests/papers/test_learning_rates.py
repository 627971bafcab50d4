import numpy as np

from bayespoint.papers.experiment import Measured
from bayespoint.papers.learning_rates import extrapolate


def test_extrapolation_finds_the_intercept_of_a_line(rng):
    dimensions = np.array([5, 10, 20])
    values = 0.4 + 2 / dimensions[:, None] + 0.01 * rng.standard_normal((3, 400))
    found = extrapolate(dimensions, values)
    assert isinstance(found, Measured)
    assert abs(found.mean - 0.4) < 4 * found.error
    assert found.error < 0.002
