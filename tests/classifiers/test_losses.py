"""Decisions of least expected cost, against sums over all decisions and all draws."""

import itertools

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bayespoint import BayesPointClassifier, LinearBayesPointClassifier, RejectOptionClassifier
from bayespoint.classifiers._losses import check_loss, least_costly
from bayespoint.solvers import Billiard

ZERO_ONE = 1 - np.eye(3)
# No two decisions cost the same, and mistakes are not symmetric.
COSTS = np.array([[0.0, 1.0, 7.0], [3.0, 0.1, 1.0], [9.0, 2.0, -0.5]])


def brute_force(probabilities, loss):
    """Return the cheapest decision of each row, by a sum over classes for each decision."""
    chosen = []
    for row in probabilities:
        costs = [sum(p * loss[t][d] for t, p in enumerate(row)) for d in range(len(loss[0]))]
        chosen.append(costs.index(min(costs)))
    return np.array(chosen)


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return X[:, :2], np.array(["setosa", "versicolor", "virginica"])[y]  # two classes overlap


@pytest.fixture(scope="module")
def sampled(iris):
    """Return a classifier with draws from the posterior of each class."""
    X, y = iris
    solver = Billiard(n_draws=48, tol=0.2)
    return BayesPointClassifier("rbf", softness=0.3, solver=solver, random_state=0).fit(
        X[::3], y[::3]
    )


def test_no_decision_costs_less(rng):
    p = rng.dirichlet(np.ones(3), 200)
    expected = brute_force(p, COSTS)
    np.testing.assert_array_equal(least_costly(p, COSTS), expected)
    assert len(np.unique(expected)) == 3
    # The transposed matrix is another convention, and another answer.
    assert np.any(least_costly(p, COSTS.T) != expected)


def test_every_table_of_decisions_costs_at_least_as_much(rng):
    """A decision for each row, minimized alone, is the best of all tables of decisions."""
    p = rng.dirichlet(np.ones(3), 4)
    costs = p @ COSTS
    best = costs[np.arange(4), least_costly(p, COSTS)].sum()
    tables = itertools.product(range(3), repeat=4)
    assert best == min(costs[np.arange(4), list(table)].sum() for table in tables)


def test_the_kernel_machine_minimizes_the_expected_loss(sampled, iris):
    X, _ = iris
    expected = brute_force(sampled.predict_proba(X), COSTS)
    np.testing.assert_array_equal(sampled.predict(X, loss=COSTS), sampled.classes_[expected])
    assert np.any(sampled.predict(X, loss=COSTS) != sampled.predict(X))


def test_the_vote_minimizes_the_mean_loss_of_the_draws(sampled, iris):
    """Every draw is a possible truth (000, eq. 7): sum the loss over draws, one by one."""
    X, _ = iris
    truths = sampled.sample_decision(X).argmax(axis=2)  # a class for each draw and point
    expected = [
        min(range(3), key=lambda d: (sum(COSTS[t][d] for t in column), d)) for column in truths.T
    ]
    voted = sampled.predict_vote(X, loss=COSTS)
    np.testing.assert_array_equal(voted, sampled.classes_[expected])
    assert np.any(voted != sampled.predict_vote(X))


def test_equal_costs_change_nothing(sampled, iris):
    X, _ = iris
    np.testing.assert_array_equal(sampled.predict(X, loss=ZERO_ONE), sampled.predict(X))
    np.testing.assert_array_equal(sampled.predict_vote(X, loss=ZERO_ONE), sampled.predict_vote(X))


def test_two_classes_in_a_pipeline_with_the_default(iris):
    X, y = iris
    X, y = X[50:], y[50:]
    model = make_pipeline(StandardScaler(), BayesPointClassifier(random_state=0)).fit(X, y)
    # A missed virginica costs four times as much: answer virginica from probability 0.2 on.
    expected = np.where(model.predict_proba(X)[:, 1] > 0.2, "virginica", "versicolor")
    np.testing.assert_array_equal(model.predict(X, loss=[[0, 1], [4, 0]]), expected)


@pytest.mark.parametrize(
    "estimator", [BayesPointClassifier(random_state=0), LinearBayesPointClassifier()]
)
def test_a_refusal_of_equal_cost_is_a_threshold(iris, estimator):
    """Chow's rule: refuse where the probability of an error exceeds the cost of a refusal."""
    X, y = iris
    model = RejectOptionClassifier(estimator, random_state=0).fit(X, y)
    cost = 0.3
    loss = np.column_stack([ZERO_ONE, np.full(3, cost)])
    model.threshold_ = 1 - cost
    expected = model.predict(X)
    np.testing.assert_array_equal(model.predict(X, loss=loss), expected)
    assert set(expected) == {"setosa", "versicolor", "virginica", "reject"}


def test_refusals_can_depend_on_the_class(iris):
    X, y = iris
    model = RejectOptionClassifier(LogisticRegression(), random_state=0).fit(X, y)
    loss = np.column_stack([COSTS, [0.5, 0.2, 0.4]])
    chosen = brute_force(model.predict_proba(X), loss)
    expected = np.append(model.classes_, "reject")[chosen]
    np.testing.assert_array_equal(model.predict(X, loss=loss), expected)
    assert (expected == "reject").any()
    free = model.predict(X, loss=np.column_stack([COSTS, np.full(3, 100.0)]))
    np.testing.assert_array_equal(free, model.classes_[brute_force(model.predict_proba(X), COSTS)])
    assert free.dtype == model.classes_.dtype


def test_refuses_costs_that_are_not(sampled, iris):
    X, y = iris
    with pytest.raises(ValueError, match=r"shape \(3, 3\), but has shape \(2, 2\)"):
        sampled.predict(X, loss=np.eye(2))
    with pytest.raises(ValueError, match="NaN or infinite"):
        check_loss([[0, np.inf], [1, 0]], 2, 2)
    model = RejectOptionClassifier(LogisticRegression()).fit(X, y)
    with pytest.raises(ValueError, match=r"the last one for a refusal, shape \(3, 4\)"):
        model.predict(X, loss=COSTS)
