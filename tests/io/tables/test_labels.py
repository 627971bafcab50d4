import numpy as np
import pyarrow as pa
import pytest

from bayespoint.io.tables.columns import Columns, find_columns
from bayespoint.io.tables.labels import check_classes, known_labels, labels, whole_labels

TABLE = pa.table({"age": ["1", "?", " 3", "4"], "kind": ["1", "2.0", "01", ""]})


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
