"""Dimensions with a margin, against programs for all labelings of some points."""

import itertools
import math

import numpy as np
import pytest
from scipy.optimize import linprog
from sklearn.svm import SVC

from bayespoint.bounds import (
    fat_shattering_dimension,
    l1_fat_shattering_dimension,
    vc_dimension_with_margin,
)


def l2_margin(X, fit_intercept):
    """Return the largest margin with which hyperplanes label the points in all ways."""
    margins = []
    for y in itertools.product([-1, 1], repeat=len(X)):
        points, labels = X, np.array(y)
        if not fit_intercept:  # points symmetric about zero have the intercept zero
            points, labels = np.vstack([X, -X]), np.append(labels, -labels)
        if len(set(labels)) == 2:
            machine = SVC(kernel="linear", C=1e8, tol=1e-9).fit(points, labels)
            margins.append(1 / np.linalg.norm(machine.coef_))
    return min(margins) * (1 - 1e-6)  # rounding of libsvm


def regular_simplex(k):
    """Return k unit vectors at equal angles, in k - 1 dimensions."""
    corners = np.eye(k) - 1 / k
    basis = np.linalg.svd(corners)[2][: k - 1]
    points = corners @ basis.T
    return points / np.linalg.norm(points, axis=1, keepdims=True)


@pytest.mark.parametrize("k", [2, 4, 6])
def test_a_simplex_attains_the_dimension_with_intercept(k):
    X = regular_simplex(k)
    margin = l2_margin(X, fit_intercept=True)
    assert vc_dimension_with_margin(margin, 1.0) == k
    assert vc_dimension_with_margin(margin, 1.0, k - 1) == k
    # Without the one for the intercept it would be wrong.
    assert vc_dimension_with_margin(margin, 1.0, fit_intercept=False) < k


@pytest.mark.parametrize("k", [2, 3, 5])
def test_orthogonal_points_attain_it_without_intercept(k):
    X = np.eye(k)
    margin = l2_margin(X, fit_intercept=False)
    assert vc_dimension_with_margin(margin, 1.0, fit_intercept=False) == k
    assert fat_shattering_dimension(margin, 1.0) == k


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_no_points_are_labeled_beyond_it(fit_intercept, rng):
    for k, n_features in [(3, 3), (4, 4), (4, 6)]:
        X = rng.standard_normal((k, n_features))
        X /= np.linalg.norm(X, axis=1, keepdims=True)
        margin = l2_margin(X, fit_intercept)
        limits = {"n_features": n_features, "fit_intercept": fit_intercept}
        assert vc_dimension_with_margin(margin, 1.0, **limits) >= k


def l1_margin(X):
    """Return the largest margin for all labelings, with weights whose sum is at most one."""
    k, n = X.shape
    margins = []
    for y in itertools.product([-1, 1], repeat=k):
        signed = np.array(y)[:, None] * X
        # Variables: positive and negative parts of the weights, and the margin.
        found = linprog(
            [*np.zeros(2 * n), -1.0],
            A_ub=np.vstack(
                [np.column_stack([-signed, signed, np.ones(k)]), [*np.ones(2 * n), 0.0]]
            ),
            b_ub=[*np.zeros(k), 1.0],
            bounds=[(0, None)] * (2 * n) + [(None, None)],
        )
        margins.append(-found.fun)
    return min(margins)


@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_all_sign_patterns_nearly_attain_the_l1_dimension(k):
    """A feature for each pattern, up to its sign, labels all k points with margin one."""
    X = np.array(list(itertools.product([-1.0, 1.0], repeat=k)))[: 2 ** (k - 1)].T
    assert l1_margin(X) == pytest.approx(1.0)
    limit = 2 * math.log(2 * X.shape[1])
    assert l1_fat_shattering_dimension(1.0, X.shape[1]) == min(X.shape[1], math.floor(limit)) >= k
    # A constant of 1.4 instead of 2 would be wrong: ln(2 n) = k ln 2.
    assert 1.4 * math.log(2 * X.shape[1]) < k


def test_no_points_are_labeled_beyond_the_l1_dimension(rng):
    for k, n_features in [(2, 2), (3, 4), (4, 8), (5, 16)]:
        X = rng.choice([-1.0, 1.0], (k, n_features))
        margin = l1_margin(X)
        if margin > 1e-9:
            assert l1_fat_shattering_dimension(margin * (1 - 1e-9), n_features) >= k


def test_units_do_not_matter():
    usual = l1_fat_shattering_dimension(0.25, 1000)
    assert usual == math.floor(2 * 16 * math.log(2000))
    assert l1_fat_shattering_dimension(1.0, 1000, weight=2.0, size=2.0) == usual
    assert l1_fat_shattering_dimension(0.01, 50) == 50  # never more than features


def test_the_printed_formula_has_an_unknown_constant():
    expected = math.floor(3.0 * 16 * math.log(2002))
    assert l1_fat_shattering_dimension(0.25, 1000, constant=3.0) == expected


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: vc_dimension_with_margin(0, 1), "margin should be a positive"),
        (lambda: vc_dimension_with_margin(1, 1, 0), "n_features should be a whole"),
        (lambda: l1_fat_shattering_dimension(0.1, 2.5), "n_features should be a whole"),
        (lambda: l1_fat_shattering_dimension(0.1, 2, size=-1), "size should be a positive"),
        (lambda: l1_fat_shattering_dimension(0.1, 2, constant=0), "constant should be"),
    ],
)
def test_refuses(call, message):
    with pytest.raises(ValueError, match=message):
        call()
