"""Kernels: formulas, lengths, the constant term, gamma, and user errors."""

import math
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

from kernel_problems import COEF0, DEGREE, EPS, GAMMA, NAMED, SEED, formula, gaussian, settle

WIDEST = 4.0  # the largest entry of a drawn array

# Entries are zero or of order 1, so squares neither underflow nor lose digits.
entries = st.floats(-WIDEST, WIDEST).map(lambda value: value if abs(value) > 1e-2 else 0.0)


@st.composite
def pairs_of_arrays(draw):
    n_features = draw(st.integers(1, 4))
    return tuple(
        draw(hnp.arrays(float, (draw(st.integers(1, 6)), n_features), elements=entries))
        for _ in range(2)
    )


def twin(name, X, Y):
    """Return the kernel matrix, computed in a double loop."""
    return np.array([[formula(name, x.tolist(), z.tolist()) for z in Y] for x in X])


def rounding(name, n_features):
    """Return the largest difference between two ways of computing a kernel of drawn arrays.

    A sum of n products of entries up to WIDEST has an error of n^2 eps WIDEST^2. The kernel
    multiplies it by its slope and adds a few eps of its own value. A squared distance consists
    of four such sums (two lengths, twice the product) of centered entries, which are up to
    twice as large.
    """
    largest = n_features * WIDEST**2
    in_product = n_features * EPS * largest
    base = GAMMA * largest + COEF0
    return {
        "linear": 2 * in_product,
        "poly": 2 * DEGREE * GAMMA * base ** (DEGREE - 1) * in_product + 8 * EPS * base**DEGREE,
        "sigmoid": 2 * GAMMA * in_product + 8 * EPS,
        "rbf": 16 * GAMMA * in_product + 8 * EPS,
        "laplacian": 4 * GAMMA * n_features * EPS * n_features * WIDEST + 8 * EPS,
    }[name]


# --- geometry and invariants


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("name", [*NAMED, "callable"])
@given(arrays=pairs_of_arrays())
@settings(max_examples=40)
def test_lengths_are_the_root_of_the_diagonal(name, normalize, fit_intercept, arrays):
    X = arrays[0][np.any(arrays[0] != 0, axis=1)]  # the origin has its own test
    if not len(X):
        return
    function = (lambda A, B: A @ B.T) if name == "callable" else name
    kernel = settle(function, X, normalize=normalize, fit_intercept=fit_intercept)
    known = rounding("linear" if name == "callable" else name, X.shape[1])
    squared = np.diagonal(kernel(X, X))
    if normalize:
        # The diagonal is k / sqrt(k)^2: the size of k cancels.
        known = 8 * EPS + known / np.diagonal(settle(function, X)(X, X)).min()
    np.testing.assert_allclose(kernel.lengths(X) ** 2, squared, rtol=8 * EPS, atol=known)


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("name", ["linear", "callable"])
def test_lengths_are_the_root_of_the_diagonal_at_the_origin(name, fit_intercept):
    # Normalizing leaves the origin in place: only the constant gives it a length.
    function = (lambda A, B: A @ B.T) if name == "callable" else name
    X = np.vstack([np.zeros(3), gaussian(4, 3)])
    kernel = settle(function, X, normalize=True, fit_intercept=fit_intercept)
    squared = np.diagonal(kernel(X, X))
    assert squared[0] == kernel.constant
    np.testing.assert_allclose(kernel.lengths(X) ** 2, squared, rtol=16 * EPS)


@pytest.mark.parametrize("name", ["linear", "poly", "rbf", "laplacian"])
@given(arrays=pairs_of_arrays())
@settings(max_examples=40)
def test_matrix_is_symmetric_and_positive(name, arrays):
    X = arrays[0]
    matrix = settle(name, X)(X, X)
    known = rounding(name, X.shape[1])
    assert np.abs(matrix - matrix.T).max() <= known
    # Such errors move an eigenvalue by at most their norm, which is up to m times as large.
    assert np.linalg.eigvalsh(matrix).min() >= -len(X) * known - EPS * len(X) * np.trace(matrix)


@pytest.mark.parametrize("name", NAMED)
@given(arrays=pairs_of_arrays())
@settings(max_examples=40)
def test_normalized_kernel_is_the_cosine(name, arrays):
    X, Y = arrays
    plain = settle(name, X)
    own = [np.array([formula(name, x.tolist(), x.tolist()) for x in A]) for A in arrays]
    lengths = [np.where(k > 0, np.sqrt(np.abs(k)), 1.0) for k in own]
    cosines = settle(name, X, normalize=True)(X, Y)
    # k has an error of `rounding`, scaled like k; lengths have half that relative error.
    shortest = min(length.min() for length in lengths)
    known = rounding(name, X.shape[1]) * (2 / shortest**2) + 8 * EPS
    np.testing.assert_allclose(cosines, plain(X, Y) / np.outer(*lengths), atol=known, rtol=0)
    if name != "sigmoid":  # sigmoid is not positive semi-definite
        assert np.abs(cosines).max() <= 1 + known


