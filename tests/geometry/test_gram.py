"""The Gram matrix: unit points, coordinates, softness, and matrices that are not Gram."""

import math
import os
import pickle

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import linalg
from sklearn.metrics.pairwise import sigmoid_kernel

from bayespoint.geometry.gram import (
    MAX_ASYMMETRY,
    MAX_ASYMMETRY_OF_LARGEST,
    ROUNDING,
    IndefiniteKernelError,
    check_squared_lengths,
    check_symmetric,
    noise_share,
    unit_gram,
    unit_matrix,
)

SEED = int(os.environ.get("BAYESPOINT_TEST_SEED", "0"))
EPS = np.finfo(float).eps
softnesses = st.sampled_from([0.0, 1e-6, 0.1, 1.0, 1e12])


def gaussian(m, n_features, seed=SEED):
    return np.random.default_rng(seed).standard_normal((m, n_features))


def unit(matrix):
    """Return a symmetric matrix scaled to unit diagonal."""
    lengths = np.sqrt(np.diagonal(matrix))
    matrix = matrix / lengths / lengths[:, None]
    matrix = (matrix + matrix.T) / 2
    np.fill_diagonal(matrix, 1.0)
    return matrix


def with_spectrum(eigenvalues, seed=SEED):
    """Return a symmetric matrix with given eigenvalues and random eigenvectors."""
    basis = linalg.qr(gaussian(len(eigenvalues), len(eigenvalues), seed))[0]
    matrix = (basis * eigenvalues) @ basis.T
    return (matrix + matrix.T) / 2


@st.composite
def integer_points(draw, origin=True):
    """Return points with small integer coordinates: often equal, dependent or zero.

    Their rank is exact. A nonzero Gram determinant is an integer, so the rest of a squared length
    after Gram-Schmidt is at least 1 / 36^3, far above rounding.
    """
    shape = draw(st.tuples(st.integers(1, 10), st.integers(1, 4)))
    X = draw(hnp.arrays(np.int64, shape, elements=st.integers(-3, 3)))
    if not origin:
        X[~np.any(X != 0, axis=1)] = 1
    return X


# --- geometry and invariants


@given(X=integer_points(), softness=softnesses)
@settings(max_examples=200)
def test_points_are_unit_vectors_with_coordinates(X, softness):
    gram = unit_gram(X @ X.T, softness)
    m, away = len(X), np.any(X != 0, axis=1)
    np.testing.assert_array_equal(gram.matrix, gram.matrix.T)
    np.testing.assert_array_equal(np.diagonal(gram.matrix), away)
    # The factor omits at most m ROUNDING of a squared length, and an entry is a sum of rank + 1
    # products of numbers of size at most 1.
    known = m * ROUNDING + (gram.rank + 1) * EPS
    np.testing.assert_allclose(gram.factor @ gram.factor.T, gram.matrix, atol=known, rtol=0)
    np.testing.assert_allclose(np.sum(gram.factor**2, axis=1), away, atol=known, rtol=0)
    squared = np.sum(X**2, axis=1) * (1 + softness)
    np.testing.assert_allclose(gram.lengths**2, squared, rtol=8 * EPS)
    assert gram.softness == softness


@given(X=integer_points(), softness=softnesses)
@settings(max_examples=200)
def test_pivots_are_triangular_and_extent_ends_the_rows(X, softness):
    gram = unit_gram(X @ X.T, softness)
    assert gram.factor.shape == (len(X), gram.rank)
    assert len(set(gram.pivots)) == gram.rank
    triangle = gram.factor[gram.pivots]
    np.testing.assert_array_equal(triangle, np.tril(triangle))
    # Diagonal pivoting: the new part of a point never grows from one pivot to the next, up to
    # rounding between points with equally large new parts.
    fresh = np.diagonal(triangle)
    assert np.all(fresh > 0)
    assert np.all(fresh[1:] ** 2 <= fresh[:-1] ** 2 + len(X) * EPS)
    for row, end in zip(gram.factor, gram.extent, strict=True):
        assert not row[end:].any()
    assert gram.extent[gram.pivots].tolist() == list(range(1, gram.rank + 1))
    assert np.all(np.delete(gram.extent, gram.pivots) == gram.rank)


