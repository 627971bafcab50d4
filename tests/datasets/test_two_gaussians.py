import numpy as np
import pytest
from scipy.stats import multivariate_normal

from bayespoint.datasets.two_gaussians import TwoGaussians

# Allowed distance from the truth in standard errors; a normal variable exceeds it 1 in 16,000.
N_ERRORS = 4


def density(problem, X, y):
    """Return p(x, y) of 004, eq. 1.6, with 2 pi in place of 2 sigma."""
    mean = problem.mean if y > 0 else problem.other_mean
    return multivariate_normal(mean, problem.covariance).pdf(X) / 2


PROBLEM = TwoGaussians([1.0, 0.2], [-0.5, 0.7], [[1.0, 0.4], [0.4, 0.5]])


def test_discriminant_is_the_logarithm_of_the_odds(rng):
    X = 2 * rng.standard_normal((50, 2))
    odds = density(PROBLEM, X, 1) / density(PROBLEM, X, -1)
    assert np.allclose(X @ PROBLEM.coef + PROBLEM.intercept, np.log(odds))


def test_errors_are_those_of_integration():
    """Sum the density over a grid with steps of 0.02 standard deviations, out to seven."""
    x = np.arange(-8, 8, 0.02)
    points = np.stack(np.meshgrid(x, x), axis=-1)
    positive, negative = density(PROBLEM, points, 1), density(PROBLEM, points, -1)
    assert np.sum(positive + negative) * 0.02**2 == pytest.approx(1, abs=1e-6)
    smallest = np.sum(np.minimum(positive, negative)) * 0.02**2
    assert PROBLEM.bayes_error == pytest.approx(smallest, abs=1e-4)
    assert PROBLEM.error(PROBLEM.coef, PROBLEM.intercept) == pytest.approx(PROBLEM.bayes_error)
    says_positive = points @ [1.0, -0.5] + 0.3 > 0
    wrong = np.sum(np.where(says_positive, negative, positive)) * 0.02**2
    # Cells of the grid at the boundary may be on the wrong side.
    assert PROBLEM.error([1.0, -0.5], 0.3) == pytest.approx(wrong, abs=1e-3)


def test_no_linear_classifier_is_better(rng):
    for _ in range(200):
        assert PROBLEM.error(rng.standard_normal(2), rng.standard_normal()) >= PROBLEM.bayes_error


def test_draws_have_these_means_covariances_and_errors():
    n = 40_000
    X, y = PROBLEM.draw(n, random_state=0)
    assert abs(np.mean(y)) < N_ERRORS / np.sqrt(n)
    for label, mean in ((1, PROBLEM.mean), (-1, PROBLEM.other_mean)):
        here = X[y == label]
        assert np.all(np.abs(here.mean(axis=0) - mean) < N_ERRORS / np.sqrt(len(here)))
        # Products of two of these normal variables have a variance of at most 2.
        off = np.cov(here.T) - PROBLEM.covariance
        assert np.all(np.abs(off) < N_ERRORS * np.sqrt(2 / len(here)))
    wrong = np.mean((X @ [1.0, 1.0] - 0.2 > 0) != (y > 0))
    error = PROBLEM.error([1.0, 1.0], -0.2)
    assert abs(wrong - error) < N_ERRORS * np.sqrt(error / n)
    assert np.array_equal(X, PROBLEM.draw(n, random_state=0)[0])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: TwoGaussians([]), r"shapes \(0,\)"),
        (lambda: TwoGaussians([1.0], [1.0, 2.0]), r"shapes \(1,\), \(2,\) and \(1, 1\)"),
        (lambda: TwoGaussians([1.0], covariance=[1.0]), r"and \(1,\)"),
        (lambda: TwoGaussians([1.0, 0.0], covariance=[[1, 2], [2, 1]]), "positive definite"),
        (lambda: TwoGaussians([1.0, 0.0], covariance=[[1, 0.5], [0, 1]]), "symmetric"),
        (lambda: TwoGaussians([np.nan]), "mean should be finite numbers"),
        (lambda: TwoGaussians([1.0]).draw(0), "n_samples should be at least 1"),
        (lambda: TwoGaussians([1.0]).error([0.0]), "not all zero"),
        (lambda: TwoGaussians([1.0]).error([1.0, 2.0]), "coef should have 1 entries"),
    ],
)
def test_impossible_gaussians_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()
