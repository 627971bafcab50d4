"""The kernel matrix in tiles: that of two arrays, symmetric, the same bits for any threads."""

from dataclasses import replace

import numpy as np
import pytest

from bayespoint._runtime.threads import one_blas_thread, threads
from bayespoint.geometry import mixture_square as module
from bayespoint.geometry.kernels import Kernel
from bayespoint.geometry.mixture import Mixture, fit_views, term_names
from bayespoint.geometry.mixture_square import TILE_ROWS, mixture_square

N = 2 * TILE_ROWS + 11


def table(n_numbers, n=N, seed=0):
    """Return points of numbers and two categories, and a mixture of all terms."""
    rng = np.random.default_rng(seed)
    X = np.hstack([rng.standard_normal((n, n_numbers)), rng.integers(0, 4, (n, 2))])
    views = replace(fit_views(X), scales=rng.uniform(0.5, 2, X.shape[1]))
    names = term_names(views)
    weights = rng.uniform(0.1, 1, len(names))
    gammas = rng.uniform(0.05, 0.2, len(names))
    return X, Mixture(names, weights / weights.sum(), gammas, views)


# With many columns squared distances come from products.
@pytest.mark.parametrize("n_numbers", [3, 20])
@pytest.mark.parametrize("n", [1, TILE_ROWS, N])
def test_is_the_kernel_between_the_points_and_themselves(n, n_numbers):
    X, mixture = table(n_numbers)
    assert len(mixture.names) == 6
    found = mixture_square(mixture, X[:n])
    # Squared distances of a few hundred lose a few times as many eps, and exp keeps them.
    np.testing.assert_allclose(found, mixture.matrix(X[:n], X[:n]), rtol=0, atol=1e-13)
    np.testing.assert_array_equal(found, found.T)
    np.testing.assert_allclose(np.diagonal(found), 1, rtol=1e-15)


def test_the_size_of_tiles_does_not_matter(monkeypatch):
    X, mixture = table(3)
    monkeypatch.setattr(module, "TILE_ROWS", N)
    whole = mixture_square(mixture, X)
    monkeypatch.setattr(module, "TILE_ROWS", 50)
    np.testing.assert_array_equal(mixture_square(mixture, X), whole)


def test_the_bits_do_not_depend_on_the_number_of_threads():
    X, mixture = table(20)
    found = []
    with one_blas_thread():
        for n_jobs in (1, 2, 3):
            with threads(n_jobs) as thread_map:
                found.append(Kernel("mixture", constant=0.5, mixture=mixture).square(X, thread_map))
    np.testing.assert_array_equal(found[1], found[0])
    np.testing.assert_array_equal(found[2], found[0])
    np.testing.assert_allclose(found[0], mixture.matrix(X, X) + 0.5, atol=1e-13)