@given(X=integer_points())
@settings(max_examples=200)
def test_rank_is_the_dimension_of_the_span(X):
    assert unit_gram(X @ X.T, 0.0).rank == np.linalg.matrix_rank(X)


@given(X=integer_points(origin=False), softness=st.sampled_from([1e-6, 0.1, 1e12]))
@settings(max_examples=60)
def test_softness_makes_every_point_independent(X, softness):
    assert unit_gram(X @ X.T, softness).rank == len(X)


@pytest.mark.parametrize("n_features", [1, 2, 7, 300])
def test_rank_of_a_linear_kernel_with_duplicates(n_features):
    X = gaussian(12, n_features)
    X = np.vstack([X, X[:5], -2 * X[:3]])
    assert unit_gram(X @ X.T, 0.0).rank == min(12, n_features)


@given(X=integer_points(origin=False), softness=softnesses, seed=st.integers(0, 99))
@settings(max_examples=100)
def test_dual_gives_back_the_vector(X, softness, seed):
    gram = unit_gram(X @ X.T, softness)
    vectors = gaussian(3, gram.rank, seed)
    coefficients = gram.dual(vectors)
    assert coefficients.shape == (3, len(X))
    assert not np.delete(coefficients, gram.pivots, axis=1).any()
    # A triangular solve is backward stable: its residual is at most rank eps |T| |x|.
    known = 4 * (gram.rank + 1) * EPS * np.abs(coefficients).sum(axis=1, keepdims=True)
    assert np.all(np.abs(coefficients @ gram.factor - vectors) <= known)
    np.testing.assert_array_equal(gram.dual(vectors[0]), gram.dual(vectors[:1])[0])


@given(X=integer_points(origin=False), seed=st.integers(0, 99))
@settings(max_examples=60)
def test_scale_of_the_points_does_not_matter(X, seed):
    # Each point has its own unit, from 1e-150 to 1e150: squares reach 1e-300 and 1e300.
    units = 10.0 ** np.random.default_rng(seed).uniform(-150, 150, len(X))
    near = unit_gram(X @ X.T, 0.0)
    far = unit_gram(units[:, None] * (X @ X.T) * units, 0.0)
    np.testing.assert_allclose(far.matrix, near.matrix, atol=16 * EPS, rtol=0)
    assert far.rank == near.rank
    np.testing.assert_allclose(far.lengths, near.lengths * units, rtol=8 * EPS)


# --- agreement with slow twins


@given(X=integer_points(origin=False), softness=softnesses)
@settings(max_examples=60)
def test_matrix_is_the_formula(X, softness):
    matrix = unit_gram(X @ X.T, softness).matrix
    for i, x in enumerate(X.tolist()):
        for j, z in enumerate(X.tolist()):
            inner = sum(a * b for a, b in zip(x, z, strict=True))
            cosine = inner / math.sqrt(sum(a * a for a in x)) / math.sqrt(sum(a * a for a in z))
            expected = (cosine + softness * (i == j)) / (1 + softness)
            assert abs(matrix[i, j] - expected) <= 8 * EPS


def test_factor_is_gram_schmidt_of_the_pivots():
    X = gaussian(15, 4)
    points = X / np.linalg.norm(X, axis=1, keepdims=True)
    gram = unit_gram(X @ X.T, 0.0)
    basis = []
    for point in points[gram.pivots]:
        for axis in basis:
            point = point - (point @ axis) * axis
        basis.append(point / np.linalg.norm(point))
    # The basis follows from the matrix, with an error proportional to its condition number.
    condition = np.linalg.cond(gram.factor[gram.pivots]) ** 2
    known = 8 * len(X) * EPS * condition
    np.testing.assert_allclose(gram.factor, points @ np.transpose(basis), atol=known, rtol=0)


def test_pivots_are_the_greedy_choice():
    # The twin computes distances from the span of the points chosen so far.
    X = gaussian(12, 5)
    rest = X / np.linalg.norm(X, axis=1, keepdims=True)
    gram = unit_gram(X @ X.T, 0.0)
    for step, pivot in enumerate(gram.pivots):
        lengths = np.linalg.norm(rest, axis=1)
        assert step == 0 or pivot == np.argmax(lengths)  # at first all lengths are 1
        axis = rest[pivot] / lengths[pivot]
        rest = rest - np.outer(rest @ axis, axis)


