import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linprog, minimize
from sklearn.datasets import load_iris
from sklearn.utils.estimator_checks import parametrize_with_checks

from bayespoint import LinearMarginSVC
from bayespoint.solvers.programs.hyperplane import NotSeparableError
from weight_checks import (
    check_class_weights_multiply,
    check_integers_are_repetitions,
    check_refuses_wrong_weights,
    check_zero_is_removal,
)

# HiGHS satisfies constraints to 1e-9; objectives are below 100.
OBJECTIVE = 1e-7
CONJUGATE = {"l1": np.inf, "l2": 2, "linf": 1}


@parametrize_with_checks([LinearMarginSVC(distance) for distance in (*CONJUGATE, 3.0)])
# Some checks use random labels.
@pytest.mark.filterwarnings("ignore:With C=1 all weights:UserWarning")
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def points(rng, noise, m=80, d=4):
    X = rng.standard_normal((m, d))
    output = X @ np.array([2.0, -1.0, 0.1, 0.0])[:d] + 0.5
    keep = np.abs(output) > 0.3
    return X[keep], np.where(output + noise * rng.standard_normal(m) > 0, 1, -1)[keep]


def primal(X, y, distance, C, intercept):
    """Solve the linear program in weights, their absolute values, a threshold and slacks."""
    m, d = X.shape
    lengths = {"linf": np.eye(d), "l1": np.ones((d, 1))}[distance]
    k = lengths.shape[1]
    none = np.zeros((d, 1 + m))
    rows = [
        np.hstack([-y[:, None] * X, np.zeros((m, k)), -y[:, None] * float(intercept), -np.eye(m)]),
        np.hstack([np.eye(d), -lengths, none]),
        np.hstack([-np.eye(d), -lengths, none]),
    ]
    price, slack = (C, (0, None)) if np.isfinite(C) else (0.0, (0, 0))
    cost = np.concatenate([np.zeros(d), np.ones(k), [0.0], np.full(m, price)])
    right = np.concatenate([-np.ones(m), np.zeros(2 * d)])
    bounds = [(None, None)] * (d + k + 1) + [slack] * m
    return linprog(cost, A_ub=np.vstack(rows), b_ub=right, bounds=bounds).fun


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("C", [0.1, 1.0, np.inf])
@pytest.mark.parametrize("distance", ["l1", "linf"])
def test_equals_the_reference(rng, distance, C, intercept):
    X, y = points(rng, 0.0 if np.isinf(C) else 1.0)
    if not intercept:
        X = X + np.array([0.2, 0.0, 0.0, 0.0])  # roughly separable through the origin
        y = np.where(X @ np.array([2.0, -1.0, 0.1, 0.0]) > 0, 1, -1) if np.isinf(C) else y
    model = LinearMarginSVC(distance, C=C, fit_intercept=intercept).fit(X, y)
    expected = primal(X, y, distance, C, intercept)
    assert np.isclose(model.objective_[0], expected, rtol=OBJECTIVE, atol=OBJECTIVE)
    margins = y * model.decision_function(X)
    length = np.linalg.norm(model.coef_[0], CONJUGATE[distance])
    assert np.isclose(model.margin_[0], 1 / length)
    if np.isinf(C):
        assert np.isclose(margins.min(), 1)
    else:
        assert np.isclose(length + C * np.maximum(1 - margins, 0).sum(), expected)


@pytest.mark.parametrize("intercept", [False, True])
def test_l2_equals_a_general_solver(rng, intercept):
    X, y = points(rng, 1.0)
    signed = y[:, None] * X
    G = signed @ signed.T
    rules = [{"type": "eq", "fun": lambda b: b @ y, "jac": lambda b: y.astype(float)}]
    best = minimize(
        lambda b: b @ G @ b / 2 - b.sum(),
        np.full(len(y), 0.1),
        jac=lambda b: G @ b - 1,
        bounds=[(0, 1)] * len(y),
        constraints=rules if intercept else [],
        method="SLSQP" if intercept else "L-BFGS-B",
        options={"maxiter": 2000, "ftol": 1e-14},
    )
    model = LinearMarginSVC("l2", fit_intercept=intercept).fit(X, y)
    # The dual objective is a lower bound; libsvm's tolerance is 1e-6.
    assert -1e-6 < model.objective_[0] + best.fun < 1e-5


