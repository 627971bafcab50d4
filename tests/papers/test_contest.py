import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from bayespoint import BayesPointClassifier
from bayespoint.papers import contest
from bayespoint.papers.contest import compare, compare_on_split, fit_hard_margin
from bayespoint.papers.experiment import Plan
from bayespoint.solvers import Billiard

QUICK = Billiard(n_bounces=20_000, n_chains=2, tol=0.5)


def test_hard_margin_agrees_with_svc(problem):
    """On data symmetric about the origin, the bias of SVC is zero."""
    X, y = problem
    K = rbf_kernel(X, gamma=0.5)
    mirrored = SVC(C=1e10, kernel="precomputed", tol=1e-6).fit(
        np.block([[K, -K], [-K, K]]), np.concatenate([y, -y])
    )
    theirs = mirrored.decision_function(np.hstack([K, -K]))
    ours = K @ fit_hard_margin(K, y)
    # Both have a precision of 1e-6 relative to the margin, which is 1 for SVC.
    assert np.allclose(ours / np.min(y * ours), theirs, atol=1e-4)


def test_hard_margin_is_a_unit_hypothesis_with_the_largest_margin(problem, rng):
    X, y = problem
    K = rbf_kernel(X, gamma=0.5) * np.outer(*[rng.uniform(1, 3, 60)] * 2)
    coef = fit_hard_margin(K, y)
    lengths = np.sqrt(np.diagonal(K))
    assert np.isclose(coef @ K @ coef, 1)
    margin = np.min(y * (K @ coef) / lengths)
    assert margin > 0
    for other in coef + 1e-3 * np.linalg.norm(coef) * rng.standard_normal((200, 60)):
        assert np.min(y * (K @ other) / lengths) / np.sqrt(other @ K @ other) < margin


def test_hard_margin_warns_without_a_version_space():
    with pytest.warns(ConvergenceWarning, match="The margin found is"):
        fit_hard_margin(np.ones((2, 2)), np.array([1, -1]))


def test_split_agrees_with_machines_fitted_by_hand(problem):
    X, y = problem
    train, test = np.arange(40), np.arange(40, 60)
    split = compare_on_split(X, y, train, test, 0.5, QUICK, seed=3)
    model = BayesPointClassifier(
        gamma=0.5, fit_intercept=False, softness=0.0, solver=QUICK, random_state=3
    ).fit(X[train], y[train])
    assert split.bpm == 100 * np.mean(model.predict(X[test]) != y[test])
    coef = fit_hard_margin(rbf_kernel(X[train], gamma=0.5), y[train])
    outputs = rbf_kernel(X[test], X[train], gamma=0.5) @ coef
    assert split.svm == 100 * np.mean(np.sign(outputs) != y[test])
    assert (split.svm_early, split.bpm_early) == (False, False)


def test_early_stops_are_counted_not_warned_about(problem):
    X, y = problem
    solver = Billiard(n_bounces=100, n_chains=2, tol=1e-9)
    split = compare_on_split(X, y, np.arange(40), np.arange(40, 60), 0.5, solver, seed=0)
    assert split.bpm_early
    assert not split.svm_early


def test_other_warnings_are_passed_on():
    def fit():
        np.array([1.0]) / 0.0

    with pytest.warns(RuntimeWarning, match="divide by zero"):
        assert contest._observe(fit)[2] is False


def test_split_without_version_space_is_none():
    X = np.array([[0.0], [0.0], [1.0], [2.0]])
    y = np.array([1, -1, 1, -1])
    assert compare_on_split(X, y, np.arange(3), np.arange(3, 4), 0.5, QUICK, seed=0) is None


def test_more_splits_begin_with_the_same_ones(problem):
    X, y = problem
    many, few = (compare(X, y, 0.5, 0.6, QUICK, n_splits, Plan()) for n_splits in (4, 2))
    assert [split[:2] for split in many[:2]] == [split[:2] for split in few]


@pytest.mark.slow
def test_splits_do_not_depend_on_the_processes(problem):
    X, y = problem
    one, two = (compare(X, y, 0.5, 0.6, QUICK, 4, Plan(jobs=jobs)) for jobs in (1, 2))
    assert [split[:2] for split in one] == [split[:2] for split in two]


def test_softness_is_the_squared_slack(problem):
    """The machine with softness lambda is the hard machine of the kernel K + lambda I."""
    X, y = problem
    K = rbf_kernel(X, gamma=0.5)
    soft = fit_hard_margin(K, y, softness=0.3)
    hard = fit_hard_margin(K + 0.3 * np.eye(len(K)), y)
    assert np.allclose(soft / np.linalg.norm(soft), hard / np.linalg.norm(hard), atol=1e-6)
