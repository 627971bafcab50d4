"""Great circles: isotropic random tangents, and the point halfway to a wall."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import linalg

from bayespoint.geometry.great_circle import halfway, random_tangent, unit_vector
from version_space_problems import EPS, linear_space, rng_of, seeds, separable


@given(n=st.integers(2, 50), seed=seeds, small=st.floats(-12, 0))
@settings(max_examples=60)
def test_tangent_is_orthogonal_and_unit(n, seed, small):
    rng = rng_of(seed)
    w = rng.standard_normal(n) * 10 ** np.linspace(0, small, n)
    w /= np.linalg.norm(w)
    v = random_tangent(w, rng)
    assert np.linalg.norm(v) == pytest.approx(1, abs=4 * EPS)
    # The first projection is scaled to a unit vector; the second leaves n eps of it along w.
    assert abs(v @ w) <= 4 * n * EPS


def test_tangent_is_orthogonal_however_close_the_draw_is_to_w():
    class Close:
        """A generator that draws w itself, up to 1e-7."""

        def standard_normal(self, n):
            return w + 1e-7 * np.arange(n)

    w = rng_of().standard_normal(5)
    w /= np.linalg.norm(w)
    # A single projection would leave a few eps of w, which is 1e-9 of the tangent.
    assert abs(random_tangent(w, Close()) @ w) <= 20 * EPS


def isotropy(sample, n_draws=20_000, n=5):
    """Return z-scores, about N(0, 1), of first and second moments of random tangents.

    A uniform unit vector in k = n - 1 dimensions has E v_i = 0, var v_i = 1 / k,
    var v_i^2 = 2 (k - 1) / (k^2 (k + 2)), var v_i v_j = 1 / (k (k + 2)).
    """
    rng = rng_of()
    w = rng.standard_normal(n)
    w /= np.linalg.norm(w)
    basis, k = linalg.null_space(w[None]), n - 1
    draws = np.array([sample(w, rng) for _ in range(n_draws)]) @ basis
    products = draws.T @ draws / n_draws
    upper = np.triu_indices(k, 1)
    root = np.sqrt(n_draws)
    return np.concatenate(
        [
            draws.mean(axis=0) * root * np.sqrt(k),
            (np.diagonal(products) - 1 / k) * root / np.sqrt(2 * (k - 1) / (k**2 * (k + 2))),
            products[upper] * root * np.sqrt(k * (k + 2)),
        ]
    )


def test_tangent_is_isotropic():
    # One of the 14 scores exceeds 5 standard errors once in 100,000 seeds.
    assert np.abs(isotropy(random_tangent)).max() < 5


def test_isotropy_test_notices_a_direction_that_is_preferred():
    def skewed(w, rng):
        v, axis = random_tangent(w, rng), linalg.null_space(w[None])[:, 0]
        v += 0.2 * (v @ axis) * axis
        return v / np.linalg.norm(v)

    assert np.abs(isotropy(skewed, n_draws=4000)).max() > 5


@given(seed=seeds, m=st.integers(3, 20))
@settings(max_examples=50)
def test_halfway_is_the_middle_of_the_way_to_the_next_wall(seed, m):
    space = linear_space(*separable(seed, m=m, n_features=3))
    start = space.enter(rng_of(seed))
    v = random_tangent(start, rng_of(seed))
    middle, direction = halfway(space, start, v)
    assert space.contains(middle)
    t = np.arccos(np.clip(middle @ start, -1, 1))
    # The wall is twice as far away: one margin is zero there, and none is negative.
    at_wall = space.margins(start * np.cos(2 * t) + v * np.sin(2 * t))
    assert abs(at_wall.min()) < 1e-7  # an arc cosine near zero has half of the digits
    # Position and direction remain orthonormal.
    pair = np.stack([middle, direction])
    np.testing.assert_allclose(pair @ pair.T, np.eye(2), atol=16 * EPS)


@pytest.mark.parametrize("w", [[0.0, 0.0], [1e-13, 0.0], [np.nan, 1.0], [np.inf, 1.0]])
def test_vectors_without_a_direction_have_no_unit_vector(w):
    assert unit_vector(np.array(w)) is None


def test_unit_vectors_keep_their_direction():
    np.testing.assert_allclose(unit_vector(np.array([3e-9, -4e-9])), [0.6, -0.8], rtol=4 * EPS)
