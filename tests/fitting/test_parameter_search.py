"""Hill climbing on a grid where some candidates are impossible."""

import numpy as np
import pytest

from bayespoint._runtime.threads import threads
from bayespoint.fitting.parameter_search import Candidate, Search
from bayespoint.fitting.task import TrainingSet
from bayespoint.geometry.kernels import Kernel

X = np.random.default_rng(0).standard_normal((40, 2))
SIGNS = np.where(X[:, :1] > 0, 1, -1).T


def search(scores, axes=(5, 1, 5, 1), thread_map=map):
    """Return a search with given scores by grid place; all other candidates are impossible."""
    data = TrainingSet(X, SIGNS[0], SIGNS, "rbf", lambda gamma, b: Kernel("rbf", gamma=gamma))
    data = data._replace(thread_map=thread_map)
    found = Search(data, [np.arange(1.0, n + 1) for n in axes], None)

    found.begun = []

    def evaluate(place, near):
        found.begun.append((place, near))
        found.known[place] = Candidate(scores.get(place, -np.inf), [])

    found.evaluate = evaluate
    return found


def never(seconds):
    return False


def test_climbs_to_the_top_of_a_hill():
    hill = {(i, 0, j, 0): -((i - 4) ** 2) - (j - 1) ** 2 for i in range(5) for j in range(5)}
    assert search(hill).climb((0, 0, 4, 0), never) == (4, 0, 1, 0)


def test_looks_further_away_where_nothing_is_possible():
    assert search({(4, 0, 4, 0): 0.0}).climb((0, 0, 0, 0), never) == (4, 0, 4, 0)


def test_neighbors_start_from_the_same_place_in_any_thread():
    hill = {(i, 0, j, 0): -((i - 4) ** 2) - (j - 1) ** 2 for i in range(5) for j in range(5)}
    tried = []
    for n_jobs in (1, 3):
        with threads(n_jobs) as thread_map:
            found = search(hill, thread_map=thread_map)
            assert found.climb((0, 0, 4, 0), never) == (4, 0, 1, 0)
        tried.append((list(found.known), sorted(found.begun)))
    assert tried[0] == tried[1]


def test_ends_where_nothing_is_possible_at_all():
    empty = search({})
    assert empty.climb((2, 0, 2, 0), never) == (2, 0, 2, 0)
    assert len(empty.known) == 25


@pytest.mark.parametrize("n", [0, 1, 3])
def test_stops_on_request(n):
    calls = []

    def stop(seconds):
        calls.append(seconds)
        return len(calls) > n

    found = search({(0, 0, 0, 0): 0.0})
    found.climb((0, 0, 0, 0), stop)
    assert len(found.known) == n
    assert all(seconds > 0 for seconds in calls)


def test_the_kernel_is_zero_between_neighborhoods():
    data = TrainingSet(X, SIGNS[0], SIGNS, "rbf", lambda gamma, b: Kernel("rbf", gamma=gamma))
    groups = [np.arange(10), np.arange(20, 25)]
    matrix = Search(data, [np.ones(1)] * 4, groups)._matrix((0, 0, 0, 0))
    assert matrix.shape == (15, 15)
    assert not matrix[:10, 10:].any()
    assert matrix[:10, :10].all()
    np.testing.assert_array_equal(np.diagonal(matrix), 1)
