"""The score of a mixture on parts of the points: parts add up, and know all classes."""

import numpy as np

from bayespoint.fitting.mixture_score import MixtureScore
from bayespoint.fitting.mixture_search import MixtureSearch, halves_of
from bayespoint.geometry.mixture import fit_views, term_names


def classes(n=80, c=4, seed=0):
    rng = np.random.default_rng(seed)
    target = np.r_[np.arange(c), rng.integers(c, size=n - c)]
    return rng.normal(size=(n, 3)) + target[:, None], target


def look(X, views):
    return views.look(term_names(views), X)


def test_halves_have_every_point_once_and_the_same_share_of_each_class():
    target = classes(n=101)[1]
    halves = halves_of(target)
    np.testing.assert_array_equal(np.sort(np.concatenate(halves)), np.arange(len(target)))
    count = np.array([np.bincount(target[half], minlength=4) for half in halves])
    assert np.abs(count[0] - count[1]).max() <= 1


def test_the_score_of_two_parts_is_the_sum_of_both_with_one_prior():
    X, target = classes()
    weight = np.random.default_rng(1).uniform(0.5, 2, len(X))
    views = fit_views(X, weight)
    search = MixtureSearch(look(X, views), target, weight, views, True, n_parts=2)
    at = search.prior[:, 0] + 0.1  # in logarithms, off the means of the priors
    constant, weights, gammas, link = search._unpack(at)
    expected, slope = 0.0, np.zeros(len(at))
    for half in halves_of(target):
        part = MixtureScore(look(X[half], views), target[half], weight[half], views, 4)
        # Distances are in units of the whole search.
        value, by_logs = part.evaluate(constant, weights, gammas / search.units * part.units, link)
        expected, slope = expected + value, slope + by_logs
    off = 0.1 / search.prior[:, 1]
    value, found = search.evaluate(at)
    np.testing.assert_allclose(value, expected - 0.5 * off @ off, rtol=1e-12)
    np.testing.assert_allclose(found, slope - off / search.prior[:, 1], rtol=1e-9, atol=1e-10)


def test_the_gradient_of_two_parts_is_that_of_differences():
    X, target = classes(n=40)
    views = fit_views(X)
    search = MixtureSearch(look(X, views), target, np.ones(len(X)), views, True, n_parts=2)
    at, step = search.prior[:, 0], 1e-5
    moves = step * np.eye(len(at))
    values = [[search.evaluate(at + sign * move)[0] for sign in (1, -1)] for move in moves]
    numeric = [(up - down) / (2 * step) for up, down in values]
    # Central differences of step h are off by h^2 times a third derivative, and by rounding / h.
    np.testing.assert_allclose(search.evaluate(at)[1], numeric, rtol=1e-6, atol=1e-6)