def test_normalized_points_have_unit_length():
    X = gaussian(5, 3)
    for name in NAMED:
        np.testing.assert_array_equal(settle(name, X, normalize=True).lengths(X), 1.0)
        diagonal = np.diagonal(settle(name, X, normalize=True)(X, X))
        # Products of length 3 computed in two ways, then cubed: see `rounding`.
        np.testing.assert_allclose(diagonal, 1.0, rtol=3 * DEGREE * 8 * EPS)


def test_normalized_linear_kernel_ignores_lengths():
    X, Y = gaussian(6, 3), gaussian(4, 3, SEED + 1)
    stretch = np.exp(5 * gaussian(6, 1, SEED + 2))
    kernel = settle("linear", X, normalize=True)
    np.testing.assert_allclose(kernel(stretch * X, Y), kernel(X, Y), atol=16 * EPS, rtol=0)


@pytest.mark.parametrize("name", NAMED)
def test_equal_rows_have_equal_kernels(name):
    # A thousand features, as of a text or an image, and a point that occurs twice. If its two
    # copies are different points in feature space, opposite labels go unnoticed.
    # The cosine of two equal rows is a number divided by itself, up to the order of summation
    # in products and lengths, which costs sqrt(n) eps.
    known = DEGREE * math.sqrt(1000) * EPS
    for m in range(3, 40, 2):
        X = gaussian(m, 1000, SEED + m)
        X = np.vstack([X, X[:1]])
        matrix = settle(name, X, gamma=1.0, normalize=True)(X, X)
        assert matrix[0, -1] >= 1 - known
    which = np.random.default_rng(SEED).permutation(np.repeat(np.arange(10), 40))
    X = gaussian(10, 1000)[which]
    matrix = settle(name, X, gamma=1.0, normalize=True)(X, X)
    assert matrix[which[:, None] == which].min() >= 1 - known


# --- agreement with the formula in a double loop


@pytest.mark.parametrize("name", NAMED)
@given(arrays=pairs_of_arrays())
@settings(max_examples=60)
def test_matrix_is_the_formula(name, arrays):
    X, Y = arrays
    known = rounding(name, X.shape[1])
    np.testing.assert_allclose(settle(name, X)(X, Y), twin(name, X, Y), atol=known, rtol=0)


@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("name", NAMED)
def test_dense_equals_csr(name, normalize):
    # Half of the entries are zero, because sparse formats leave out zeros.
    X, Y = (gaussian(m, 4, SEED + m) * (gaussian(m, 4, SEED + 100 + m) > 0) for m in (7, 5))
    X[:, 0] = Y[:, 0] = 1.0  # no point at the origin
    dense = settle(name, X, normalize=normalize, fit_intercept=True)
    for format in (sparse.csr_array, sparse.csr_matrix):
        kernel = settle(name, format(X), normalize=normalize, fit_intercept=True)
        assert kernel.constant == pytest.approx(dense.constant, rel=16 * EPS)
        # Entries are of order 1 to 3 here and lengths at least 1: rounding() covers both.
        known = 2 * rounding(name, 4)
        for A, B in ((format(X), format(Y)), (X, format(Y)), (format(X), Y)):
            matrix = kernel(A, B)
            assert isinstance(matrix, np.ndarray)
            np.testing.assert_allclose(matrix, dense(X, Y), atol=known, rtol=0)
        np.testing.assert_allclose(kernel.lengths(format(X)), dense.lengths(X), rtol=known)


@pytest.mark.parametrize("name", NAMED)
def test_callable_equals_the_kernel_it_computes(name):
    X, Y = gaussian(6, 3), gaussian(4, 3, SEED + 1)
    X -= X.mean(axis=0)  # the origin of the linear kernel with an intercept
    for normalize in (False, True):
        for fit_intercept in (False, True):
            flags = {"normalize": normalize, "fit_intercept": fit_intercept}
            named = settle(name, X, **flags)
            written = settle(lambda A, B: twin(name, A, B), X, **flags)
            assert written.constant == pytest.approx(named.constant, rel=64 * EPS)
            known = rounding(name, 3)
            np.testing.assert_allclose(written(X, Y), named(X, Y), atol=known, rtol=64 * EPS)
            np.testing.assert_allclose(written.lengths(X), named.lengths(X), rtol=64 * EPS)


