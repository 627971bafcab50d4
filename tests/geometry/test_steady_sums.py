import math

import numpy as np
import pytest

from bayespoint.geometry.steady_sums import coarse_and_fine, total


@pytest.mark.parametrize("weighted", [False, True])
def test_the_order_of_numbers_does_not_matter(rng, weighted):
    values = rng.uniform(-1, 1, (5000, 20))
    weight = rng.integers(1, 5, 5000).astype(float) if weighted else None

    def sums(order, n_parts):
        parts = np.array_split(order, n_parts)
        return total(
            coarse_and_fine(values[p], None if weight is None else weight[p]) for p in parts
        )

    expected = sums(np.arange(5000), 1)
    plain, differ = values.sum(axis=0), False
    for n_parts in (1, 3, 7):
        order = rng.permutation(5000)
        np.testing.assert_array_equal(sums(order, n_parts), expected)
        differ |= not np.array_equal(values[order].sum(axis=0), plain)
    assert differ  # the usual sum does depend on it
    repeated = values if weight is None else np.repeat(values, weight.astype(int), axis=0)
    exact = [math.fsum(column) for column in repeated.T]
    np.testing.assert_allclose(expected, exact, rtol=1e-15)
