"""Kernels between unit points: products in single precision, and every other kernel."""

import os
import re

import numpy as np
import pytest
from scipy import sparse

from bayespoint.geometry import unit_kernel
from bayespoint.geometry.kernels import (
    MAX_SQUARED_WIDTHS,
    NOT_FINITE_MESSAGE,
    Kernel,
    unnormalized_lengths,
)
from bayespoint.geometry.settle import settle_kernel
from bayespoint.geometry.unit_kernel import (
    PANEL_POINTS,
    AnyKernel,
    ProductKernel,
    is_product_kernel,
    panels,
)

SEED = int(os.environ.get("BAYESPOINT_TEST_SEED", "0"))
EPS = np.finfo(np.float32).eps
N_FEATURES = 6
PRODUCTS = ("linear", "poly", "rbf", "sigmoid")
CASES = {
    "linear": {},
    "poly": {"degree": 3, "coef0": 1.5},
    "poly, 1": {"degree": 1, "coef0": 0.5},
    "poly, no coef0": {"degree": 4, "coef0": 0.0},
    "poly, negative coef0": {"degree": 2, "coef0": -0.01},
    "poly, fraction": {"degree": 2.5, "coef0": 30.0},
    "rbf": {},
    "sigmoid": {"coef0": 0.5},
}
FLAGS = [{"fit_intercept": a, "normalize": b} for a in (False, True) for b in (False, True)]


@pytest.fixture(autouse=True)
def few_features_are_worthwhile(monkeypatch):
    monkeypatch.setattr(unit_kernel, "MIN_FEATURES_SAVED", 0)


def settle(name, X, **changes):
    parameters = {"gamma": 0.3, "degree": 3, "coef0": 1.5, "normalize": False}
    return settle_kernel(name, X, **(parameters | {"fit_intercept": False} | changes))


def gaussian(m, n_features=N_FEATURES, seed=SEED):
    return np.random.default_rng(seed).standard_normal((m, n_features))


def mostly_zero(m, n_features=N_FEATURES, seed=SEED):
    kept = np.random.default_rng(seed).random((m, n_features)) < 0.15
    return gaussian(m, n_features, seed) * kept


def values(unit, left, n):
    out = np.full((n, unit.n_points), np.nan, dtype=np.float32)
    for number, here in enumerate(panels(unit.n_points)):
        unit.panel(left, number, out[:, here])
    return out


def lengths(kernel, X):
    return np.where(kernel.lengths(X) > 0, kernel.lengths(X), 1.0)


def expected(kernel, X, Y):
    return kernel(X, Y) / np.outer(lengths(kernel, X), lengths(kernel, Y))


def rounding(kernel, X, Y):
    """Return the largest error of a kernel value in single precision.

    A sum of n products of rounded factors has an error of n + 2 eps times the sum of their sizes;
    there are n_features products and two extra ones. By Cauchy-Schwarz that sum is at most the
    product of two norms, divided by the lengths. The map multiplies the error by its slope. The
    map, the lengths and the constant add about 8 eps.
    """
    known = (X.shape[1] + 2 + 2 + 8) * EPS
    X, Y = (A.toarray() if sparse.issparse(A) else A for A in (X, Y))
    norms = [np.linalg.norm(A, axis=1) + np.linalg.norm(kernel.origin) for A in (X, Y)]
    if kernel.name == "rbf":  # four squares, for |x - y|^2 = |x|^2 - 2 <x, y> + |y|^2
        return known * max(4 * kernel.gamma * np.concatenate(norms).max() ** 2, 1.0)
    by, power = [lengths(kernel, A) for A in (X, Y)], 1
    if kernel.normalize:
        by = [unnormalized_lengths(kernel, A) * b for A, b in zip((X, Y), by, strict=True)]
    size = np.outer(*norms)
    if kernel.name != "linear":
        size = kernel.gamma * size + abs(kernel.coef0)
    if kernel.name == "poly":  # (a / b)^d, which is 0 at the origin
        by = [np.sqrt(np.abs(kernel.gamma * norm**2 + kernel.coef0)) for norm in norms]
        by, power = [np.where(b > 0, b, np.inf) for b in by], kernel.degree
    return known * power * max((size / np.outer(*by)).max(), 1.0) ** power


def check(kernel, X, Y):
    unit, known = ProductKernel(kernel, Y), rounding(kernel, X, Y)
    assert known < 1e-3  # otherwise the check would show nothing
    out = values(unit, unit.left(X), X.shape[0])
    np.testing.assert_allclose(out, expected(kernel, X, Y), atol=known, rtol=0)


# --- products are the kernel