# --- softness


def test_large_softness_makes_points_orthogonal():
    gram = unit_gram(np.ones((6, 6)), 1e12)
    assert gram.rank == 6
    np.testing.assert_allclose(gram.matrix, np.eye(6), atol=1.0001e-12, rtol=0)
    np.testing.assert_allclose(gram.lengths, 1e6, rtol=1e-12)


def test_softness_bounds_the_eigenvalues_from_below():
    K = unit(with_spectrum(np.logspace(0, -20, 20)))
    least = linalg.eigvalsh(unit_gram(K, 0.25).matrix)[0]
    assert least >= 0.25 / 1.25 - 20 * EPS


# --- matrices that are not Gram matrices


def check_needed_softness(K, softness=0.0):
    """Check that the softness in the error works, both exact and as printed."""
    least = linalg.eigvalsh(unit(K))[0]
    with pytest.raises(IndefiniteKernelError, match="not positive semi-definite") as caught:
        unit_gram(K, softness)
    needed = caught.value.needed_softness
    # 1.1 times the softness that lifts the smallest eigenvalue to zero; its error is m eps |K|.
    assert needed == pytest.approx(-1.1 * least, abs=4 * len(K) * EPS * linalg.norm(K))
    assert f"eigenvalue is {least:.3g}" in str(caught.value)
    printed = float(str(caught.value).split("softness=")[1].split()[0])
    for enough in (needed, printed):
        gram = unit_gram(K, enough)
        np.testing.assert_allclose(
            gram.factor @ gram.factor.T, gram.matrix, atol=4 * len(K) * ROUNDING, rtol=0
        )


@pytest.mark.parametrize("softness", [0.0, 0.05])
def test_impossible_cosines_are_an_error(softness):
    # A cosine of 1.3, and three directions that are pairwise 127 degrees apart: their smallest
    # eigenvalues are -0.3 and 1 - 2 * 0.6 = -0.2.
    check_needed_softness(np.array([[1.0, 1.3], [1.3, 1.0]]), softness)
    check_needed_softness(1.6 * np.eye(3) - 0.6, softness)


@pytest.mark.parametrize("cosine", [0.5, 1.5])
def test_two_points_equal_to_a_third_but_not_to_each_other_are_an_error(cosine):
    # After the first pivot nothing remains of the lengths, but part of the inner product does.
    check_needed_softness(np.array([[1.0, 1.0, 1.0], [1.0, 1.0, cosine], [1.0, cosine, 1.0]]))


@given(m=st.integers(2, 30), size=st.floats(-2, 2), seed=st.integers(0, 10**6))
@settings(max_examples=60)
def test_random_symmetric_matrix_is_an_error_unless_positive(m, size, seed):
    K = 10**size * gaussian(m, m, seed)
    K = (K + K.T) / 2
    np.fill_diagonal(K, 1.0)
    least = linalg.eigvalsh(K)[0]
    if least < -1e-5:
        check_needed_softness(K)
    elif least > 0:
        assert unit_gram(K, 0.0).rank <= m


@pytest.mark.parametrize("least", [-1e-2, -1e-3, -1e-5])
@pytest.mark.parametrize("smallest", [1.0, 1e-3, 1e-12])
def test_small_negative_eigenvalue_is_an_error(least, smallest):
    # One of 40 eigenvalues is negative; the others go from 1 down to `smallest`.
    for seed in range(SEED, SEED + 5):
        spectrum = np.append(np.geomspace(1, smallest, 39), least)
        check_needed_softness(unit(with_spectrum(spectrum, seed)))


def test_sigmoid_kernel_with_bad_parameters_is_an_error():
    X = 2 * gaussian(20, 2)
    K = sigmoid_kernel(X, gamma=1.0, coef0=0.1)
    assert np.diagonal(K).min() > 0
    check_needed_softness(K)
    check_needed_softness(K, 0.01)


@pytest.mark.parametrize("value", [-1.0, -1e-300])
def test_negative_squared_length_is_an_error_that_names_the_point(value):
    K = np.eye(4)
    K[2, 2] = value
    with pytest.raises(IndefiniteKernelError, match=r"for training point 2\b") as caught:
        unit_gram(K, 0.0)
    assert caught.value.needed_softness is None


