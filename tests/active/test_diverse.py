"""Batches of rows that differ."""

import numpy as np

from bayespoint import active


def test_a_batch_is_spread_out_also_with_equal_rows(moons):
    model, X = moons
    twice = np.repeat(X[:30], 20, axis=0)
    rows = active.query(model, twice, 5, random_state=0)
    assert len(np.unique(twice[rows], axis=0)) == 5
    assert len(active.query(model, np.repeat(X[:1], 9, axis=0), 4, random_state=0)) == 4
