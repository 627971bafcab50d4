import numpy as np
import pytest
from scipy import sparse
from sklearn.utils.class_weight import compute_sample_weight

from bayespoint._runtime.sample_weight import (
    MAX_WEIGHT,
    MIN_WEIGHT,
    check_sample_weight,
    combined_weight,
)

X = np.zeros((3, 2))


@pytest.mark.parametrize("rows", [X, sparse.csr_array(X)])
def test_no_weights_are_ones(rows):
    weight = check_sample_weight(None, rows)
    assert weight.dtype == np.float64
    np.testing.assert_array_equal(weight, np.ones(3))


def test_weights_become_floats():
    weight = check_sample_weight([0, 1, 2], X)
    assert weight.dtype == np.float64
    np.testing.assert_array_equal(weight, [0.0, 1.0, 2.0])


@pytest.mark.parametrize("allow_all_zero", [False, True])
@pytest.mark.parametrize(
    ("weight", "match"),
    [
        ([1.0, -1.0, 1.0], "Negative values"),
        ([1.0, np.nan, 1.0], "NaN"),
        ([1.0, 1.0], "shape"),
        (np.ones((3, 1)), "1D"),
    ],
)
def test_invalid_weights(weight, match, allow_all_zero):
    with pytest.raises(ValueError, match=match):
        check_sample_weight(weight, X, allow_all_zero=allow_all_zero)


def test_tiny_weights_count_as_the_least_one_and_zero_stays_zero():
    given = [0.0, 5e-324, 1.0]
    np.testing.assert_array_equal(check_sample_weight(given, X), [0.0, MIN_WEIGHT, 1.0])


def test_huge_weights_are_an_error():
    np.testing.assert_array_equal(check_sample_weight([MAX_WEIGHT, 1, 1], X), [MAX_WEIGHT, 1, 1])
    with pytest.raises(ValueError, match=r"at most 1e\+10, but one is 1e\+300. Divide"):
        check_sample_weight([1e300, 1, 1], X)
    with pytest.raises(ValueError, match="class weights, by a constant"):
        combined_weight([1e5, 1, 1], {0: 1e9, 1: 1.0}, X, [0, 1, 0])


def test_all_zero_is_an_error_unless_allowed():
    with pytest.raises(ValueError, match="at least one non-zero number"):
        check_sample_weight(np.zeros(3), X)
    np.testing.assert_array_equal(
        check_sample_weight(np.zeros(3), X, allow_all_zero=True), np.zeros(3)
    )


labels = np.array(["b", "a", "b", "b", "a", "c"])
ROWS = np.zeros((6, 2))


@pytest.mark.parametrize("class_weight", [None, "balanced", {"a": 2.0, "b": 0.5, "c": 0.0}])
def test_without_sample_weights_rows_weigh_what_scikit_learn_says(class_weight):
    weight = combined_weight(None, class_weight, ROWS, labels)
    np.testing.assert_allclose(weight, compute_sample_weight(class_weight, labels), rtol=1e-15)


def test_class_weights_multiply_sample_weights():
    given = np.array([1.0, 2.0, 0.0, 3.0, 4.0, 0.5])
    weight = combined_weight(given, {"a": 10.0}, ROWS, labels)
    np.testing.assert_array_equal(weight, given * [1, 10, 1, 1, 10, 1])


def test_balanced_classes_have_equal_totals():
    given = np.array([1.0, 2.0, 0.0, 3.0, 4.0, 0.5])
    weight = combined_weight(given, "balanced", ROWS, labels)
    totals = [weight[labels == label].sum() for label in "abc"]
    np.testing.assert_allclose(totals, given.sum() / 3, rtol=1e-15)


@pytest.mark.parametrize("class_weight", [None, "balanced", {"a": 2.0, "b": 0.5, "c": 3.0}])
def test_integers_are_repetitions_and_zero_is_removal(class_weight):
    times = np.array([2, 1, 0, 3, 4, 1])
    weight = combined_weight(times, class_weight, ROWS, labels)
    repeated = combined_weight(None, class_weight, ROWS.repeat(times, 0), labels.repeat(times))
    starts = np.cumsum(times)[times > 0] - times[times > 0]
    np.testing.assert_allclose(weight[times > 0], np.add.reduceat(repeated, starts), rtol=1e-15)
    assert weight[2] == 0


def test_a_class_without_weight_keeps_none():
    weight = combined_weight([1, 1, 1, 1, 1, 0], "balanced", ROWS, labels)
    np.testing.assert_allclose(weight, [5 / 6, 5 / 4, 5 / 6, 5 / 6, 5 / 4, 0], rtol=1e-15)


@pytest.mark.parametrize(
    ("class_weight", "match"),
    [
        ("even", "class_weight should be None, a dict or \"balanced\": 'even'"),
        ({"a": -1.0}, "Negative values"),
        ({"a": 1.0, "z": 1.0}, "are not in class_weight"),
        ({"a": 0, "b": 0, "c": 0}, "at least one non-zero number"),
    ],
)
def test_invalid_class_weights(class_weight, match):
    with pytest.raises(ValueError, match=match):
        combined_weight(None, class_weight, ROWS, labels)