def test_squared_lengths_may_be_zero_and_are_named_if_they_are_negative():
    check_squared_lengths(np.array([]))
    check_squared_lengths(np.array([0.0, 1.0]))
    with pytest.raises(IndefiniteKernelError, match=r"k\(x, x\) = -2 for row 1,"):
        check_squared_lengths(np.array([1.0, -2.0]))
    with pytest.raises(IndefiniteKernelError, match="for training point 7,"):
        check_squared_lengths(np.array([1.0, -2.0]), np.array([3, 7]))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("place", [(1, 1), (0, 2)])
def test_entries_that_are_not_finite_are_an_error(place, value):
    K = np.eye(4)
    K[place] = K[place[::-1]] = value
    with pytest.raises(ValueError, match="finite"):
        unit_gram(K, 0.0)


def test_advice_for_a_point_of_no_length_works_or_is_not_given():
    # k(x, x) = 0 but k(x, z) = 1: softness is relative to k(x, x), so no softness is enough.
    K = np.array([[0.0, 1.0], [1.0, 1.0]])
    with pytest.raises(IndefiniteKernelError) as caught:
        unit_gram(K, 0.0)
    if caught.value.needed_softness is not None:
        unit_gram(K, caught.value.needed_softness)


def test_asymmetric_matrix_is_an_error():
    K = np.eye(4)
    K[0, 2] = 1e-3
    with pytest.raises(ValueError, match="should be symmetric") as caught:
        unit_gram(K, 0.0)
    assert not isinstance(caught.value, IndefiniteKernelError)
    with pytest.raises(ValueError, match="should be symmetric"):
        unit_gram(1e-200 * K, 0.0)  # relative to the diagonal


def test_asymmetry_of_rounding_is_averaged():
    K = unit(with_spectrum(np.linspace(1, 2, 5)))
    noisy = K.copy()
    noisy[0, 2] += 1e-9
    matrix = unit_gram(noisy, 0.0).matrix
    np.testing.assert_array_equal(matrix, matrix.T)
    assert matrix[0, 2] == pytest.approx(K[0, 2] + 0.5e-9, abs=4 * EPS)


@pytest.mark.parametrize("place", [(3, 590), (590, 3), (598, 599)])
def test_asymmetry_is_found_and_averaged_in_a_large_matrix(place):
    # The matrix is larger than one of the blocks in which it is checked.
    K = unit(with_spectrum(np.linspace(1, 2, 600)))
    K[place] += 1e-9
    matrix = unit_gram(K, 0.0).matrix
    np.testing.assert_array_equal(matrix, matrix.T)
    np.testing.assert_allclose(matrix, (K + K.T) / 2, atol=4 * EPS, rtol=0)
    K[place] += 1e-4
    with pytest.raises(ValueError, match="should be symmetric"):
        unit_gram(K, 0.0)


@pytest.mark.parametrize("scale", [1e-150, 1.0, 1e150])
def test_asymmetry_is_measured_by_the_lengths_of_the_points(scale):
    K = scale * np.array([[1.0, 0.0, 0.0], [0.0, 1e4, 0.0], [0.0, 0.0, 1.0]])
    for share, refused in ((0.99, False), (1.01, True)):
        K[0, 1] = share * MAX_ASYMMETRY * scale * 1e2  # the lengths are 1 and 100
        if not refused:
            check_symmetric(K)
            continue
        with pytest.raises(ValueError, match=r"at \(0, 1\) and \(1, 0\) differ by 1\.01e-06"):
            check_symmetric(K)


@pytest.mark.parametrize("diagonal", [0.0, 1e-12, -1e-12])
def test_rounding_of_large_entries_is_no_asymmetry_whatever_the_diagonal(diagonal):
    # A kernel for linear programs need not be positive semi-definite.
    K = np.array([[diagonal, 5e3], [5e3, diagonal]])
    K[0, 1] += 0.99 * MAX_ASYMMETRY_OF_LARGEST * 5e3
    check_symmetric(K)
    K[0, 1] += 0.02 * MAX_ASYMMETRY_OF_LARGEST * 5e3
    with pytest.raises(ValueError, match="should be symmetric"):
        check_symmetric(K)


