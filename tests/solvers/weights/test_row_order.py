import numpy as np
import pytest

from bayespoint.solvers.weights.row_order import (
    BLOCK_ROWS,
    MAX_BLOCK_SHARE,
    MIN_BLOCK_ROWS,
    chosen_rows,
    even_blocks,
    growing_blocks,
    mixed_order,
)


@pytest.mark.parametrize("n_rows", [0, 1, 7, 8, 9, 100])
def test_the_mixed_order_has_every_row_once(n_rows):
    assert sorted(mixed_order(n_rows)) == list(range(n_rows))


def test_chosen_rows_are_spread_over_all_rows():
    places = np.flatnonzero(chosen_rows(10_000, 2000))
    # Four standard errors of the mean position of 2000 rows out of 10,000.
    assert abs(places.mean() - 5000) < 4 * 10_000 * np.sqrt(0.8 / (12 * 2000))
    np.testing.assert_array_equal(places, np.flatnonzero(chosen_rows(10_000, 2000)))


@pytest.mark.parametrize("n_rows", [1, 100, BLOCK_ROWS + 1, 3 * BLOCK_ROWS])
@pytest.mark.parametrize("n_known", [0, 30_000])
def test_blocks_have_every_row_once(n_rows, n_known):
    for blocks in even_blocks(n_rows, 5), growing_blocks(n_rows, n_known):
        rows = np.concatenate([np.arange(n_rows)[block] for block in blocks])
        assert sorted(rows) == list(range(n_rows))


def test_blocks_grow_with_the_rows_before_them():
    sizes = [len(block) for block in growing_blocks(50_000, 100.0)]
    before = 100 + np.cumsum([0, *sizes[:-1]])
    for size, known in zip(sizes[:-1], before[:-1], strict=True):
        assert size == int(np.clip(MAX_BLOCK_SHARE * known, MIN_BLOCK_ROWS, BLOCK_ROWS))
    assert len(even_blocks(2 * BLOCK_ROWS, 5)) == 2
    assert len(even_blocks(2 * BLOCK_ROWS, BLOCK_ROWS)) == 1  # many weights need large blocks