@pytest.mark.parametrize("flags", FLAGS)
@pytest.mark.parametrize("case", CASES)
def test_values_are_the_kernel_of_unit_points(case, flags):
    X, holes = gaussian(7, seed=SEED + 1), mostly_zero(20)
    holes[0] = 0.0
    for Y in (gaussian(20), holes, sparse.csr_array(gaussian(20)), sparse.csr_matrix(holes)):
        kernel = settle(case.split(",")[0], Y, **CASES[case], **flags)
        for left in (X, sparse.csr_array(X), mostly_zero(7), sparse.csr_matrix(holes[:7])):
            check(kernel, left, Y)
        check(kernel, X[:1], Y)


@pytest.mark.parametrize("name", PRODUCTS)
def test_features_that_are_zero_on_the_right_count_on_the_left(name):
    for fill in (gaussian, mostly_zero):
        Y = fill(40, seed=SEED + 1)
        Y[:, [0, 3]] = 0.0
        unit = ProductKernel(settle(name, Y), Y)
        extra = {"linear": 0, "poly": 1, "rbf": 2, "sigmoid": 1}[name]
        assert (unit.n_thin > 0) == (fill is mostly_zero)
        assert unit.n_features == np.any(Y, axis=0).sum() + extra
        assert unit.n_thin or unit.n_bytes == 4 * unit.n_features * 40
        check(settle(name, Y), gaussian(5), Y)


@pytest.mark.parametrize("flags", FLAGS)
@pytest.mark.parametrize("name", PRODUCTS)
def test_points_at_the_origin_of_feature_space(name, flags):
    X, zero = gaussian(8), np.zeros((3, N_FEATURES))
    X[0] = X[1:].mean(axis=0)  # the origin of the linear kernel with an intercept
    X[3] = 0.0
    for Y in (X, sparse.csr_array(X), zero, sparse.csr_array(zero)):
        kernel = settle(name, Y, coef0=0.0, **flags)
        for left in (X, sparse.csr_array(X), zero[:1]):
            check(kernel, left, Y)


@pytest.mark.parametrize("case", CASES)
def test_a_single_feature(case):
    Y = gaussian(9, 1)
    for right in (Y, sparse.csr_array(Y), Y * (np.arange(9) < 1)[:, None]):
        for flags in FLAGS:
            kernel = settle(case.split(",")[0], right, **CASES[case], **flags)
            check(kernel, gaussian(5, 1, SEED + 1), right)


