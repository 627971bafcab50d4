import os
from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse

from bayespoint._jit.sparse_product import LANES, NARROW, ROWS_PER_TILE, WIDE, add_product

SEED = int(os.environ.get("BAYESPOINT_TEST_SEED", "0"))
EPS = np.finfo(np.float32).eps


def grouped(right, borders):
    """Return a sparse matrix as `add_product` takes it."""
    parts = [right[:, a:b].tocsr() for a, b in pairwise(borders)]
    before = np.cumsum([0] + [part.nnz for part in parts])[:-1]
    starts = np.array([part.indptr + n for part, n in zip(parts, before, strict=True)], np.int64)
    indices = [part.indices + a for part, a in zip(parts, borders[:-1], strict=True)]
    data = np.concatenate([part.data for part in parts])
    return starts, np.concatenate(indices).astype(np.int32), data


@pytest.mark.parametrize("borders", [[0, 70], [0, 1, 40, 40, 70]])
@pytest.mark.parametrize("n", [1, ROWS_PER_TILE - 1, ROWS_PER_TILE, 2 * ROWS_PER_TILE + 3])
@pytest.mark.parametrize("density", [0.0, 0.1, 1.0])
def test_adds_the_product(n, density, borders):
    rng = np.random.default_rng(SEED)
    right = sparse.random_array(
        (n, 70), density=density, random_state=rng, format="csc", dtype=np.float32
    )
    # Every way to divide the columns: wide, narrow and single vectors.
    for n_vectors in (1, NARROW, NARROW + 1, WIDE, 2 * WIDE + NARROW + 1):
        left = rng.standard_normal((70, n_vectors * LANES), dtype=np.float32)
        before = rng.standard_normal((n_vectors * LANES - 5, n), dtype=np.float32)
        out = before.copy()
        add_product(left, *grouped(right, borders), out)
        expected = left[:, :-5].T.astype(float) @ right.toarray().T.astype(float)
        # Seventy products, plus the previous value: each addition rounds a sum of at most their
        # absolute values.
        sums = np.abs(left[:, :-5]).T @ np.abs(right.toarray()).T + np.abs(before)
        assert np.all(np.abs(out - before - expected) <= 72 * EPS * sums)


def test_products_have_the_same_digits_in_every_position_and_width():
    rng = np.random.default_rng(SEED)
    right = sparse.random_array(
        (50, 70), density=0.2, random_state=rng, format="csc", dtype=np.float32
    )
    column = rng.standard_normal((70, 1), dtype=np.float32)
    once = None
    for width in (1, 3, 8, 33, 83, 96, 161):
        out = np.zeros((width, 50), dtype=np.float32)
        left = np.tile(column, -(-width // LANES) * LANES)
        add_product(left, *grouped(right, [0, 30, 70]), out)
        once = out[0] if once is None else once
        np.testing.assert_array_equal(out, np.tile(once, (width, 1)))
    np.testing.assert_allclose(once, right @ column[:, 0], atol=70 * 9 * EPS, rtol=0)
