import numpy as np
import pytest

from bayespoint.solvers.posterior import gather, mean_length, stack_chains


def test_mean_length_is_the_one_of_normal_vectors(rng):
    for rank in (1, 5, 200):
        lengths = np.linalg.norm(rng.standard_normal((20_000, rank)), axis=1)
        error = lengths.std() / np.sqrt(len(lengths))
        assert abs(mean_length(rank) - lengths.mean()) < 4 * error


def test_gather_takes_the_latest_draws_of_each_chain():
    chains = [np.arange(5.0)[:, None], 10 + np.arange(3.0)[:, None]]
    draws, n_chains = gather(chains, 4)
    np.testing.assert_array_equal(draws.ravel(), [3, 4, 11, 12])
    assert n_chains == 2


@pytest.mark.parametrize("n_draws", [3, 100])
def test_gather_takes_what_there_is(n_draws):
    chains = [np.arange(5.0)[:, None], 10 + np.arange(1.0)[:, None]]
    draws, n_chains = gather(chains, n_draws)
    assert len(draws) == min(n_draws, 6)
    assert n_chains == 1


def test_equal_numbers_of_chains_are_stacked_as_they_are(rng):
    chains = list(rng.standard_normal((3, 8, 5)))
    np.testing.assert_array_equal(stack_chains(chains), chains)


def test_different_numbers_of_chains_keep_mean_and_spread(rng):
    # Neighbors of six are averaged in pairs: half the variance with half as many chains.
    many, few = rng.standard_normal((6_000, 4)), rng.standard_normal((3_000, 4))
    stacked = stack_chains([many, few])
    assert stacked.shape == (2, 3_000, 4)
    np.testing.assert_allclose(stacked[0].mean(axis=0), many.mean(axis=0), atol=1e-12)
    error = stacked[0].std(axis=0) / np.sqrt(3_000)
    # The relative standard error of a standard deviation is 1 / sqrt(2 n).
    np.testing.assert_allclose(error, 1 / np.sqrt(6_000), rtol=4 / np.sqrt(2 * 3_000))
