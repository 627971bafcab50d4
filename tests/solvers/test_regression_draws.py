"""Draws of a label regression: their law, and the same bits for any number of threads."""

import numpy as np

from bayespoint._runtime.threads import one_blas_thread, threads
from bayespoint.solvers.regression_draws import _prior_root, draw_posterior


def problem(m, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, 3))
    unit = np.exp(-0.5 * np.sum((X[:, None] - X[None]) ** 2, axis=2))
    return unit, rng.choice([-0.5, 0.5], size=(m, 1))


def test_draws_have_the_mean_and_the_covariance_of_the_posterior():
    unit, codes = problem(m=12)
    softness, n = 0.5, 40_000
    noisy = unit + softness * np.eye(len(unit))
    scale = np.sqrt(codes[:, 0] @ np.linalg.solve(noisy, codes[:, 0]) / len(unit))
    draws = draw_posterior(
        unit,
        np.linalg.inv(noisy),
        np.full(len(unit), softness),
        codes / scale,
        n,
        np.random.default_rng(3),
    )[0]
    outputs = draws @ unit
    mean = unit @ np.linalg.solve(noisy, codes[:, 0]) / scale
    covariance = unit - unit @ np.linalg.solve(noisy, unit)
    # Five standard errors, for 12 means and 78 covariances.
    error = np.sqrt(np.diagonal(covariance) / n)
    assert np.all(np.abs(outputs.mean(axis=0) - mean) < 5 * error)
    variance = np.diagonal(covariance)
    spread = np.sqrt((np.outer(variance, variance) + covariance**2) / n)
    assert np.all(np.abs(np.cov(outputs.T) - covariance) < 5 * spread)


def test_a_matrix_with_negative_eigenvalues_draws_from_the_others():
    values = np.array([2.0, 1.5, 1.0, -0.5])
    vectors = np.linalg.qr(np.random.default_rng(0).normal(size=(4, 4)))[0]
    unit = (vectors * values) @ vectors.T
    # Columns of the identity are all the noise there is: their squares add up to the covariance.
    outputs = unit @ _prior_root(unit)(np.eye(4))
    expected = (vectors[:, :3] * values[:3]) @ vectors[:, :3].T
    np.testing.assert_allclose(outputs @ outputs.T, expected, atol=1e-12)


def test_the_bits_do_not_depend_on_the_number_of_threads():
    unit, codes = problem(m=40)
    inverse, noise = np.linalg.inv(unit + 0.5 * np.eye(40)), np.full(40, 0.5)
    found = []
    with one_blas_thread():
        for n_jobs in (1, 2, 3):
            rng = np.random.default_rng(0)
            with threads(n_jobs) as thread_map:
                found.append(draw_posterior(unit, inverse, noise, codes, 300, rng, 2.0, thread_map))
            once = draw_posterior(unit, inverse, noise, codes, 300, np.random.default_rng(0))
            np.testing.assert_array_equal(found[-1], 2 * once)
    np.testing.assert_array_equal(found[1], found[0])
    np.testing.assert_array_equal(found[2], found[0])
