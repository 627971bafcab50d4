"""Slopes of left-out outputs by pairs: those of whole matrices."""

import numpy as np
import pytest

from bayespoint._jit import slopes as module
from mutants import interpreted

N, N_OUTPUTS = 23, 3


def agree(part, pieces):
    rng = np.random.default_rng(0)
    root = rng.normal(size=(N, N))
    inverse = root @ root.T / N
    coef, by_outputs = rng.normal(size=(2, N, N_OUTPUTS))
    freedom, slope = rng.uniform(1, 2, (2, N))
    pull = inverse @ (by_outputs / freedom[:, None])
    h = slope * np.sum(by_outputs * coef, axis=1) / freedom**2
    expected = pull @ coef.T + coef @ pull.T - 2 * inverse @ np.diag(h) @ inverse
    sides = part.prepare_slopes(inverse, coef, freedom, slope, by_outputs)
    found = [part.slopes_of_rows(inverse, *sides, np.array(borders)) for borders in pieces]
    pairs = np.concatenate([by_pair for by_pair, _ in found])
    # Sums of N products, some of three factors that are sums themselves.
    atol = 4 * N * np.finfo(float).eps * np.abs(expected).max() * N
    return bool(
        np.allclose(pairs, expected[np.triu_indices(N, 1)], rtol=0, atol=atol)
        and np.isclose(sum(trace for _, trace in found), np.trace(expected), rtol=0, atol=N * atol)
    )


PIECES = [[0, 9], [9, 13, 22], [22, N]]


@pytest.mark.parametrize("pieces", [[[0, N]], [[0, 9, 22, N]], PIECES])
def test_slopes_are_those_of_whole_matrices(pieces):
    assert agree(module, pieces)


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("-2.0 * total", "2.0 * total"),
        ("one[j] + other[j]", "one[j]"),
        ("inverse[first:].T", "inverse[: n - first].T"),
        ("= right[i, c] = coef[i, c]", "= right[i, c] = pull[i, c]"),
    ],
)
def test_a_step_left_out_on_purpose_fails(right, wrong):
    assert not agree(interpreted(module, right, wrong), PIECES)
