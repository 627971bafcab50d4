"""Hyperplanes in any norm, against a general convex minimizer and against known programs."""

import inspect

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning

from bayespoint.solvers.programs import norm_margin
from bayespoint.solvers.programs.highs import NotSeparableError
from bayespoint.solvers.programs.hyperplane import fit_hyperplane
from bayespoint.solvers.programs.norm_margin import MAX_RELATIVE_GAP, fit_in_norm

NORMS = [1.2, 2.0, 6.0]


# Points and features. With few points the curvature of the norm decides, not the points.
MANY, FEW = (30, 4), (8, 12)


def separable(rng, shape=MANY):
    X = rng.uniform(-1, 1, shape)
    output = X[:, :4] @ [2.0, -1.0, 0.1, 0.0] + 0.3
    return X[np.abs(output) > 0.2], np.where(output > 0, 1.0, -1.0)[np.abs(output) > 0.2]


def twin(X, signs, norm, prices):
    """Minimize over weights, threshold and slacks by sequential quadratic programs."""
    m, d = X.shape
    hard = np.isinf(prices).all()
    cost = np.zeros(m) if hard else prices

    def objective(z):
        return np.sum(np.abs(z[:d]) ** norm) ** (1 / norm) + cost @ z[d + 1 :]

    def gradient(z):
        length = np.sum(np.abs(z[:d]) ** norm) ** (1 / norm)
        curve = np.sign(z[:d]) * (np.abs(z[:d]) / length) ** (norm - 1)
        return np.concatenate([curve, [0.0], cost])

    rows = np.column_stack([signs[:, None] * X, signs, np.eye(m)])
    start, *_ = np.linalg.lstsq(rows[:, : d + 1], np.ones(m), rcond=None)
    margins = np.maximum(1 - rows[:, : d + 1] @ start, 0)
    found = minimize(
        objective,
        np.append(start, margins),
        jac=gradient,
        method="SLSQP",
        bounds=[(None, None)] * (d + 1) + [(0, 0 if hard else None)] * m,
        constraints={"type": "ineq", "fun": lambda z: rows @ z - 1, "jac": lambda z: rows},
        options={"maxiter": 1000, "ftol": 1e-13},
    )
    return found.fun


def objective(X, signs, norm, prices, coef, intercept):
    slacks = np.maximum(1 - signs * (X @ coef + intercept), 0)
    return np.linalg.norm(coef, norm) + (0.0 if np.isinf(prices).all() else prices @ slacks)


def assert_agrees(rng, shape, norm, price, fit=fit_in_norm):
    X, signs = separable(rng, shape)
    if np.isfinite(price):
        signs = np.where(rng.random(len(signs)) < 0.2, -signs, signs)
    prices = np.full(len(signs), price)
    coef, intercept = fit(X, signs, norm, prices, True)
    if np.isinf(price):
        assert (signs * (X @ coef + intercept)).min() > 1 - 1e-7
    ours, theirs = objective(X, signs, norm, prices, coef, intercept), twin(X, signs, norm, prices)
    # SLSQP stops near its minimum, from above; ours is within its gap.
    assert theirs * (1 - 1e-4) <= ours <= theirs * (1 + 2 * MAX_RELATIVE_GAP + 1e-8)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize(("shape", "price"), [(MANY, 0.3), (MANY, np.inf), (FEW, np.inf)])
def test_agrees_with_a_general_minimizer(shape, norm, price, rng):
    assert_agrees(rng, shape, norm, price)


WRONG = {
    "tangent cuts the curve": ("(p - 1) * ratios**p]", "(p - 2) * ratios**p]"),
    "slope": ("-p * ratios ** (p - 1) * signs", "-p * ratios**p * signs"),
    "no refinement": (
        "program.add_tangents(np.abs(coef)",
        "break; program.add_tangents(np.abs(coef)",
    ),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_broken_versions_do_not_agree(wrong, rng):
    source = inspect.getsource(norm_margin).replace(
        "from .highs", "from bayespoint.solvers.programs.highs"
    )
    source = source.replace("from ..._runtime", "from bayespoint._runtime")
    before, after = WRONG[wrong]
    assert source.count(before) == 1
    names = {"__name__": "broken"}
    exec(source.replace(before, after), names)
    with pytest.raises((AssertionError, ConvergenceWarning)):  # warnings are errors here
        assert_agrees(rng, FEW, 3.0, np.inf, names["fit_in_norm"])


def test_is_between_the_linear_programs(rng):
    """Near its ends the norm is that of the linear programs, and in the middle that of l2."""
    X, signs = separable(rng)
    one = np.ones(len(signs))
    margins = {
        distance: fit_hyperplane(X, signs, distance, np.inf, True, one).margin
        for distance in ("l1", 1.01, 1.5, 2.0, "l2", 5.0, 200.0, "linf")
    }
    assert margins[2.0] == pytest.approx(margins["l2"], rel=1e-7)
    assert margins[1.01] == pytest.approx(margins["l1"], rel=0.02)
    assert margins[200.0] == pytest.approx(margins["linf"], rel=0.02)
    ordered = [margins[d] for d in ("l1", 1.01, 1.5, 2.0, 5.0, 200.0, "linf")]
    assert np.all(np.diff(ordered) < 1e-7)  # a distance falls with q


def test_many_features_need_few_programs(rng, monkeypatch):
    calls = []
    solve = norm_margin._Program.solve
    monkeypatch.setattr(norm_margin._Program, "solve", lambda p: calls.append(0) or solve(p))
    X = rng.uniform(-1, 1, (100, 60))
    fit_in_norm(X, np.where(X[:, 0] > 0, 1.0, -1.0), 1.5, np.full(100, np.inf), True)
    assert 1 < len(calls) < 30


def test_an_open_gap_is_reported(rng, monkeypatch):
    monkeypatch.setattr(norm_margin, "MAX_PROGRAMS", 2)
    X, signs = separable(rng, FEW)
    with pytest.warns(ConvergenceWarning, match="after 2 programs"):
        fit_in_norm(X, signs, 3.0, np.full(len(signs), np.inf), True)


def test_equal_distances_do_not_stop_the_quadratic_program():
    """HiGHS gives up on the corners of a regular simplex; the margin is 1 / sqrt(5)."""
    corners = np.eye(6) - 1 / 6
    X = corners @ np.linalg.svd(corners)[2][:5].T
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    for labels in ([1, 1, 1, -1, -1, -1], [1, -1, 1, -1, 1, -1], [-1, 1, 1, -1, -1, 1]):
        plane = fit_hyperplane(X, np.array(labels, float), "l2", np.inf, True, np.ones(6))
        assert plane.margin == pytest.approx(1 / np.sqrt(5), rel=1e-7)


def test_classes_that_cannot_be_separated():
    X, signs = np.array([[0.0], [1.0], [0.5]]), np.array([1.0, 1.0, -1.0])
    with pytest.raises(NotSeparableError, match="Choose a finite C"):
        fit_in_norm(X, signs, 3.0, np.full(3, np.inf), True)
    coef, _ = fit_in_norm(X, signs, 3.0, np.full(3, 1e-3), True)
    assert not coef.any()