def test_linear_with_an_intercept_measures_from_the_mean():
    X, Y = gaussian(6, 3), gaussian(4, 3, SEED + 1)
    near, far = (settle("linear", X + shift, fit_intercept=True) for shift in (0.0, 1000.0))
    known = 1e6 * 64 * EPS  # the squares that cancel
    np.testing.assert_allclose(far(X + 1000, Y + 1000), near(X, Y), atol=known)
    csr = settle("linear", sparse.csr_array(X + 1000.0), fit_intercept=True)
    shifted = csr(sparse.csr_array(X + 1000.0), sparse.csr_array(Y + 1000.0))
    np.testing.assert_allclose(shifted, near(X, Y), atol=known)
    np.testing.assert_allclose(
        csr.lengths(sparse.csr_array(X + 1000.0)), near.lengths(X), atol=known
    )


# --- digits far from the origin, also with many features, where matrix products are faster


@pytest.mark.parametrize("n_features", [3, 50])
@pytest.mark.parametrize("offset", [1e4, 1e8])
def test_rbf_keeps_its_digits_far_from_the_origin(offset, n_features):
    far = gaussian(20, n_features) + offset
    near = far - offset  # exact: neither operand is more than twice the other
    kernel = settle("rbf", far, gamma=1 / n_features)
    squared = np.sum((near[:, None] - near[None]) ** 2, axis=2)
    # Sums of n squares of numbers up to 8 with errors of eps, times gamma = 1 / n.
    known = 64 * EPS * (8 + squared.max() / n_features)
    np.testing.assert_allclose(kernel(far, far), np.exp(-squared / n_features), atol=known, rtol=0)


@pytest.mark.parametrize("n_features", [2, 50])
@pytest.mark.parametrize("distance", [1e5, 1e9])
def test_rbf_keeps_its_digits_beside_an_outlier(distance, n_features):
    # A single point must not change the kernel between other points.
    X = gaussian(11, n_features)
    X[0] = distance
    kernel = settle("rbf", X, gamma=1 / n_features)
    squared = np.sum((X[1:, None] - X[None, 1:]) ** 2, axis=2)
    known = 64 * EPS * (8 + squared.max() / n_features)
    np.testing.assert_allclose(
        kernel(X, X)[1:, 1:], np.exp(-squared / n_features), atol=known, rtol=0
    )


@pytest.mark.parametrize("n_features", [2, 50])
def test_rbf_keeps_its_digits_in_clusters_far_apart(n_features):
    # No single origin is close to all points, but differences within a cluster are small.
    X = gaussian(12, n_features)
    X[4:8] += 1e6
    X[8:] -= 1e6
    squared = np.sum((X[:, None] - X[None]) ** 2, axis=2)
    # Between clusters the kernel is 0; within a cluster it follows from differences of order 1.
    known = 64 * EPS * (8 + squared[squared < 1e6].max() / n_features)
    kernel = settle("rbf", X, gamma=1 / n_features)
    np.testing.assert_allclose(kernel(X, X), np.exp(-squared / n_features), atol=known, rtol=0)


# --- user-defined kernels


def test_callable_diagonal_is_taken_in_blocks():
    X, shapes = gaussian(300, 2), []

    def function(A, B):
        shapes.append((len(A), len(B)))
        return A @ B.T

    lengths = settle(function, X).lengths(X)
    np.testing.assert_allclose(lengths, np.linalg.norm(X, axis=1), rtol=8 * EPS)
    assert sum(rows for rows, _ in shapes) == 300
    assert max(rows * columns for rows, columns in shapes) < 300**2 / 4


@pytest.mark.parametrize(
    "function",
    [
        lambda A, B: A @ A.T,
        lambda A, B: (A @ B.T).T,
        lambda A, B: A[:, 0],
        lambda A, B: 1.0,
        lambda A, B: (A @ B.T)[None],
    ],
)
def test_callable_with_wrong_shape_is_an_error(function):
    X, Y = gaussian(5, 2), gaussian(3, 2)
    with pytest.raises(ValueError, match=r"should return a matrix of shape \(5, 3\)"):
        settle(function, X)(X, Y)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_callable_that_is_not_finite_is_an_error(value):
    def function(A, B):
        matrix = A @ B.T
        matrix[-1, 0] = value
        return matrix

    X = gaussian(5, 2)
    with pytest.raises(ValueError, match="finite"):
        settle(function, X)(X, X)
    with pytest.raises(ValueError, match="finite"):
        settle(function, X, fit_intercept=True)


def test_callable_may_return_lists_integers_and_sparse_matrices():
    X = np.round(3 * gaussian(5, 2))
    expected = X @ X.T
    for function in (
        lambda A, B: (A @ B.T).tolist(),
        lambda A, B: (A @ B.T).astype(int),
        lambda A, B: sparse.csr_array(A @ B.T),  # as SVC allows
    ):
        matrix = settle(function, X)(X, X)
        assert matrix.dtype == float
        np.testing.assert_array_equal(matrix, expected)


