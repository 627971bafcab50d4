"""What kind of file it is, and its rows piece by piece."""

import gzip
import io
import sys

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.datasets import dump_svmlight_file

from bayespoint.io.tables import files
from bayespoint.io.tables.files import Wishes, open_table, regrouped, with_n_features

# Other work on the machine is no reason to fail.
relaxed = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


def table_of(tmp_path, content, name="t.csv", **wishes):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return open_table(path, Wishes(**wishes))


def rows_of(table):
    return [row for batch in table.batches() for row in batch.to_pylist()]


@pytest.mark.parametrize(
    ("text", "delimiter"),
    [
        ("a,b,c\n1,2,3\n", ","),
        ("a\tb\tc\n1\t2\t3\n", "\t"),
        ("a;b;c\n1,5;2,5;3,5\n1,0;2;3\n", ";"),
        ("1,5;2,5;x\n1,0;2;y\n3;4;x\n", ";"),  # decimal commas, which are not in every line
        ("a|b|c\n1|2|3\n", "|"),
        ('"a;b;c;d",e\n1,2\n', ","),
        ('a,b\n"1;2;3;4",5\n', ","),
        ("price (EUR; gross; net),b\n1,2\n3,4\n", ","),
        ("one\n1\n2\n", ","),
        ("a b;c\n1;2", ";"),
    ],
)
def test_the_delimiter_is_guessed(tmp_path, text, delimiter):
    assert table_of(tmp_path, text)._delimiter == delimiter


@pytest.mark.parametrize(
    ("text", "header"),
    [
        ("a,b\n1,2\n", True),
        ("1,2\n3,4\n", False),
        ("39, State-gov, 77516, <=50K\n50, Private, 83311, >50K\n", False),
        ("id,2019,2020\n1,5,6\n2,7,8\n", True),  # years are names, as id is no number
        ("?,1,x\n2,3,y\n", False),  # a missing number is no name
        (",1,x\n2,3,y\n", False),
        ("p,x,s\ne,x,y\n", True),  # nothing speaks against it
        ("a,inf\n1,2\n", True),
        ("1\n", False),
    ],
)
def test_the_header_is_guessed(tmp_path, text, header):
    table = table_of(tmp_path, text)
    assert table.has_header == header
    lines = text.splitlines()
    assert len(rows_of(table)) == len(lines) - header


def test_the_header_can_be_told(tmp_path):
    assert table_of(tmp_path, "a,b\nc,d\n", header=False).columns == ["column_1", "column_2"]
    assert table_of(tmp_path, "1,2\n3,4\n", header=True).columns == ["1", "2"]


def test_names_in_quotes_may_hold_anything(tmp_path):
    text = '\n\n"first\nname","a,b","say ""hi""", ,größe\n1,2,3,4,5\n'
    table = table_of(tmp_path, text)
    assert table.columns == ["first\nname", "a,b", 'say "hi"', "column_4", "größe"]
    assert [list(row.values()) for row in rows_of(table)] == [list("12345")]


def test_texts_come_as_they_are_written(tmp_path):
    table = table_of(tmp_path, "a,b\n NA ,?\n1.50,\n")
    assert rows_of(table) == [{"a": " NA ", "b": "?"}, {"a": "1.50", "b": ""}]


def test_columns_come_in_the_order_that_is_asked_for(tmp_path):
    table = table_of(tmp_path, "a,b,c\n1,2,3\n")
    assert next(table.batches(["c", "a"])).to_pylist() == [{"c": "3", "a": "1"}]


@pytest.mark.parametrize(
    ("content", "name", "format"),
    [
        ("1 1:2 3:4\n", "t", "libsvm"),
        ("# a comment\n+1 1:2 # why\n", "t.txt", "libsvm"),
        ("1 1:2\n", "t.csv", "csv"),
        ("a,b\n", "t.txt", "csv"),
        ("a,b\n", "t", "csv"),
        ("1 2 3\n", "t.svm", "libsvm"),
        (gzip.compress(b"1 1:2\n", mtime=0), "t.SVM.gz", "libsvm"),
        (gzip.compress(b"a,b\n", mtime=0), "t.svm.csv.gz", "csv"),
    ],
)
def test_the_format_is_guessed(tmp_path, content, name, format):
    assert table_of(tmp_path, content, name).format == format
    assert table_of(tmp_path, "a 1:2\n", name, format="csv").format == "csv"


