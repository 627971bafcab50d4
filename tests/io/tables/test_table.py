import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayespoint.io.tables.table import MAX_COLUMNS, check_names, one_line, regroup
from table_helpers import rows_of, table_of


def test_a_column_that_does_not_exist(tmp_path):
    table = table_of(tmp_path, "Age,width,kind\n1,2,x\n")
    table.require_columns(["Age", "kind"])
    with pytest.raises(ValueError, match=r"t.csv: There is no column 'age'. Did you mean 'Age'\?"):
        table.require_columns(["age"])
    with pytest.raises(ValueError, match=r"The columns are: Age, width, kind\."):
        table.require_columns(["color"])
    wide = table_of(tmp_path, ",".join(f"c{i}" for i in range(30)) + "\n")
    with pytest.raises(ValueError, match=r"c18, c19, \.\.\.\."):
        wide.require_columns(["color"])


def test_the_file_is_closed(tmp_path):
    with table_of(tmp_path, "a\n1\n") as table:
        assert not table._stream.closed
    assert table._stream.closed
    table = table_of(tmp_path, "a\n1\n")
    rows_of(table)
    assert table._stream.closed


def test_names_are_checked():
    check_names("t", ["a", "b"])
    with pytest.raises(ValueError, match="t has more than one column named 'a'"):
        check_names("t", ["b", "a", "a"])
    with pytest.raises(ValueError, match=f"has {MAX_COLUMNS + 1:,} columns, but at most"):
        check_names("t", ["a"] * (MAX_COLUMNS + 1))


def test_messages_are_one_short_line():
    assert one_line(ValueError("a\n  b")) == "a b"
    assert len(one_line(ValueError("x" * 1000))) == 300


@given(st.lists(st.integers(0, 7), max_size=8), st.integers(1, 10))
def test_regrouping_loses_nothing(sizes, n_rows):
    whole = pa.table({"x": range(sum(sizes))})
    starts = np.cumsum([0, *sizes])
    parts = (whole[start : start + size] for start, size in zip(starts, sizes, strict=False))
    groups = list(regroup(parts, n_rows))
    assert [row for group in groups for row in group["x"].to_pylist()] == whole["x"].to_pylist()
    assert all(len(group) == n_rows for group in groups[:-1])
