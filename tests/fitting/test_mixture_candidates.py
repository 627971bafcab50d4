"""Beyond 2000 points a larger sample decides between a few mixtures."""

import numpy as np
import pytest
from sklearn.datasets import make_classification

from bayespoint.fitting import mixture_candidates
from bayespoint.fitting.mixture_candidates import N_CANDIDATES, choose_among_mixtures, judge
from bayespoint.fitting.mixture_search import choose_mixture
from bayespoint.fitting.power_link import (
    class_outputs,
    fit_power_link,
    known_outcomes,
    log_likelihood,
)
from bayespoint.solvers.regression import leave_one_out


def never(seconds):
    return False


@pytest.fixture(scope="module")
def table():
    X, y = make_classification(600, 6, n_informative=3, flip_y=0.1, random_state=0)
    return (X - X.mean(axis=0)) / X.std(axis=0), y


@pytest.fixture(autouse=True)
def _few_points_have_candidates(monkeypatch):
    monkeypatch.setattr(mixture_candidates, "MAX_POINTS_WITHOUT_CANDIDATES", 500)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_judge_leaves_out_one_point_after_the_other(table, weighted):
    X, y = table
    choice = choose_mixture(X, y, None, True, never)
    weight = 1.0 + np.arange(len(y)) % 2 if weighted else None
    used = np.ones(len(y)) if weight is None else weight
    unit = choice.kernel(X, X) / (1 + choice.constant)
    found = leave_one_out(unit / choice.softness, np.eye(2)[y] - 0.5, used).outputs
    known = known_outcomes(y, 2, used)
    expected = log_likelihood(class_outputs(found), fit_power_link(found, known), known)[0]
    # Rounding in single precision, times the condition of the matrix, for 600 points.
    condition = len(y) / choice.softness
    tolerance = len(y) * float(np.finfo(np.float32).eps) * condition**0.5
    assert judge(choice, X, y, weight) == pytest.approx(expected, abs=tolerance)


def test_the_best_candidate_is_kept(table):
    X, y = table
    candidates = [choose_mixture(X, y, None, True, never, None, k) for k in range(N_CANDIDATES)]
    scores = [judge(c, X, y, None) for c in candidates]
    best = choose_among_mixtures(X, y, None, True, never)
    expected = candidates[int(np.argmax(scores))]
    np.testing.assert_array_equal(best.mixture.weights, expected.mixture.weights)
    np.testing.assert_array_equal(best.mixture.views.scales, expected.mixture.views.scales)
    assert len(best.score) == sum(len(c.score) for c in candidates)


def test_candidates_are_chosen_on_other_points(table):
    X, y = table
    first, second = (choose_mixture(X, y, None, True, never, None, k) for k in (0, 2))
    assert not np.array_equal(first.mixture.gammas, second.mixture.gammas)


def test_few_points_have_one_candidate(table, monkeypatch):
    X, y = table
    monkeypatch.setattr(mixture_candidates, "judge", None)  # must not be called
    best = choose_among_mixtures(X[:500], y[:500], None, True, never)
    assert len(best.score) == len(choose_mixture(X[:500], y[:500], None, True, never).score)


def test_no_time_keeps_the_first_candidate(table, monkeypatch):
    X, y = table
    first = choose_mixture(X, y, None, True, never)
    monkeypatch.setattr(mixture_candidates, "choose_mixture", lambda *given, **options: first)
    found = choose_among_mixtures(X, y, None, True, lambda seconds: True)
    assert found is first


def test_a_mixture_that_single_precision_cannot_judge_loses(table):
    X, y = table
    choice = choose_mixture(X, y, None, True, never)
    X = np.repeat(X[:300], 2, axis=0)
    impossible = choice._replace(softness=1e-30)
    with np.errstate(all="ignore"):
        assert judge(impossible, X, np.repeat(y[:300], 2), None) == -np.inf


def test_repeated_rows_and_weights_choose_the_same(table):
    X, y = table
    weight = 1.0 + np.arange(len(y)) % 2
    copies = np.repeat(np.arange(len(y)), weight.astype(int))
    by_weight = choose_mixture(X, y, weight, True, never, None, 1)
    by_copies = choose_mixture(X[copies], y[copies], None, True, never, None, 1)
    np.testing.assert_array_equal(by_weight.mixture.gammas, by_copies.mixture.gammas)
    np.testing.assert_array_equal(by_weight.mixture.views.scales, by_copies.mixture.views.scales)
