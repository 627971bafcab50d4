import numpy as np
import pyarrow as pa
import pytest

from bayespoint.io.tables.columns import Columns, find_columns
from bayespoint.io.tables.labels import (
    ask_about_spelling,
    check_classes,
    check_exact,
    check_quantity,
    count_classes,
    find_rare,
    known_labels,
    labels,
    whole_labels,
)

TABLE = pa.table({"age": ["1", "?", " 3", "4"], "kind": ["1", "2.0", "01", ""]})


def test_classes_are_texts_as_they_stand():
    columns = find_columns(TABLE, "kind")
    known, y = known_labels(labels(TABLE, columns), columns)
    assert known.tolist() == [True, True, True, False]
    assert y.tolist() == ["1", "2.0", "01"]


def test_whole_numbers_are_numbers_if_nothing_is_lost():
    columns = find_columns(pa.table({"age": ["1", "2"], "kind": ["10", "-2"]}), "kind")
    assert columns.integers
    _, y = known_labels(labels(TABLE, columns), columns)
    assert y.tolist() == [1, 2, 1]  # as models of earlier versions read them
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


@pytest.mark.parametrize(("y", "message"), [(["a"], "but has 1, 'a'"), ([], "but has 0")])
def test_what_cannot_be_classes(y, message):
    with pytest.raises(ValueError, match=message):
        check_classes(count_classes(np.array(y, dtype=str)), "kind")
    check_classes(count_classes(np.array(list("aabb"))), "kind")


def test_first_rows_of_one_class_do_not_speak_for_the_file():
    with pytest.raises(ValueError, match=r"The first 3 rows, .* shuffle them, or look at more"):
        check_classes(count_classes(np.array(list("aaa"))), "kind", are_all=False)
    check_classes(count_classes(np.array(list("ab"))), "kind", are_all=False)


def test_a_quantity_is_not_a_class():
    with pytest.raises(ValueError, match="4 different values in 4 rows"):
        check_quantity(count_classes(np.array(list("abcd"))), "kind")
    many = np.repeat(np.arange(72), 5)
    for y in (many, many.astype(str), np.array([f"{v},5" for v in many])):
        with pytest.raises(ValueError, match=r"72 different numbers.*pass max_classes=72"):
            check_quantity(count_classes(y), "age")
        check_quantity(count_classes(y), "age", max_classes=72)
        with pytest.raises(ValueError, match="72 different values"):
            check_quantity(count_classes(y), "age", max_classes=71)
    check_quantity(count_classes(np.array([f"class {v}" for v in many])), "kind")
    check_quantity(count_classes(np.array(["a", "b", "b"])), "kind")


def test_rare_classes_are_found():
    found = count_classes(np.array(list("aabccc")))
    assert find_rare(found, 2).tolist() == ["b"]
    assert find_rare(found, 3).tolist() == ["a", "b"]
    assert found.n_rows == 6
    assert found.without(np.array(["a", "b"])).counts.tolist() == [3]


def test_a_later_row_may_not_write_a_class_differently():
    columns = Columns(["age"], [], "kind", True)
    check_exact(pa.table({"kind": ["1", "", "2"]}), columns)
    check_exact(pa.table({"kind": ["", "NA"]}), columns)
    with pytest.raises(ValueError, match=r"'kind' should hold whole numbers.*holds '01'"):
        check_exact(pa.table({"kind": ["1", "01"]}), columns)
    check_exact(pa.table({"kind": ["1", "01"]}), Columns(["age"], [], "kind", False))


def test_spelling_is_asked_about_once():
    assert ask_about_spelling(["a", "b", "1", "1.0", "01"]) == []
    (question,) = ask_about_spelling(["ÄH", "Yes", "yes", "äh"])
    assert "'Yes' and 'yes'" in question
