import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from bayespoint.io.tables.columns import (
    Columns,
    as_numbers,
    as_texts,
    find_columns,
    find_stray_text,
    frame,
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
    columns = find_columns(TABLE, "kind", categorical=["code"])
    assert columns == Columns(["age", "real"], ["job", "code"], "kind", True)
    assert columns.used == ["age", "real", "job", "code"]
    assert Columns(**columns.to_dict()) == columns
    assert find_columns(TABLE, "kind").numbers == ["age", "code", "real"]
    assert not find_columns(TABLE, "job").integers
    assert not find_columns(TABLE, "real").integers
    assert not find_columns(TABLE, "empty").integers
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


def test_stray_text_among_numbers():
    assert find_stray_text(pa.chunked_array([["1", "2", "3", "x", "?"]])) == "x"
    assert find_stray_text(pa.chunked_array([["1", "x", "y"]])) is None
    assert find_stray_text(pa.chunked_array([["x", None]])) is None
