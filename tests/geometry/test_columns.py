"""Columns of a table as features: agreement with a slow twin, and numbers of any size."""

from decimal import Decimal
from fractions import Fraction
from statistics import median

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from bayespoint.geometry import columns as module
from bayespoint.geometry.columns import UNSEEN, Columns, fit_columns, medians

COLORS = np.array(["blue", "green", "red"])
SIZES = np.array(["S", "M", "L"])
NAN = np.nan
CODED = np.array(
    [
        [1.0, 0, 2, 5.0],
        [NAN, 2, 0, 5.0],
        [4.0, NAN, 1, 5.0],
        [2.0, 2, 1, 5.0],
        [9.0, 0, NAN, 5.0],
    ]
)
CATEGORIES = [None, COLORS, SIZES, None]
ORDERED = np.array([False, False, True, False])


def fitted(standardize, coded=CODED):
    return fit_columns(coded, CATEGORIES, ORDERED, standardize=standardize)


def in_digits(number):
    """Return a fraction with 28 digits, of any size."""
    return Decimal(number.numerator) / Decimal(number.denominator)


def twin(training, rows, categories, ordered, standardize):
    """Return points one value at a time, in exact arithmetic."""
    points = []
    for row in rows:
        point = []
        for j, value in enumerate(row):
            known = [float(v) for v in training[:, j] if not np.isnan(v)]
            had_missing = len(known) < len(training)
            if categories[j] is not None and not ordered[j]:
                point += [float(value == k) for k in range(len(categories[j]))]
            else:
                number = (median(known) if known else 0.0) if np.isnan(value) else float(value)
                if standardize and known:
                    mean = sum(map(Fraction, known)) / len(known)
                    variance = sum((Fraction(v) - mean) ** 2 for v in known) / len(known)
                    off = in_digits(Fraction(number) - mean)
                    number = float(off / in_digits(variance).sqrt()) if variance else 0.0
                point.append(number)
            if had_missing:
                is_category = categories[j] is not None and not ordered[j]
                point.append((1.0 if is_category else 0.5) * np.isnan(value))
        points.append(point)
    return np.array(points)


@pytest.mark.parametrize("standardize", [False, True])
def test_points_agree_with_the_slow_twin(standardize):
    rows = np.vstack([CODED, [[NAN, UNSEEN, NAN, NAN], [7.0, 1, 0, 6.0]]])
    found = fitted(standardize).points(rows)
    expected = twin(CODED, rows, CATEGORIES, ORDERED, standardize)
    # A handful of operations of double precision.
    np.testing.assert_allclose(found, expected, rtol=1e-14, atol=1e-14)


@given(
    st.lists(
        st.lists(st.one_of(st.floats(-1e6, 1e6), st.just(NAN)), min_size=3, max_size=3),
        min_size=1,
        max_size=8,
    ),
    st.booleans(),
)
def test_any_numbers_agree_with_the_slow_twin(rows, standardize):
    coded = np.array(rows)
    columns = fit_columns(coded, standardize=standardize)
    expected = twin(coded, coded, [None] * 3, np.zeros(3, dtype=bool), standardize)
    constant = np.isinf(columns.scale)[columns.groups]
    # The center has a rounding error of one unit in the last place, relative to the deviation.
    # Center and scale cannot be more exact than the smallest number.
    error = 4 * np.finfo(float).eps * (1 + np.abs(columns.center / columns.scale))
    error += 4 * np.finfo(float).smallest_subnormal / columns.scale
    error = error[columns.groups] * (1 + np.abs(expected))
    found = columns.points(coded)
    assert np.all((np.abs(found - expected) <= error) | (constant & (found == 0)))


def test_numbers_that_need_no_change_are_the_same_array():
    X = np.random.default_rng(0).normal(size=(5, 3))
    assert fit_columns(X, standardize=False).points(X) is X
    S = sparse.csr_matrix(X)
    assert fit_columns(S, standardize=False).points(S) is S


