"""The temperature of many classes: found again where it is known, and weights as copies."""

import numpy as np

from bayespoint.fitting.probabilities import exactly_one
from bayespoint.fitting.temperature import fitted_temperature


def drawn(factor, n=20_000, c=4, seed=0):
    """Return outputs, and classes drawn from the probabilities of outputs times a factor."""
    rng = np.random.default_rng(seed)
    outputs = rng.normal(size=(n, c))
    p = exactly_one(factor * outputs)
    return outputs, (p.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1)


def test_the_factor_that_drew_the_classes_is_found():
    for factor in (0.5, 1.0, 2.0):
        found = [fitted_temperature(*drawn(factor, seed=s)) for s in range(5)]
        error = np.std(found, ddof=1) / np.sqrt(5)
        # Five fits: a t distribution with four degrees of freedom exceeds 8.6 in 0.1 %.
        assert abs(np.mean(found) - factor) < 8.6 * error + 0.01 * factor


def test_a_prior_decides_without_data():
    outputs, target = drawn(1.0, n=3)
    # Three points that are all wrong move it by about as much as one deviation of the prior each.
    assert 0.1 < fitted_temperature(10 * outputs, target) < 2


def test_a_weight_counts_as_copies():
    outputs, target = drawn(1.5, n=60)
    weight = np.random.default_rng(1).integers(1, 4, 60)
    rows = np.repeat(np.arange(60), weight)
    once = fitted_temperature(outputs, target, weight.astype(float))
    assert once == fitted_temperature(outputs[rows], target[rows])


def test_it_makes_left_out_points_more_probable():
    outputs, target = drawn(3.0, n=500)

    def loss(factor):
        return -np.mean(np.log(exactly_one(factor * outputs))[np.arange(500), target])

    found = fitted_temperature(outputs, target)
    assert loss(found) < loss(1.0) - 0.05
