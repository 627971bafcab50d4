"""What texts of columns mean, and how they are made ready."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from bayespoint.io.tables.columns import (
    Columns,
    almost_numbers,
    as_numbers,
    as_texts,
    check_classes,
    find_columns,
    frame,
    known_labels,
    labels,
    make_prepare,
    whole_labels,
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
    """Alone or among others, which may lead to the slow way, a text means the same."""
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


def test_classes_are_the_same_however_they_are_written():
    columns = find_columns(TABLE, "kind")
    known, y = known_labels(labels(TABLE, columns), columns)
    assert known.tolist() == [True, True, True, False]
    assert y.tolist() == [1, 2, 1]
    other = pa.table({"kind": pa.array([1.0, 2.0, None])})
    assert known_labels(labels(other, columns), columns)[1].tolist() == [1, 2]
    assert known_labels(labels(pa.table({"kind": ["?", ""]}), columns), columns)[1].tolist() == []
    for odd in ("1.5", "yes", "inf", "1e300"):
        with pytest.raises(ValueError, match=r"'kind' should hold whole numbers, as in training"):
            labels(pa.table({"kind": ["1", odd]}), columns)


def test_classes_that_are_texts():
    columns = Columns(["age"], [], "kind", False)
    y = labels(pa.table({"kind": [" yes", "no", "NA", "1"]}), columns)
    known, y = known_labels(y, columns)
    assert known.tolist() == [True, True, False, True]
    assert y.tolist() == ["yes", "no", "1"]


def test_numbers_in_front_of_rows():
    np.testing.assert_array_equal(whole_labels(np.array([1.0, -1.0])), [1, -1])
    assert whole_labels(np.array([1.0])).dtype == np.int64
    for odd in (0.5, np.nan, np.inf, 1e300):
        with pytest.raises(ValueError, match="a whole number, but one is"):
            whole_labels(np.array([1.0, odd]))


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (["a"], "but has 1, 'a'"),
        ([], "but has 0"),
        (list("abcd"), "4 different values in 4 rows"),
        (list("aaab"), "'b' of 'kind' has one"),
    ],
)
def test_what_cannot_be_classes(y, message):
    with pytest.raises(ValueError, match=message):
        check_classes(np.array(y, dtype=str), "kind")
    check_classes(np.array(list("aabb")), "kind")


def test_columns_that_are_almost_numbers():
    assert almost_numbers(pa.chunked_array([["1", "2", "3", "x", "?"]])) == "x"
    assert almost_numbers(pa.chunked_array([["1", "x", "y"]])) is None
    assert almost_numbers(pa.chunked_array([["x", None]])) is None


def test_what_is_prepared():
    """Numbers: filled with the median, marked, scaled. Texts: a column each, holes too."""
    texts = ["a", "b", None] * 10 + ["rare"]
    X = pd.DataFrame({"x": [1.0, np.nan, 3.0] * 10 + [2.0], "t": pd.Series(texts, dtype=object)})
    prepare = make_prepare(Columns(["x"], ["t"], "kind", False)).fit(X)
    assert list(prepare.get_feature_names_out()) == [
        *("x", "missingindicator_x", "t_a", "t_b", "t_None", "t_infrequent_sklearn"),
    ]
    new = pd.DataFrame({"t": pd.Series(["b", None, "new"], dtype=object), "x": [2.0, np.nan, 1.0]})
    Z = prepare.transform(new)
    Z = Z.toarray() if hasattr(Z, "toarray") else Z
    filled = np.array([1.0, 2.0, 3.0] * 10 + [2.0])
    np.testing.assert_allclose(Z[:, 0], (np.array([2, 2, 1]) - 2) / filled.std(), atol=1e-12)
    assert Z[1, 1] > Z[0, 1] == Z[2, 1]
    np.testing.assert_array_equal(Z[:, 2:], [[0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
