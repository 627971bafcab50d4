"""Values of single columns, in all the types that arrays and pandas have for them."""

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from bayespoint.classifiers._column_values import is_text, levels, numbers, positions

NAN = np.nan

NUMBERS = {
    "floats": (np.array([1.0, NAN]), [1.0, NAN]),
    "single": (np.array([1, NAN], dtype=np.float32), [1.0, NAN]),
    "bools": (np.array([True, False]), [1.0, 0.0]),
    "objects": (
        np.array([1, 2.5, None, NAN, pd.NA, True], dtype=object),
        [1, 2.5, NAN, NAN, NAN, 1],
    ),
    "decimals": (
        np.array([Decimal("1.5"), np.int64(2), np.bool_(True)], dtype=object),
        [1.5, 2, 1],
    ),
    "strings": (np.array(["1.5", "nan", "2"]), [1.5, NAN, 2.0]),
    "nothing": (np.array([None, None], dtype=object), [NAN, NAN]),
    "Int64": (pd.Series([1, pd.NA], dtype="Int64"), [1.0, NAN]),
    "boolean": (pd.Series([True, pd.NA], dtype="boolean"), [1.0, NAN]),
    "series of bools": (pd.Series([True, False]), [1.0, 0.0]),
    "series of integers": (pd.Series([3, 4]), [3.0, 4.0]),
    "series of objects": (pd.Series([1, None], dtype=object), [1.0, NAN]),
    "categorical": (pd.Series(pd.Categorical([2.5, None, 1.5])), [2.5, NAN, 1.5]),
}
TEXTS = {
    "objects": np.array(["b", "a", None, "b"], dtype=object),
    "NaN": np.array(["b", "a", NAN, "b"], dtype=object),
    "NA": pd.Series(["b", "a", pd.NA, "b"], dtype=object),
    "string": pd.Series(["b", "a", None, "b"], dtype="string"),
    "default": pd.Series(["b", "a", None, "b"]),
    "categorical": pd.Series(pd.Categorical(["b", "a", None, "b"], categories=["c", "b", "a"])),
}
REFUSED = {
    "dates": pd.Series(pd.to_datetime(["2020-01-01", None])),
    "array of dates": np.array(["2020-01-01", "2021-01-01"], dtype="datetime64[D]"),
    "durations": pd.Series(pd.to_timedelta([1, 2])),
    "periods": pd.Series(pd.period_range("2020", periods=2, freq="D")),
    "date objects": np.array([pd.Timestamp("2020-01-01"), None], dtype=object),
    "lists": pd.Series([[1], [2]]),
    "dicts": np.array([{"a": 1}, 2.0], dtype=object),
    "bytes": np.array([b"a", b"b"]),
    "intervals": pd.Series(pd.cut([1, 2, 3], 2)),
    "complex objects": np.array([1j, None], dtype=object),
}


@pytest.mark.parametrize("kind", NUMBERS)
def test_numbers(kind):
    column, expected = NUMBERS[kind]
    np.testing.assert_array_equal(numbers(column, "a"), expected)
    if kind != "categorical":
        assert not is_text(column, "a")


@pytest.mark.parametrize("kind", TEXTS)
def test_texts(kind):
    column = TEXTS[kind]
    assert is_text(column, "a")
    values, codes = levels(column, "a")
    assert [None if code < 0 else values[code] for code in codes] == ["b", "a", None, "b"]
    found = positions(column, "a", np.array(["a", "z"]), False)
    np.testing.assert_array_equal(found, [-1, 0, NAN, -1])
    found = positions(column, "a", np.array(["a", "z"]), True)
    np.testing.assert_array_equal(found, [NAN, 0, NAN, NAN])
    with pytest.raises(ValueError, match=r"Column 'x' of X should hold numbers, but holds '[bc]'"):
        numbers(column, "'x'")


@pytest.mark.parametrize("kind", REFUSED)
def test_other_types_are_refused(kind):
    with pytest.raises(TypeError, match="Column 'when' of X should hold numbers, text or missing"):
        is_text(REFUSED[kind], "'when'")


def test_text_mixed_with_numbers():
    column = np.array(["a", None, 1.5], dtype=object)
    with pytest.raises(ValueError, match=r"Column 3 .* holds both 'a' and 1.5. Convert"):
        is_text(column, "3")


def test_categories_of_another_kind():
    with pytest.raises(ValueError, match=r"Column 3 .* categories like 'a', .* but holds 1.0"):
        positions(np.array([1.0, 2.0]), "3", np.array(["a"]), False)
    with pytest.raises(ValueError, match=r"Column 3 .* categories like 1.0, .* but holds 'a'"):
        positions(np.array(["a"], dtype=object), "3", np.array([1.0]), False)
    # Nothing contradicts a column without values.
    empty = np.array([NAN, NAN])
    np.testing.assert_array_equal(positions(empty, "3", np.array(["a"]), False), empty)


def test_complex_columns():
    with pytest.raises(ValueError, match="Complex data not supported, but column 3"):
        numbers(np.array([1j]), "3")


def test_numbers_in_an_array_of_strings_are_numbers():
    """NumPy turns numbers into strings if they are beside strings."""
    X = np.array([["a", 1.5], ["b", 2]])
    assert is_text(X[:, 0], "0")
    assert not is_text(X[:, 1], "1")
