import numpy as np
from sklearn.metrics.pairwise import rbf_kernel

from bayespoint.papers.algorithm_2 import BOUNCES, play_exact, play_on_split, play_paper
from bayespoint.papers.contest import fit_hard_margin, largest_margin
from bayespoint.papers.published import published
from bayespoint.papers.table_1 import SETTINGS
from bayespoint.solvers import Billiard
from helpers import angle_between, rbf_space


def test_only_the_exact_ball_comes_to_the_bayes_point():
    """The paper's ball misses it, because its directions are not uniform."""
    space = rbf_space(20, 0.5)
    start = largest_margin(space)
    truth = space.combine(Billiard(tol=0.01).solve(space, np.random.default_rng(1)).coef)
    exact = play_exact(space, start, (10, 100_000), seed=0)
    paper, _ = play_paper(space, start, (10_000,), seed=0)
    # The solver makes as many bounces, and estimates its error as 0.01.
    assert angle_between(exact[100_000], truth) < 0.03 < angle_between(exact[10], truth)
    # Measured with five seeds: 0.08 to 0.09.
    assert 0.03 < angle_between(paper[10_000], truth) < 0.2


def test_a_longer_game_begins_with_the_shorter():
    space = rbf_space(20, 0.1)
    start = largest_margin(space)
    several, one = (play_paper(space, start, n, seed=0)[0] for n in ((50, 200, 1000), (200,)))
    np.testing.assert_array_equal(several[200], one[200])
    assert angle_between(several[1000], one[200]) > 0


def test_it_stops_no_sooner_than_its_tolerance_allows():
    space = rbf_space(30, 0.1)
    assert 100 <= play_paper(space, largest_margin(space), (10,), seed=0)[1] <= BOUNCES[-1]


def test_split_agrees_with_the_largest_margin_by_hand(problem):
    X, y = problem
    train, test = np.arange(40), np.arange(40, 60)
    errors = play_on_split(X, y, train, test, 0.5, (10, 100), (10, 1000), seed=3)
    coef = fit_hard_margin(rbf_kernel(X[train], gamma=0.5), y[train])
    outputs = rbf_kernel(X[test], X[train], gamma=0.5) @ coef
    assert errors.margin == 100 * np.mean(np.sign(outputs) != y[test])
    assert list(errors.paper) == [10, 100]
    assert list(errors.exact) == [10, 1000]


def test_split_without_version_space_is_none():
    X = np.array([[0.0], [0.0], [1.0], [2.0]])
    y = np.array([1, -1, 1, -1])
    assert play_on_split(X, y, np.arange(3), np.arange(3, 4), 0.5, (10,), (10,), seed=0) is None


def test_every_published_number_has_a_data_set():
    kinds = ("BPM error %", "significance of the BPM's gain")
    assert set(published("algorithm_2")) == {
        f"{name}, {kind}" for name in SETTINGS for kind in kinds
    }