def test_groups_and_names():
    columns = fitted(False)
    assert columns.groups.tolist() == [0, 0, 1, 1, 1, 1, 2, 2, 3]
    names = columns.names(["age", "color", "size", "five"])
    colors = ["color=blue", "color=green", "color=red", "color missing"]
    assert names == ["age", "age missing", *colors, "size", "size missing", "five"]


def test_different_categories_are_as_far_apart_as_standardized_numbers():
    rng = np.random.default_rng(0)
    coded = np.column_stack([rng.normal(7, 3, 500), rng.integers(0, 3, 500)]).astype(float)
    points = fit_columns(coded, [None, COLORS], np.zeros(2, bool), standardize=True).points(coded)
    differences = points[:, None] - points
    # The mean squared difference of all pairs is twice the variance, exactly.
    assert np.mean(differences[..., 0] ** 2) == pytest.approx(2)
    squared = np.sum(differences[..., 1:] ** 2, axis=2)
    assert np.array_equal(squared, 2.0 * (coded[:, None, 1] != coded[:, 1]))


def test_unseen_categories_have_no_overlap():
    point = fitted(False).points(np.array([[1.0, UNSEEN, 1, 5.0]]))
    assert not point[0, 2:6].any()


def test_missing_only_at_prediction_is_the_median():
    X = np.array([[1.0], [2.0], [10.0]])
    for dtype in (np.float64, np.float32):
        columns = fit_columns(X.astype(dtype), standardize=False)
        points = columns.points(np.array([[NAN], [3.0]], dtype=dtype))
        assert points.dtype == dtype
        assert points.tolist() == [[2.0], [3.0]]


def test_medians_that_are_a_guess_take_few_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100_001, 2))
    X[5, 1] = NAN
    fill = fit_columns(X, standardize=False).fill
    # The median of n normal numbers has the standard error sqrt(pi / 2n).
    assert abs(fill[0]) < 5 * np.sqrt(np.pi / (2 * module.MAX_MEDIAN_ROWS))
    assert fill[0] != np.median(X[:, 0])
    assert fill[1] == np.nanmedian(X[:, 1])


def test_a_column_without_values():
    X = np.array([[NAN, 1.0], [NAN, 2.0]])
    for standardize in (False, True):
        points = fit_columns(X, standardize=standardize).points(X)
        assert points[:, :2].tolist() == [[0.0, 0.5], [0.0, 0.5]]


@pytest.mark.parametrize("constant", [0.0, 5.0, 0.1, -1e300, 1e-300])
def test_constant_columns_become_zero_everywhere(constant):
    # The mean of equal numbers may round; a difference of one unit in the last place is noise.
    X = np.column_stack([np.full(9, constant), np.arange(9.0)])
    X[0, 0] = np.nextafter(constant, 2 * constant)
    for table in (X, sparse.csr_matrix(X)):
        columns = fit_columns(table, standardize=True)
        assert np.isinf(columns.scale[0])
        new = columns.points(np.array([[7.0, 1.0], [NAN, 1.0]]))
        assert new[:, 0].tolist() == [0.0, 0.0]


@pytest.mark.parametrize("scale", [1e-300, 1e-150, 1e-8, 1.0, 1e8, 1e150, 1e300])
@pytest.mark.parametrize("offset", [0.0, 1.0, 1e6])
def test_scale_and_offset_do_not_matter(scale, offset):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 2))
    expected = fit_columns(X, standardize=True).points(X)
    moved = (X + offset) * scale
    found = fit_columns(moved, standardize=True).points(moved)
    # Each number is rounded relative to its offset, four times at most.
    tolerance = 4 * np.finfo(float).eps * (10 + offset)
    np.testing.assert_allclose(found, expected, atol=tolerance)


def test_numbers_too_far_apart():
    with pytest.raises(ValueError, match=r"Column 1 .* from -1.5e\+308 to 1.5e\+308, too far"):
        fit_columns(np.array([[1.0, -1.5e308], [2.0, 1.5e308], [3.0, -1e308]]), standardize=True)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