def test_asymmetry_is_found_in_every_block_and_reported_by_name():
    K = np.eye(600)
    check_symmetric(K)
    check_symmetric(np.empty((0, 0)))
    K[590, 3] = 0.25
    with pytest.raises(ValueError, match=r"at \(3, 590\) and \(590, 3\) differ by 0\.25"):
        check_symmetric(K)
    with pytest.raises(ValueError, match=r"at \(1003, 1590\)"):
        unit_gram(K, 0.0, names=1000 + np.arange(600))


def test_indefinite_error_survives_pickling():
    with pytest.raises(IndefiniteKernelError) as caught:
        unit_gram(np.array([[1.0, 2.0], [2.0, 1.0]]), 0.0)
    copy = pickle.loads(pickle.dumps(caught.value))
    assert str(copy) == str(caught.value)
    assert copy.needed_softness == caught.value.needed_softness


# --- Gram matrices are never refused


@given(
    m=st.integers(1, 60),
    digits=st.integers(0, 20),
    seed=st.integers(0, 10**6),
    softness=st.sampled_from([0.0, 1e-9, 0.1]),
)
@settings(max_examples=100)
def test_ill_conditioned_gram_matrix_is_accepted(m, digits, seed, softness):
    K = with_spectrum(np.logspace(0, -digits, m), seed)
    gram = unit_gram(unit(K), softness)
    # An eigenvalue of K has an error of m eps, then divided by the shortest length. The loss
    # in a pivot at the limit affects all m others.
    known = 4 * m * m * ROUNDING / np.diagonal(K).min()
    np.testing.assert_allclose(gram.factor @ gram.factor.T, gram.matrix, atol=known, rtol=0)


@given(
    m=st.integers(1, 60),
    n_features=st.integers(1, 3),
    digits=st.floats(-12, 3),
    seed=st.integers(0, 10**6),
)
@settings(max_examples=100)
def test_rbf_kernel_is_accepted(m, n_features, digits, seed):
    # From all points nearly equal to all points nearly orthogonal.
    X = gaussian(m, n_features, seed)
    distances = np.sum((X[:, None] - X[None]) ** 2, axis=2)
    gram = unit_gram(np.exp(-(10**digits) * distances), 0.0)
    known = 4 * m * ROUNDING
    np.testing.assert_allclose(gram.factor @ gram.factor.T, gram.matrix, atol=known, rtol=0)


@pytest.mark.parametrize("m", [2, 10, 50])
def test_hilbert_matrix_is_accepted(m):
    gram = unit_gram(linalg.hilbert(m), 0.0)
    assert gram.rank == m if m <= 10 else gram.rank < m  # the condition number is 1e13 at 10
    known = 4 * m * ROUNDING
    np.testing.assert_allclose(gram.factor @ gram.factor.T, gram.matrix, atol=known, rtol=0)


def test_kahan_matrix_is_accepted():
    # Kahan's triangles are the worst case of pivoting: the omitted part is amplified.
    for angle in np.linspace(0.2, 1.4, 61):
        for m in (40, 70):
            triangle = np.eye(m) - np.cos(angle) * np.triu(np.ones((m, m)), 1)
            triangle *= (np.sin(angle) ** np.arange(m))[:, None]
            gram = unit_gram(unit(triangle.T @ triangle), 0.0)
            error = np.abs(gram.factor @ gram.factor.T - gram.matrix).max()
            assert error <= 4 * m * ROUNDING


@given(m=st.integers(2, 80), digits=st.floats(-3, 1), seed=st.integers(0, 10**6))
@example(m=78, digits=-2.5, seed=1405)
@example(m=43, digits=-2.6, seed=3177)
@settings(max_examples=60)
def test_single_precision_kernel_keeps_its_digits(m, digits, seed):
    # Rounded to float32, the matrix has eigenvalues down to -m eps / 2. No factor can be closer
    # to it than that, and the factor should not be much farther away.
    X = gaussian(m, 2, seed)
    distances = np.sum((X[:, None] - X[None]) ** 2, axis=2)
    gram = unit_gram(np.exp(-(10**digits) * distances).astype(np.float32), 0.0)
    error = np.abs(gram.factor @ gram.factor.T - gram.matrix).max()
    assert error <= 4 * m * np.finfo(np.float32).eps


# --- few points, points at the origin