@pytest.mark.parametrize("format", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("n", [PANEL_POINTS, PANEL_POINTS + 1, 2 * PANEL_POINTS + 1])
def test_more_points_than_a_panel(n, format):
    Y, rows = gaussian(n), np.array([n - 1, 0, 7])
    kernel = settle("rbf", format(Y), gamma=0.1, fit_intercept=True)
    check(kernel, Y[-1:], format(Y))
    unit, known = ProductKernel(kernel, format(Y)), rounding(kernel, Y, Y)
    out = values(unit, unit.rows(rows), 3)
    np.testing.assert_allclose(out, expected(kernel, Y[rows], Y), atol=known, rtol=0)
    unit = ProductKernel(settle("rbf", format(Y)), format(Y))
    assert values(unit, unit.rows(np.arange(99)), 99).max() <= 1  # rounding must not exceed one


@pytest.mark.parametrize(
    "n", [0, 1, PANEL_POINTS - 1, PANEL_POINTS, PANEL_POINTS + 1, 5 * PANEL_POINTS]
)
def test_panels_follow_each_other(n):
    parts = panels(n)
    assert [i for part in parts for i in range(part.start, part.stop)] == list(range(n))
    assert all(0 < part.stop - part.start <= PANEL_POINTS for part in parts)


# --- large and small numbers


@pytest.mark.parametrize("fill", [gaussian, mostly_zero])
def test_polynomials_of_high_degree_do_not_overflow(fill):
    X = 1e3 * fill(20)
    for normalize in (False, True):
        kernel = Kernel("poly", gamma=100.0, degree=50, normalize=normalize)
        base = 100 * X @ X.T + 1  # its 50th power overflows even in double precision
        root, unit = np.sqrt(np.diagonal(base)), ProductKernel(kernel, X)
        right, known = (base / np.outer(root, root)) ** 50, rounding(kernel, X, X)
        np.testing.assert_allclose(values(unit, unit.left(X), 20), right, atol=known, rtol=0)
    check(settle("poly", X, gamma=1e-3, degree=50, fit_intercept=True), X, X)


@pytest.mark.parametrize("unit", [1e-100, 1e-25, 1e25, 1e100])
@pytest.mark.parametrize("name", ["linear", "poly", "sigmoid"])
def test_extreme_scales_are_right_or_an_error(name, unit):
    X = unit * gaussian(8)
    for gamma in ("scale", 1.0):
        kernel = settle(name, X, gamma=gamma, degree=1, coef0=0.0)
        if not is_product_kernel(kernel, X):
            continue
        try:
            product, right = ProductKernel(kernel, X), expected(kernel, X, X)
            out = values(product, product.left(X), 8)
        except ValueError as error:
            assert str(error) == NOT_FINITE_MESSAGE  # noqa: PT017
        else:  # `rounding` for a size of 1, because the unit cancels
            np.testing.assert_allclose(out, right, atol=(N_FEATURES + 12) * EPS, rtol=0)


@pytest.mark.parametrize("coef0", [0.0, 1.0])
def test_sigmoid_of_points_near_and_far(coef0):
    # Far away tanh is 1: points have unit length without scaling.
    near, far = 0.5 * gaussian(5), 20 * gaussian(5, seed=SEED + 1)
    assert np.all(settle("sigmoid", far, coef0=coef0).lengths(far) == 1)
    for X, Y in ((near, far), (far, near), (near, np.vstack([near, far]))):
        check(settle("sigmoid", Y, coef0=coef0), X, Y)


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("degree", [0.5, 2.5])
def test_a_kernel_that_is_not_a_number_is_an_error(degree, fit_intercept):
    X = np.zeros((8, N_FEATURES))
    X[:, 0] = [1.0, -9.0, 1.0, 1.0, 2.0, 1.0, 3.0, 1.0]
    for Y in (X + 1e-3 * gaussian(8), X, sparse.csr_array(X)):
        flags = {"fit_intercept": fit_intercept, "gamma": 1.0, "coef0": 1.0}
        kernel = settle("poly", Y, degree=degree, **flags)
        unit = ProductKernel(kernel, Y)
        with pytest.raises(ValueError, match=re.escape(NOT_FINITE_MESSAGE)):
            values(unit, unit.left(Y), 8)
        check(kernel, Y[[0]], Y[[0, 2, 3]])


# --- kernels that products can compute


@pytest.mark.parametrize("format", [np.asarray, sparse.csr_array])
def test_products_suffice_for_functions_of_the_inner_product(format):
    X = format(gaussian(20))
    for name in PRODUCTS:
        assert is_product_kernel(settle(name, X), X) is True
    for name in ("laplacian", "precomputed", lambda A, B: A @ B.T):
        assert is_product_kernel(Kernel(name), X) is False


def test_products_do_not_suffice_for_rbf_far_from_its_origin():
    X = gaussian(20)
    X[0] = np.eye(N_FEATURES)[0] * 20
    for far, answer in ((0.99 * MAX_SQUARED_WIDTHS, True), (1.01 * MAX_SQUARED_WIDTHS, False)):
        assert is_product_kernel(Kernel("rbf", gamma=far / 400), X) is answer
        assert is_product_kernel(Kernel("rbf", gamma=far / 400), sparse.csr_array(X)) is answer
    away = gaussian(20) + 1e6
    assert is_product_kernel(settle("rbf", away), away)  # the kernel measures from the median
    assert not is_product_kernel(Kernel("rbf", gamma=0.3), away)


def test_sparse_linear_keeps_its_digits_far_from_zero_or_uses_no_products():
    X = gaussian(30) + 1000.0
    csr = sparse.csr_array(X)
    kernel = settle("linear", csr, fit_intercept=True)
    if is_product_kernel(kernel, csr):
        unit = ProductKernel(kernel, csr)
        known = (N_FEATURES + 12) * EPS * 4 * MAX_SQUARED_WIDTHS  # as much as rbf may lose
        out = values(unit, unit.left(csr), 30)
        np.testing.assert_allclose(out, expected(kernel, X, X), atol=known, rtol=0)


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("name", ["laplacian", lambda A, B: (A @ B.T) ** 2, "precomputed"])
def test_any_kernel_is_the_kernel_of_unit_points(name, fit_intercept):
    X = gaussian(PANEL_POINTS + 1)
    X = X @ X.T if name == "precomputed" else X
    kernel = settle(name, X, fit_intercept=fit_intercept)
    matrix = X + kernel.constant if name == "precomputed" else kernel(X, X)
    root, rows = np.sqrt(np.diagonal(matrix)), np.array([PANEL_POINTS, 3, 3, 0])
    unit = AnyKernel(kernel, X, root)
    right = (matrix / np.outer(root, root))[rows]
    np.testing.assert_allclose(values(unit, unit.rows(rows), 4), right, atol=EPS, rtol=0)
