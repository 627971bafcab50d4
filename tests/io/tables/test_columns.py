import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from bayespoint.io.tables.columns import (
    Columns,
    as_numbers,
    as_texts,
    find_columns,
    frame,
    has_integers,
)
from bayespoint.io.tables.missing_values import MISSING_WORDS


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *[("1", 1), ("-0", -0.0), ("+1", 1), (".5", 0.5), ("5.", 5), ("1e5", 1e5), ("1E-5", 1e-5)],
        *[(" 1", 1), ("1\t", 1), ("\u00a01\u2003", 1)],
        *[
            ("1_000", None),
            ("0x10", None),
            ("1d5", None),
            ("١", None),
            ("1,5", None),
            ("1 0", None),
        ],
        *[("- 1", None), ("1e", None), ("true", None), ("1f", None)],
        *[(word, np.nan) for word in MISSING_WORDS],
        *[(f"  {word} ", np.nan) for word in MISSING_WORDS],
    ],
)
def test_which_texts_are_numbers(text, value):
    """A text means the same alone and beside other texts, which may need the slow path."""
    for beside in ([], ["2"], ["2", " "], ["?", "2 "]):
        numbers = as_numbers(pa.chunked_array([[text, *beside]]))
        if value is None:
            assert numbers is None
        else:
            np.testing.assert_equal(numbers.to_numpy()[0], value)


def test_missing_texts_are_null():
    texts = as_texts(pa.chunked_array([[" a ", "", " ? ", "NA", "nan", None, "b c"]]))
    assert texts.to_pylist() == ["a", None, None, None, None, None, "b c"]


TABLE = pa.table(
    {
        "age": ["1", "?", " 3", "4"],
        "job": ["a", "NA", " b", "a"],
        "code": ["01", "02", "", "02"],
        "real": [1.5, None, float("nan"), 2.0],
        "empty": ["", "?", "", None],
        "kind": ["1", "2.0", "01", ""],
    }
)


def test_columns_are_found():
    columns = find_columns(TABLE, "kind")
    assert columns == Columns(["age", "real"], ["job", "code"], "kind", False)
    assert columns.used == ["age", "real", "job", "code"]
    assert Columns(**columns.to_dict()) == columns
    assert find_columns(TABLE, "kind", categorical=["age"]).numbers == ["real"]
    with pytest.raises(ValueError, match="column with values besides the target 'kind'"):
        find_columns(TABLE.select(["kind", "empty"]), "kind")


def test_frames_hold_numbers_and_texts():
    columns = find_columns(TABLE, "kind", categorical=["code"])
    expected = pd.DataFrame(
        {
            "age": [1, np.nan, 3, 4],
            "real": [1.5, np.nan, np.nan, 2],
            "job": pd.Series(["a", None, "b", "a"], dtype=object),
            "code": pd.Series(["01", "02", None, "02"], dtype=object),
        }
    )
    pd.testing.assert_frame_equal(frame(TABLE, columns), expected)


def test_frames_refuse_other_things():
    columns = Columns(["age"], [], "kind", True)
    with pytest.raises(ValueError, match="'age' should hold numbers, but holds 'old'"):
        frame(pa.table({"age": ["1", " ?", "old", "x"]}), columns)
    with pytest.raises(ValueError, match="finite numbers, but holds infinity"):
        frame(pa.table({"age": ["1", "-inf"]}), columns)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        *[(["1", "2", ""], True), (["0", "-3"], True), ([" 1 "], True), ([1.0, None], True)],
        *[(["1", "01"], False), (["1.0"], False), (["+1"], False), (["-0"], False)],
        *[(["", "NA"], False), (["a"], False), ([1.5], False), (["1" * 16], False)],
    ],
)
def test_whole_numbers_that_lose_nothing(values, expected):
    assert has_integers(pa.chunked_array([values])) is expected


MESSY = pa.table(
    {
        "price": ["€ 1.234,50", "k.A.", "€ 7,10", "-"],
        "when": ["31.12.2024 10:30", "01.01.2025 00:00", "", "bad"],
        "note": ["a b", "", None, "c"],
        "zip": ["01067", "99084", "", "04109"],
    }
)
KNOWN = Columns(
    ["price"],
    ["zip"],
    "kind",
    False,
    formats={"price": {"decimal": ",", "thousands": ".", "unit": "€"}},
    dates={"when": {"format": "%d.%m.%Y %H:%M", "origin": "2024-12-31", "parts": ["days", "hour"]}},
    texts=["note"],
)


def test_all_kinds_of_columns_come_back_as_in_training():
    assert Columns(**KNOWN.to_dict()) == KNOWN
    assert KNOWN.used == ["price", "when", "zip", "note"]
    assert KNOWN.features == ["price", "when (days)", "when (hour)", "zip", "note"]
    told = []
    X = frame(MESSY, KNOWN, lambda *what: told.append(what))
    assert list(X) == KNOWN.features
    np.testing.assert_array_equal(X["price"], [1234.5, np.nan, 7.1, np.nan])
    np.testing.assert_allclose(X["when (days)"], [10.5 / 24, 1, np.nan, np.nan])
    np.testing.assert_array_equal(X["when (hour)"], [10.5, 0, np.nan, np.nan])
    assert X["zip"].tolist() == ["01067", "99084", None, "04109"]
    assert X["note"].tolist() == ["a b", "", "", "c"]
    assert told == [("when", 1, "bad")]
    with pytest.raises(
        ValueError, match=r"'when' should hold dates like .*, but holds 'bad'.*--date 'when="
    ):
        frame(MESSY, KNOWN)


def test_numbers_written_in_another_way_than_in_training_are_recognized():
    columns, told = Columns(["x"], [], "kind", False), []
    X = frame(pa.table({"x": ["1,5", "2,25", ""]}), columns, lambda *what: told.append(what))
    np.testing.assert_array_equal(X["x"], [1.5, 2.25, np.nan])
    assert told == [("x", 0, "like 1,5")]
    with pytest.raises(ValueError, match="'x' should hold numbers, but holds 'a'"):
        frame(pa.table({"x": ["a", "b", "1"]}), columns, lambda *what: None)
    # A few odd values are missing, not the end.
    X = frame(pa.table({"x": ["1", "b", "3"]}), columns, lambda *what: told.append(what))
    np.testing.assert_array_equal(X["x"], [1, np.nan, 3])
    assert told[-1] == ("x", 1, "b")