def test_point_at_the_origin_is_a_zero_row():
    X = gaussian(5, 3)
    X[2] = 0
    for softness in (0.0, 0.5):
        gram = unit_gram(X @ X.T, softness)
        assert not gram.matrix[2].any()
        assert not gram.factor[2].any()
        assert gram.lengths[2] == 0
        others = unit_gram(np.delete(X, 2, axis=0) @ np.delete(X, 2, axis=0).T, softness)
        np.testing.assert_allclose(
            np.delete(np.delete(gram.matrix, 2, 0), 2, 1), others.matrix, atol=4 * EPS
        )


def test_all_points_at_the_origin():
    gram = unit_gram(np.zeros((3, 3)), 0.1)
    assert gram.rank == 0
    assert gram.factor.shape == (3, 0)
    assert gram.extent.tolist() == [0, 0, 0]


@pytest.mark.parametrize("softness", [0.0, 0.5])
def test_one_point(softness):
    gram = unit_gram(np.array([[4.0]]), softness)
    assert gram.matrix.tolist() == gram.factor.tolist() == [[1.0]]
    assert gram.pivots.tolist() == [0]
    assert gram.extent.tolist() == [1]
    assert gram.lengths[0] == pytest.approx(2 * math.sqrt(1 + softness))
    assert gram.dual(np.array([3.0])).tolist() == [3.0]


def test_no_point():
    gram = unit_gram(np.empty((0, 0)), 0.0)
    assert gram.rank == 0
    assert gram.factor.shape == (0, 0)


# --- memory layout and types


def test_memory_layout_does_not_matter():
    X = gaussian(8, 3)
    K = X @ X.T
    K = (K + K.T) / 2
    expected = unit_gram(K, 0.1)
    frozen, strided = K.copy(), np.repeat(np.repeat(K, 2, axis=0), 2, axis=1)[::2, ::2]
    frozen.setflags(write=False)
    for layout in (np.asfortranarray(K), frozen, strided):
        before = layout.copy()
        gram = unit_gram(layout, 0.1)
        np.testing.assert_array_equal(layout, before)
        np.testing.assert_array_equal(gram.matrix, expected.matrix)
        np.testing.assert_allclose(gram.factor, expected.factor, atol=64 * EPS)


@pytest.mark.parametrize("dtype", [np.int64, np.int8, np.float32])
def test_other_types_are_treated_as_doubles(dtype):
    # float32 holds these numbers exactly; their quotients must not be rounded to float32.
    X = np.array([[1, 1, 0], [0, 1, 1], [1, 1, 1], [1, 0, 0]])
    K = (X @ X.T).astype(dtype)
    expected, gram = unit_gram(K.astype(float), 0.1), unit_gram(K, 0.1)
    assert gram.matrix.dtype == gram.factor.dtype == gram.lengths.dtype == float
    np.testing.assert_array_equal(gram.matrix, expected.matrix)
    np.testing.assert_array_equal(gram.factor, expected.factor)


def test_a_row_with_a_weight_is_the_mean_of_its_copies():
    X = np.random.default_rng(0).standard_normal((5, 3))
    weight, softness = np.array([1, 2, 3, 1, 4]), 0.3
    copy = np.repeat(np.arange(5), weight)
    K = X @ X.T
    repeated = unit_gram(K[np.ix_(copy, copy)], softness)
    average = (copy == np.arange(5)[:, None]) / weight[:, None]
    weighted = unit_gram(K, softness, weight=weight.astype(float))
    np.testing.assert_allclose(weighted.matrix, average @ repeated.matrix @ average.T, atol=1e-14)
    np.testing.assert_allclose(weighted.factor @ weighted.factor.T, weighted.matrix, atol=1e-14)
    assert noise_share(0.0) == 0


def test_a_matrix_may_be_overwritten():
    matrix = np.array([[4.0, 1.0, 0.5], [1.0, 9.0, 2.0], [0.5, 2.0, 1.0]])
    expected, lengths = unit_matrix(matrix)
    assert matrix[0, 0] == 4.0
    for copied, in_place in ((matrix.copy(), True), (matrix.copy(order="F"), False)):
        found, found_lengths = unit_matrix(copied, overwrite=True)
        np.testing.assert_array_equal(found, expected)
        np.testing.assert_array_equal(found_lengths, lengths)
        assert np.shares_memory(found, copied) == in_place
