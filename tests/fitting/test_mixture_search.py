"""The choice of a mixture: its gradient, weights as repeated rows, time, what it prefers."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from bayespoint.fitting.mixture_search import MixtureSearch, choose_mixture
from bayespoint.geometry.mixture import fit_views, term_names


def classes(n=40, c=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    X[:, 2] = rng.integers(3, size=n)
    target = np.r_[np.arange(c), rng.integers(c, size=n - c)]
    X[:, 0] += target
    return X, target


def search_of(X, target, weight=None, fit_intercept=True, **options):
    weight = np.ones(len(X)) if weight is None else weight
    views = fit_views(X, weight)
    looked = views.look(term_names(views), X)
    return MixtureSearch(looked, target, weight, views, fit_intercept, **options)


def slopes(search, at, step=1e-5):
    """Return central differences of the score."""
    moves = step * np.eye(len(at))
    values = [[search.evaluate(at + sign * move)[0] for sign in (1, -1)] for move in moves]
    return np.array([(up - down) / (2 * step) for up, down in values])


def never(seconds):
    return False


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_gradient_is_that_of_differences(fit_intercept):
    X, target = classes()
    weight = np.random.default_rng(1).uniform(0.5, 2, len(X))
    search = search_of(X, target, weight, fit_intercept)
    at = search.prior[:, 0] + np.random.default_rng(2).normal(scale=0.3, size=len(search.prior))
    # Central differences of step h are off by h^2 times a third derivative, and by rounding / h.
    np.testing.assert_allclose(search.evaluate(at)[1], slopes(search, at), rtol=1e-6, atol=1e-6)


def test_a_gradient_broken_on_purpose_fails():
    X, target = classes()
    search = search_of(X, target)
    at = search.prior[:, 0]
    numeric = slopes(search, at)
    search.parts[0].distances *= 1.01
    assert np.abs(search.evaluate(at)[1] - numeric).max() > 1e-3


def test_a_whole_weight_counts_as_equal_rows():
    X, target = classes()
    weight = np.random.default_rng(1).integers(1, 3, len(X))
    rows = np.repeat(np.arange(len(X)), weight)
    once = choose_mixture(X, target, weight.astype(float), True, never)
    repeated = choose_mixture(X[rows], target[rows], None, True, never)
    assert once.mixture.names == repeated.mixture.names
    np.testing.assert_allclose(once.mixture.weights, repeated.mixture.weights, rtol=1e-10)
    np.testing.assert_allclose(once.mixture.gammas, repeated.mixture.gammas, rtol=1e-10)
    assert once.softness == pytest.approx(repeated.softness, rel=1e-10)


def test_categories_that_are_codes_are_seen():
    rng = np.random.default_rng(0)
    X = rng.integers(5, size=(200, 4)).astype(float)
    target = (X[:, 0] == X[:, 1]).astype(int)
    noisy = rng.normal(size=(200, 4))
    noisy_target = (noisy[:, 0] > 0).astype(int)
    found = choose_mixture(X, target, None, True, never).mixture
    assert found.weights[found.names.index("overlap")] > 0.3
    assert "overlap" not in choose_mixture(noisy, noisy_target, None, True, never).mixture.names


@pytest.mark.parametrize("seed", range(3))
def test_more_noise_in_the_labels_means_more_softness(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(150, 2))
    clean = (X[:, 0] > 0).astype(int)
    noisy = np.where(rng.random(150) < 0.4, 1 - clean, clean)
    soft = [choose_mixture(X, y, None, True, never).softness for y in (clean, noisy)]
    assert soft[1] > 2 * soft[0]


def test_the_search_stops_in_time_with_the_best_so_far():
    X, target = classes()
    asked = []

    def stop(seconds):
        asked.append(seconds)
        return len(asked) > 2

    with pytest.warns(ConvergenceWarning, match="after 3 of up to 13 trials"):
        found = choose_mixture(X, target, None, True, stop)
    assert len(found.score) == 3
    assert min(asked) > 0
    longer = choose_mixture(X, target, None, True, never)
    assert max(s for _, s in longer.score) >= max(s for _, s in found.score)


def test_no_constant_without_an_intercept():
    X, target = classes()
    assert choose_mixture(X, target, None, False, never).constant == 0
    assert choose_mixture(X, target, None, True, never).constant > 0


def test_constant_columns_are_no_problem():
    found = choose_mixture(np.zeros((20, 2)), np.arange(20) % 2, None, True, never)
    assert np.isfinite(found.mixture.gammas).all()
    assert np.isfinite(found.softness)


@pytest.mark.parametrize("weight", [1e-200, 1e-12, 1e12, 1e100])
def test_units_of_distance_do_not_depend_on_the_unit_of_weights(weight):
    X, target = classes()
    units = [search_of(X, target, w).units for w in (np.ones(len(X)), np.full(len(X), weight))]
    # Only how much a point's distance to itself counts differs: nothing, or up to one half.
    assert np.all(units[1] < 2 * units[0])
    assert np.all(units[1] > units[0] / 2)
