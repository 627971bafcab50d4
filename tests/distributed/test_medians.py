import numpy as np
import pytest

from bayespoint.distributed.medians import count_bits, medians_of
from bayespoint.geometry.columns import medians


def medians_of_parts(X, weight, n_parts=3):
    parts = np.array_split(np.arange(len(X)), n_parts)
    return medians_of(
        lambda *given: [count_bits(X[part], weight[part], *given) for part in parts], X.shape[1]
    )


@pytest.mark.parametrize("n", [1, 2, 5, 100, 501])
@pytest.mark.parametrize("weighted", [False, True])
def test_medians_are_exact(rng, n, weighted):
    X = rng.standard_normal((n, 6)) * [1, 1e-300, 1e300, 1, 1, 1]
    X[:, 3], X[:, 4], X[:, 5] = np.round(X[:, 3]), -5.0, np.where(X[:, 5] > 0, 0.0, -0.0)
    weight = rng.integers(1, 4, n).astype(float) if weighted else np.ones(n)
    found = medians_of_parts(X, weight)
    np.testing.assert_array_equal(found, medians(X, weight))
    if not weighted:
        np.testing.assert_allclose(found, np.median(X, axis=0), rtol=1e-15)


def test_missing_values_do_not_count(rng):
    X = rng.standard_normal((50, 2))
    X[rng.random((50, 2)) < 0.4] = np.nan
    np.testing.assert_allclose(medians_of_parts(X, np.ones(50)), np.nanmedian(X, axis=0))


def test_weights_that_are_not_whole(rng):
    X, weight = rng.standard_normal((200, 3)), rng.random(200) + 0.01
    np.testing.assert_array_equal(medians_of_parts(X, weight, 7), medians(X, weight))
