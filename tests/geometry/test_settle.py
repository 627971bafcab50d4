"""Parameters that depend on the training data: the constant term and gamma."""

import math

import numpy as np
import pytest
from scipy import sparse
from sklearn.svm import SVC

from bayespoint.geometry.gram import unit_gram
from kernel_problems import DEGREE, EPS, NAMED, SEED, formula, gaussian, settle

# --- the constant term


@pytest.mark.parametrize("name", ["linear", "poly", "sigmoid"])
def test_constant_is_the_mean_squared_length(name):
    X, Y = gaussian(9, 3), gaussian(4, 3, SEED + 1)
    X -= X.mean(axis=0)  # the origin of the linear kernel with an intercept
    kernel, plain = settle(name, X, fit_intercept=True), settle(name, X)
    mean = math.fsum(formula(name, x.tolist(), x.tolist()) for x in X) / len(X)
    assert kernel.constant == pytest.approx(mean, rel=3 * DEGREE * 8 * EPS)
    assert plain.constant == 0
    np.testing.assert_allclose(kernel(X, Y), plain(X, Y) + kernel.constant, rtol=64 * EPS)


@pytest.mark.parametrize(
    ("name", "normalize"),
    [("rbf", False), ("laplacian", False), *((name, True) for name in NAMED)],
)
def test_constant_is_one_for_points_of_unit_length(name, normalize):
    X = gaussian(9, 3)
    kernel = settle(name, X, normalize=normalize, fit_intercept=True)
    assert kernel.constant == pytest.approx(1, rel=4 * EPS)
    np.testing.assert_allclose(kernel.lengths(X), np.sqrt(2), rtol=4 * EPS)


@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("unit", [1e-150, 1e-8, 3.0, 1e8, 1e150])
def test_geometry_does_not_depend_on_the_unit_of_measurement(unit, normalize):
    X, Y = gaussian(9, 3), gaussian(4, 3, SEED + 1)
    grams, cosines = [], []
    for c in (1.0, unit):
        kernel = settle("linear", c * X, normalize=normalize, fit_intercept=True)
        grams.append(unit_gram(kernel(c * X, c * X), 0.0).matrix)
        lengths = [kernel.lengths(c * A) for A in (X, Y)]
        cosines.append(kernel(c * X, c * Y) / lengths[0][:, None] / lengths[1])
    # Sums of 4 terms, relative to the product of the lengths, computed twice.
    np.testing.assert_allclose(grams[1], grams[0], atol=32 * EPS, rtol=0)
    np.testing.assert_allclose(cosines[1], cosines[0], atol=32 * EPS, rtol=0)


def test_threshold_separates_what_no_plane_through_the_origin_can():
    # A threshold separates 1 and 2 from 3 and 4; a sign does not.
    X = np.array([[1.0], [2.0], [3.0], [4.0]])
    assert np.linalg.matrix_rank(settle("linear", X)(X, X)) == 1
    assert np.linalg.matrix_rank(settle("linear", X, fit_intercept=True)(X, X)) == 2


@pytest.mark.parametrize("name", ["linear", "precomputed"])
def test_constant_is_one_where_all_points_are_at_the_origin(name):
    X = np.zeros((3, 3))
    kernel = settle(name, X, fit_intercept=True)
    assert kernel.constant == 1.0
    np.testing.assert_array_equal(kernel(X, X), np.ones((3, 3)))


# --- gamma


@pytest.mark.parametrize("gamma", ["scale", 0.25, 2])
@pytest.mark.parametrize("format", [np.asarray, sparse.csr_array])
def test_gamma_is_that_of_svc(gamma, format):
    X = np.maximum(gaussian(20, 3) + 1, 0)  # contains zeros, which CSR leaves out
    svc = SVC(gamma=gamma).fit(format(X), np.arange(20) % 2)
    settled = settle("rbf", format(X), gamma=gamma).gamma
    assert isinstance(settled, float)
    assert settled == pytest.approx(svc._gamma, rel=64 * EPS)


def test_gamma_scale_makes_rbf_ignore_the_unit_of_measurement():
    X = gaussian(20, 3)
    matrix = settle("rbf", X, gamma="scale")(X, X)
    for c in (1e-8, 1e8):
        scaled = settle("rbf", c * X, gamma="scale")(c * X, c * X)
        # gamma |x - x'|^2 has an error of a few eps of its largest value, about 2 * 16 / 3.
        np.testing.assert_allclose(scaled, matrix, atol=256 * EPS, rtol=0)


@pytest.mark.parametrize("format", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("value", [0.0, 1.0, 0.1, 7.7, 1e8])
def test_gamma_scale_is_one_for_constant_data(value, format):
    # The variance of ten numbers 0.1 is not exactly zero in floating point.
    for m in (1, 3, 7, 10):
        assert settle("rbf", format(np.full((m, 3), value)), gamma="scale").gamma == 1.0


def test_gamma_scale_of_csr_keeps_its_digits_far_from_the_origin():
    X = gaussian(20, 3) + 1e6
    dense = settle("rbf", X, gamma="scale").gamma
    # Deviations are of size 1, and their errors are the spacing of numbers at 1e6: 1e-10.
    assert settle("rbf", sparse.csr_array(X), gamma="scale").gamma == pytest.approx(dense, rel=1e-9)


# --- weights


@pytest.mark.parametrize("format", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("name", ["linear", "poly", "rbf", "laplacian"])
def test_whole_weights_are_repeated_rows(name, format):
    X = np.maximum(gaussian(20, 3) + 1, 0)
    weight = np.random.default_rng(SEED).integers(1, 5, 20)
    repeated = settle(name, format(np.repeat(X, weight, axis=0)), gamma="scale", fit_intercept=True)
    weighted = settle(
        name, format(X), gamma="scale", fit_intercept=True, weight=weight.astype(float)
    )
    # Sums of at most 80 numbers and squares, of which differences are a tenth.
    close = 10 * 80 * EPS
    assert weighted.gamma == pytest.approx(repeated.gamma, rel=close)
    assert weighted.constant == pytest.approx(repeated.constant, rel=DEGREE * close)
    np.testing.assert_allclose(weighted.origin, repeated.origin, rtol=close)
