"""Sums over terms and pairs: those of arrays."""

import numpy as np
import pytest

from bayespoint._jit import terms as module
from mutants import interpreted

N_TERMS, N_PAIRS = 3, 1300  # more pairs than are worked on at once
EPS = np.finfo(float).eps


WHICH = np.array([1, 0, 1])


def agree(part, start, stop, dtype=np.float64):
    rng = np.random.default_rng(0)
    distances = rng.uniform(0.1, 3, (2, N_PAIRS)).astype(dtype)
    weights, gammas = rng.uniform(0.5, 2, (2, N_TERMS))
    slopes, pairs = rng.uniform(0.1, 1, stop - start), np.full(N_PAIRS, np.nan)
    terms = np.full((N_TERMS, N_PAIRS), np.nan)
    part.fill_terms(distances, WHICH, gammas, weights, 0.5, start, stop, terms, pairs)
    apart = distances[WHICH, start:stop].astype(float)
    expected = weights[:, None] * np.exp(-gammas[:, None] * apart)
    here = terms[:, start:stop]
    sums = part.sum_over_terms(terms, distances[WHICH], start, slopes)
    known = [[slopes.sum()], expected @ slopes, (expected * apart) @ slopes]
    by_distance = part.slopes_of_distances(terms, WHICH, gammas, start, slopes, 2)
    by_term = -gammas[:, None] * expected * slopes
    # A few roundings; in sums of positive numbers one for each addition; in single precision one.
    few, many, single = 16 * EPS, 2 * N_PAIRS * EPS, 4 * np.finfo(np.float32).eps
    return bool(
        np.allclose(here, expected, rtol=few, atol=0)
        and np.isnan(terms).sum() == N_TERMS * (N_PAIRS - (stop - start))
        and np.allclose(pairs[start:stop], 0.5 + expected.sum(axis=0), rtol=few, atol=0)
        and np.isnan(pairs).sum() == N_PAIRS - (stop - start)
        and np.allclose(sums, np.concatenate(known), rtol=many, atol=0)
        and np.allclose(by_distance, [by_term[1], by_term[0] + by_term[2]], rtol=single, atol=0)
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("start", "stop"), [(0, N_PAIRS), (0, 512), (7, 8), (300, 1299), (5, 5)])
def test_terms_and_sums_are_those_of_arrays(start, stop, dtype):
    assert agree(module, start, stop, dtype)


def test_the_exponential_is_that_of_numpy():
    x = np.concatenate([np.linspace(0, 708, 100_001), np.geomspace(1e-300, 700, 1000)])
    terms, pairs = np.empty((1, len(x))), np.empty(len(x))
    one = np.ones(1)
    module.fill_terms(x[None], np.zeros(1, int), one, one, 0.0, 0, len(x), terms, pairs)
    np.testing.assert_allclose(terms[0], np.exp(-x), rtol=4 * EPS)
    beyond = np.array([[709.0, 1e5, 1e300, np.inf]])
    module.fill_terms(beyond, np.zeros(1, int), one, one, 0.0, 0, 4, terms[:, :4], pairs)
    assert np.all(terms[0, :4] >= 0)
    assert np.all(terms[0, :4] < 4e-308)


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("here[p] += value", "here[p] = value"),
        ("* apart[p]\n            sums", "\n            sums"),
        ("first - start : last - start", "0 : last - first"),
        ("found[p] -= gamma", "found[p] = -gamma"),
        ("q * r + 1 / 24", "q * r + 1 / 25"),
        ("- m * LN_2_FINE", ""),
    ],
)
def test_a_step_left_out_on_purpose_fails(right, wrong):
    assert not agree(interpreted(module, right, wrong), 300, 1299)
