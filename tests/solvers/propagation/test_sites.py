import numpy as np
import pytest

from bayespoint.solvers.propagation.sites import (
    Copies,
    Sites,
    copies_of,
    likelihood,
    match_moments,
)
from ep_problems import textbook_site


def test_site_is_the_textbooks_where_that_is_benign(rng):
    M, V = rng.standard_normal(50), rng.uniform(0.5, 2, 50)
    y = rng.choice([-1.0, 1.0], 50)
    for eta in [0.0, 0.05, 0.3]:
        found = match_moments(*likelihood(y, M, V, eta))
        log_Z, precision, shift = np.transpose(
            [textbook_site(*case, eta) for case in zip(M, V, y, strict=True)]
        )
        np.testing.assert_allclose(likelihood(y, M, V, eta)[0], log_Z, rtol=1e-12)
        # Subtracting two inverses of numbers near one has an error of a few times 1e-16.
        np.testing.assert_allclose(found.precision, precision, rtol=1e-10, atol=1e-13)
        np.testing.assert_allclose(found.shift, shift, rtol=1e-10, atol=1e-13)


def test_sites_far_on_the_wrong_side_are_finite():
    # The textbook formula computes the variance as V - V here.
    M, V, y = np.array([-1e3, -40.0, 40.0]), np.ones(3), np.ones(3)
    found = match_moments(*likelihood(y, M, V, 0.0))
    assert np.isfinite(found).all()
    assert np.all(found.precision >= 0)


def test_cavities_of_copies_are_those_of_repeated_points(rng):
    # Three copies of one output f ~ N(m, v), each with its own noise: integrate by matrices.
    m, v, s, p, h = 0.3, 0.7, 0.2, 0.9, -0.4
    for w in (1, 2, 3):
        prior = np.full((w, w), v) + s * np.eye(w)
        others = np.linalg.inv(prior) + p * np.diag(np.arange(w) > 0)
        covariance = np.linalg.inv(others)
        shift = np.linalg.solve(prior, np.full(w, m)) + h * (np.arange(w) > 0)
        copies = Copies(np.array([float(w)]), np.array([s]))
        sites = Sites(np.array([p]), np.array([h]))
        mean, variance = copies.cavities(sites, np.array([m]), np.array([v + s / w]))
        assert variance[0] == pytest.approx(covariance[0, 0], rel=1e-12)
        assert mean[0] == pytest.approx((covariance @ shift)[0], rel=1e-12)
        assert copies.prior_variance(np.array([v + s / w]))[0] == pytest.approx(v + s, rel=1e-12)


def test_a_weight_below_one_is_left_out_as_a_whole():
    sites = Sites(np.array([2.0]), np.array([1.0]))
    mean, variance = Copies(np.array([0.25]), np.array([0.1])).cavities(
        sites, np.array([0.3]), np.array([0.9])
    )
    assert mean[0] == 0.3
    assert variance[0] == pytest.approx(0.9 - 0.4 + 0.1, rel=1e-12)


def test_no_weights_are_no_copies():
    assert copies_of(None, 0.1) is None
    np.testing.assert_array_equal(copies_of(np.array([2.0, 3.0]), 0.1), [[2, 3], [0.1, 0.1]])