def test_a_name_that_does_not_exist(tmp_path):
    table = table_of(tmp_path, "Age,width,kind\n1,2,x\n")
    table.need(["Age", "kind"])
    with pytest.raises(ValueError, match=r"t.csv: There is no column 'age'. Did you mean 'Age'\?"):
        table.need(["age"])
    with pytest.raises(ValueError, match="--no-header"):
        table.need(["color"])
    with pytest.raises(ValueError, match=r"The columns are: column_1, column_2.*--header"):
        table_of(tmp_path, "1,2\n").need(["age"])


def test_there_is_no_such_encoding(tmp_path):
    for encoding in ("klingon", "base64"):
        with pytest.raises(ValueError, match="There is no encoding"):
            table_of(tmp_path, "a,b\n", encoding=encoding)


class Counted(io.BytesIO):
    n_reads = 0

    def read(self, *arguments):
        self.n_reads += 1
        return super().read(*arguments)


def test_lines_are_not_read_byte_by_byte(monkeypatch):
    raw = Counted(b"1 1:1\n-1 2:1\n" * 50_000)
    monkeypatch.setattr(sys, "stdin", type("In", (), {"buffer": raw}))
    (X, _), *rest = open_table("-").sparse_chunks(1_000_000, 2)
    assert not rest
    assert X.shape == (100_000, 2)
    assert raw.n_reads < 20


def test_the_number_of_features(tmp_path):
    path = tmp_path / "t.svm"
    dump_svmlight_file(np.eye(4), range(4), str(path), zero_based=False)
    assert with_n_features(path, Wishes()).n_features == 4
    assert with_n_features("-", Wishes(n_features=7)).n_features == 7
    with pytest.raises(ValueError, match="--features"):
        with_n_features("-", Wishes())


@relaxed
@given(st.lists(st.integers(0, 7), max_size=8), st.integers(1, 10))
def test_regrouping_loses_nothing(sizes, n_rows):
    whole = pa.table({"x": range(sum(sizes))})
    starts = np.cumsum([0, *sizes])
    parts = (whole[start : start + size] for start, size in zip(starts, sizes, strict=False))
    groups = list(regrouped(parts, n_rows))
    assert [row for group in groups for row in group["x"].to_pylist()] == whole["x"].to_pylist()
    assert all(len(group) == n_rows for group in groups[:-1])


@relaxed
@given(st.binary(max_size=300))
def test_any_bytes_are_a_table_or_a_value_error(content):
    """Whatever a file holds, nothing but ValueError comes of it."""

    class In:
        buffer = io.BytesIO(content)

    before, sys.stdin = sys.stdin, In
    try:
        table = open_table("-")
        parts = table.sparse_chunks(10, 100) if table.columns is None else table.batches()
        assert sum(1 for _ in parts) >= 0
    except ValueError as error:
        message = str(error)
        assert message
    finally:
        sys.stdin = before


@relaxed
@given(st.text(st.sampled_from('ab1.,;\t|" \n\r'), max_size=40))
def test_any_text_is_a_table_or_a_value_error(text):
    test_any_bytes_are_a_table_or_a_value_error.hypothesis.inner_test(text.encode())


@relaxed
@given(
    st.lists(
        st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))),
        min_size=1,
    )
)
def test_what_csv_writes_is_read(rows):
    import csv

    width = max(1, *map(len, rows))
    rows = [[*row, *[""] * (width - len(row))] for row in rows]
    buffer = io.StringIO(newline="")
    csv.writer(buffer, quoting=csv.QUOTE_ALL).writerows([[f"n{i}" for i in range(width)], *rows])

    class In:
        buffer = io.BytesIO()

    In.buffer.write(buffer.getvalue().encode())
    In.buffer.seek(0)
    before, sys.stdin = sys.stdin, In
    try:
        read = rows_of(open_table("-", Wishes(delimiter=",")))
    finally:
        sys.stdin = before
    assert [list(row.values()) for row in read] == rows


def test_a_block_is_not_the_file(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "BLOCK", 1000)
    text = "a,b\n" + "".join(f"{i},text {i}\n" for i in range(1000))
    batches = list(table_of(tmp_path, text).batches())
    assert len(batches) > 10
    assert [int(a) for batch in batches for a in batch["a"].to_pylist()] == list(range(1000))