def test_callable_may_return_the_product_of_sparse_arrays():
    # `lambda A, B: A @ B.T` returns this for CSR, and SVC allows it.
    X = gaussian(5, 2)
    kernel = settle(lambda A, B: A @ B.T, sparse.csr_array(X), fit_intercept=True)
    matrix = kernel(sparse.csr_array(X), sparse.csr_array(X))
    np.testing.assert_allclose(matrix, X @ X.T + kernel.constant, atol=32 * EPS)


# --- precomputed


def test_precomputed_is_the_matrix_and_its_constant():
    X = gaussian(5, 3)
    K = X @ X.T
    np.testing.assert_array_equal(settle("precomputed", K)(K, K), K)
    kernel = settle("precomputed", K, fit_intercept=True)
    assert kernel.constant == pytest.approx(np.trace(K) / 5, rel=8 * EPS)
    np.testing.assert_array_equal(kernel(K, K), K + kernel.constant)


def test_precomputed_cannot_be_normalized():
    with pytest.raises(ValueError, match="normalize=True needs"):
        settle("precomputed", np.eye(3), normalize=True)


# --- errors and adversaries


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("sigmoid", {"coef0": -5.0}),
        ("poly", {"coef0": -50.0}),
        (lambda A, B: -(A @ B.T), {}),
    ],
)
def test_negative_squared_length_is_an_error_that_names_the_row(name, parameters):
    X = np.array([[1.0, 0.0], [3.0, 0.0], [2.0, 0.0]])
    own = [settle(name, X, **parameters)._values(x[None], x[None])[0, 0] for x in X]
    message = re.escape(f"k(x, x) = {min(own):.3g} for row {np.argmin(own)},")
    for attempt in (
        lambda: settle(name, X, **parameters).lengths(X),
        lambda: settle(name, X, normalize=True, **parameters)(X, X),
        lambda: settle(name, X, fit_intercept=True, **parameters),
    ):
        with pytest.raises(ValueError, match=message):
            attempt()


def test_fractional_degree_of_a_negative_number_is_an_error():
    # (-0.5)^2.5 is not a real number; a matrix with NaN must not be passed on.
    X = np.array([[1.0], [-1.5]])
    with pytest.raises(ValueError, match=r"degree|finite"):
        settle("poly", X, gamma=1.0, coef0=1.0, degree=2.5)(X, X)


@pytest.mark.parametrize("unit", [1e-300, 1e-160, 1e-100, 1e100, 1e160, 1e300])
def test_extreme_scales_give_finite_kernels_or_an_error(unit):
    X = unit * gaussian(6, 3)
    for name in NAMED:
        try:
            kernel = settle(name, X, gamma="scale", fit_intercept=True)
            matrix, lengths = kernel(X, X), kernel.lengths(X)
        except ValueError as error:
            assert re.search("finite|[Ss]cale", str(error))  # noqa: PT017
        else:
            assert np.isfinite(matrix).all()
            assert np.isfinite(lengths).all()


@pytest.mark.parametrize("name", NAMED)
def test_memory_layout_does_not_matter(name):
    X, Y = gaussian(6, 3), gaussian(4, 3, SEED + 1)
    kernel = settle(name, X, normalize=True, fit_intercept=True)
    expected, lengths = kernel(X, Y), kernel.lengths(X)
    frozen, strided = X.copy(), np.repeat(np.repeat(X, 2, axis=0), 2, axis=1)[::2, ::2]
    frozen.setflags(write=False)
    for layout in (np.asfortranarray(X), frozen, strided):
        before = layout.copy()
        np.testing.assert_allclose(kernel(layout, Y), expected, atol=16 * EPS, rtol=0)
        np.testing.assert_allclose(kernel.lengths(layout), lengths, rtol=16 * EPS)
        np.testing.assert_array_equal(layout, before)


@pytest.mark.parametrize("name", NAMED)
def test_single_precision_is_good_to_its_digits(name):
    X = gaussian(6, 3).astype(np.float32)
    single = settle(name, X, normalize=True)(X, X)
    double = settle(name, X.astype(float), normalize=True)(X.astype(float), X.astype(float))
    # `rounding` with the eps of float32; these points have k(x, x) above 0.1.
    known = 10 * rounding(name, 3) * np.finfo(np.float32).eps / EPS
    np.testing.assert_allclose(single, double, atol=known, rtol=0)


@pytest.mark.parametrize("name", NAMED)
@pytest.mark.parametrize("m", [0, 1, 2])
def test_lengths_of_few_points(name, m):
    X = gaussian(3, 1)
    kernel = settle(name, X, fit_intercept=True)
    assert kernel.lengths(X[:m]).shape == (m,)
    if m:
        assert kernel(X[:m], X).shape == (m, 3)
