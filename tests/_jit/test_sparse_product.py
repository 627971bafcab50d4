import os

import numpy as np
import pytest
from scipy import sparse

from bayespoint._jit.sparse_product import ROWS_PER_TILE, add_product

SEED = int(os.environ.get("BAYESPOINT_TEST_SEED", "0"))
EPS = np.finfo(np.float32).eps


@pytest.mark.parametrize("n", [1, ROWS_PER_TILE - 1, ROWS_PER_TILE, 2 * ROWS_PER_TILE + 3])
@pytest.mark.parametrize("density", [0.0, 0.1, 1.0])
def test_adds_the_product(n, density):
    rng = np.random.default_rng(SEED)
    right = sparse.random_array(
        (n, 9), density=density, random_state=rng, format="csr", dtype=np.float32
    )
    left = rng.standard_normal((9, 5), dtype=np.float32)
    before = rng.standard_normal((5, n), dtype=np.float32)
    out = before.copy()
    add_product(left, right.indptr, right.indices, right.data, out)
    expected = before + left.T.astype(float) @ right.toarray().T.astype(float)
    # Nine products, plus the previous value, of numbers up to about five.
    np.testing.assert_allclose(out, expected, atol=10 * 10 * 5 * EPS, rtol=0)


def test_sparse_products_have_the_same_digits_in_every_position_and_width():
    rng = np.random.default_rng(SEED)
    right = sparse.random_array(
        (50, 70), density=0.2, random_state=rng, format="csr", dtype=np.float32
    )
    column = rng.standard_normal((70, 1), dtype=np.float32)
    once = None
    for width in (1, 3, 8, 33, 83, 96):
        out = np.zeros((width, 50), dtype=np.float32)
        left = np.ascontiguousarray(np.tile(column, width))
        add_product(left, right.indptr, right.indices, right.data, out)
        once = out[0] if once is None else once
        np.testing.assert_array_equal(out, np.tile(once, (width, 1)))
    np.testing.assert_allclose(once, right @ column[:, 0], atol=70 * 9 * EPS, rtol=0)
