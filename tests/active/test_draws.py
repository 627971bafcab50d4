"""What single hypotheses say, against brute force."""

import numpy as np

from bayespoint import active
from bayespoint.active.query import METHODS


def test_halving_asks_where_votes_are_most_even(moons):
    model, X = moons
    votes = np.mean(model.sample_decision(X)[:128] > 0, axis=0)
    row = active.query(model, X, method="halving")[0]
    even = np.minimum(votes, 1 - votes)
    assert even[row] == even.max()


def test_information_against_brute_force(moons):
    model, X = moons
    X = X[:12]
    draws = np.stack(
        [model._probabilities(model.probit_scale_ * o[:, None]) for o in model.sample_decision(X)]
    )[:128]
    gain = np.zeros(len(X))
    for i in range(len(X)):
        for j in range(len(X)):
            joint = np.mean(draws[:, i, :, None] * draws[:, j, None, :], axis=0)
            apart = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
            gain[i] += np.sum(joint * np.log(joint / apart)) / len(X)
    found = METHODS["information"](model, X, np.random.RandomState(0))
    np.testing.assert_allclose(found, gain, rtol=1e-6, atol=1e-9)