def test_new_numbers_too_far_away(kind):
    columns = fit_columns(kind(np.array([[0.0, 1.0], [1e-200, 2.0]])), standardize=True)
    with pytest.raises(ValueError, match=r"Column 0 .* holds 1e\+200, which cannot be stand"):
        columns.points(kind(np.array([[1e200, 1.0]])))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_sparse_columns_have_the_same_distances_as_dense_ones(dtype):
    rng = np.random.default_rng(0)
    X = (rng.normal(3, 2, (40, 6)) * (rng.random((40, 6)) < 0.4)).astype(dtype)
    X[:, 5] = 2.5
    dense = fit_columns(X, standardize=True).points(X)
    S = fit_columns(sparse.csr_array(X), standardize=True).points(sparse.csr_array(X))
    assert sparse.issparse(S)
    assert S.dtype == dense.dtype == dtype
    # Three roundings of numbers up to 10.
    tolerance = 30 * np.finfo(dtype).eps
    np.testing.assert_allclose(
        S.toarray()[:, None] - S.toarray(), dense[:, None] - dense, atol=tolerance
    )


def test_sparse_rows_for_dense_columns():
    X = np.array([[0.0, 1.0], [2.0, 0.0], [3.0, 3.0]])
    columns = fit_columns(X, standardize=True)
    np.testing.assert_array_equal(columns.points(sparse.csr_matrix(X)), columns.points(X))
    X = np.vstack([X, [[NAN, 1.0]]])
    columns = fit_columns(X, standardize=False)
    np.testing.assert_array_equal(columns.points(sparse.csr_matrix(X[:3])), columns.points(X[:3]))


@pytest.mark.parametrize("as_sparse", [False, True])
def test_whole_weights_are_repeated_rows(as_sparse):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(21, 4)) * (rng.random((21, 4)) < 0.7)
    if not as_sparse:
        X[rng.random(X.shape) < 0.2] = NAN
    weight = rng.integers(1, 5, 21)
    kind = sparse.csr_matrix if as_sparse else np.asarray
    weighted = fit_columns(kind(X), standardize=True, weight=weight.astype(float))
    repeated = fit_columns(kind(np.repeat(X, weight, axis=0)), standardize=True)
    np.testing.assert_array_equal(weighted.fill, repeated.fill)
    np.testing.assert_allclose(weighted.center, repeated.center, atol=1e-14)
    np.testing.assert_allclose(weighted.scale, repeated.scale, rtol=1e-14)


def test_medians():
    rng = np.random.default_rng(0)
    for n in (1, 2, 7, 8):
        values = rng.integers(0, 5, (n, 6)).astype(float)
        np.testing.assert_array_equal(medians(values), np.median(values, axis=0))
        np.testing.assert_array_equal(medians(values, np.ones(n)), np.median(values, axis=0))
        halves = np.full(n, 0.3)
        np.testing.assert_array_equal(medians(values, halves), np.median(values, axis=0))
    assert medians(np.array([[1.7e308], [1.7e308]])) == [1.7e308]


def test_blocks_change_nothing(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 11))
    X[3, 4] = NAN
    whole = fit_columns(X, standardize=True)
    monkeypatch.setattr(module, "BLOCK_ENTRIES", 60)
    parts = fit_columns(X, standardize=True)
    for name in ("missing", "fill", "center", "scale"):  # sums of 30 numbers round differently
        np.testing.assert_allclose(getattr(whole, name), getattr(parts, name), rtol=1e-13)


def test_a_map_with_the_mean_in_place_of_the_median_is_noticed(monkeypatch):
    monkeypatch.setattr(module, "medians", lambda values, weight=None: values.mean(axis=0))
    rows = np.vstack([CODED, [[NAN, UNSEEN, NAN, NAN]]])
    expected = twin(CODED, rows, CATEGORIES, ORDERED, False)
    assert not np.allclose(fitted(False).points(rows), expected)


def test_columns_is_a_plain_object():
    assert not any(hasattr(Columns, name) for name in vars(fitted(True)))