@pytest.mark.parametrize("distance", list(CONJUGATE))
def test_hard_margin_is_the_largest_smallest_distance(rng, distance):
    X, y = points(rng, 0.0, d=2)
    model = LinearMarginSVC(distance, C=np.inf).fit(X, y)
    # Try all directions of the plane, each with its best threshold.
    angle = np.linspace(0, 2 * np.pi, 200_001)
    w = np.column_stack([np.cos(angle), np.sin(angle)])
    w /= np.linalg.norm(w, CONJUGATE[distance], axis=1)[:, None]
    gaps = (X[y > 0] @ w.T).min(axis=0) - (X[y < 0] @ w.T).max(axis=0)
    # Grid angles are 3e-5 apart, and a margin changes with its angle by at most the radius.
    assert gaps.max() / 2 <= model.margin_[0] + 1e-9
    assert np.isclose(gaps.max() / 2, model.margin_[0], rtol=0, atol=2e-4)
    assert np.isclose(np.min(y * model.decision_function(X)), 1)


def test_conjugate_norms_measure_distances(rng):
    """The margin is the distance in the norm that `distance` names."""
    X, y = np.array([[0.0, 0.0], [1.0, 2.0]]), [0, 1]
    for distance, norm in [("l1", 1), ("l2", 2), ("linf", np.inf)]:
        model = LinearMarginSVC(distance, C=np.inf).fit(X, y)
        assert np.isclose(2 * model.margin_[0], np.linalg.norm([1.0, 2.0], norm))


def test_linf_uses_few_features(rng):
    X, y = points(rng, 0.5, m=200)
    assert np.sum(LinearMarginSVC("linf", C=0.02).fit(X, y).coef_[0] != 0) < 4


@pytest.mark.parametrize("distance", list(CONJUGATE))
def test_sparse_points_and_three_classes(distance):
    X, y = load_iris(return_X_y=True)
    dense = LinearMarginSVC(distance).fit(X, y)
    csr = LinearMarginSVC(distance).fit(sparse.csr_matrix(X), y)
    np.testing.assert_allclose(csr.objective_, dense.objective_, rtol=1e-5)
    assert dense.score(X, y) > 0.7
    assert csr.predict(sparse.csr_matrix(X)).shape == (150,)


@pytest.mark.parametrize("C", [1.0, np.inf])
@pytest.mark.parametrize("distance", list(CONJUGATE))
def test_units_of_the_features_do_not_matter(rng, distance, C):
    X, y = points(rng, 0.0)
    plain = LinearMarginSVC(distance, C=C).fit(X, y)
    for unit in (1e-6, 1e6):
        price = C / (unit**2 if distance == "l2" else unit)
        scaled = LinearMarginSVC(distance, C=price).fit(unit * X, y)
        np.testing.assert_allclose(scaled.margin_, unit * plain.margin_, rtol=1e-4)
        np.testing.assert_array_equal(scaled.predict(unit * X), plain.predict(X))


@pytest.mark.parametrize("distance", list(CONJUGATE))
def test_what_cannot_be_separated_is_an_error(distance):
    with pytest.raises(NotSeparableError, match="Choose a finite C"):
        LinearMarginSVC(distance, C=np.inf).fit([[0.0], [1.0], [2.0]], [0, 1, 0])


def test_refuses():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="one class"):
        LinearMarginSVC().fit(X, np.zeros(150))
    with pytest.raises(ValueError, match="distance"):
        LinearMarginSVC("l3").fit(X, y)
    with pytest.warns(UserWarning, match="choose a larger C"):
        LinearMarginSVC("l1", C=1e-9).fit(X, y)


# No hyperplane separates the second class of iris from the others.
@pytest.mark.filterwarnings("ignore:With C=10 all weights:UserWarning")
@pytest.mark.parametrize("distance", list(CONJUGATE))
def test_sample_weights(rng, distance):
    for X, y in (points(rng, 1.0), load_iris(return_X_y=True)):
        check_integers_are_repetitions(LinearMarginSVC(distance, C=10.0), X, y, rng)
        check_zero_is_removal(LinearMarginSVC(distance, C=10.0), X, y, rng)
        check_class_weights_multiply(LinearMarginSVC(distance, C=10.0), X, y, rng)
    check_refuses_wrong_weights(LinearMarginSVC(distance), *points(rng, 1.0))


@pytest.mark.parametrize("distance", list(CONJUGATE))
def test_without_slacks_positive_weights_are_one(rng, distance):
    X, y = points(rng, 0.0)
    weight = rng.uniform(0.1, 5.0, len(y))
    plain = LinearMarginSVC(distance, C=np.inf).fit(X, y)
    weighted = LinearMarginSVC(distance, C=np.inf).fit(X, y, weight)
    np.testing.assert_array_equal(weighted.coef_, plain.coef_)
