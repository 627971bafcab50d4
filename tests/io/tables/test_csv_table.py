import csv
import gzip
import io
import subprocess
import sys

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bayespoint.io.tables import csv_table
from bayespoint.io.tables.open_table import open_table
from bayespoint.io.tables.read_options import ReadOptions
from table_helpers import rows_of, standard_input, table_of

# Do not fail because the machine is busy.
relaxed = settings(suppress_health_check=[HealthCheck.too_slow])


def test_the_header_can_be_given(tmp_path):
    assert table_of(tmp_path, "a,b\nc,d\n", header=False).columns == ["column_1", "column_2"]
    assert table_of(tmp_path, "1,2\n3,4\n", header=True).columns == ["1", "2"]


def test_names_in_quotes_may_hold_anything(tmp_path):
    text = '\n\n"first\nname","a,b","say ""hi""", ,größe\n1,2,3,4,5\n'
    table = table_of(tmp_path, text)
    assert table.columns == ["first\nname", "a,b", 'say "hi"', "column_4", "größe"]
    assert [list(row.values()) for row in rows_of(table)] == [list("12345")]


def test_blank_lines_may_follow_the_delimiter_of_excel(tmp_path):
    """The names were taken from the first blank line, so there were no columns (by the fuzzer)."""
    table = table_of(tmp_path, "\nsep=;\n\n \na;b\n1;2\n")
    assert rows_of(table) == [{"a": "1", "b": "2"}]
    with pytest.raises(ValueError, match="cannot be read: it is empty"):
        table_of(tmp_path, "sep=;\n\n")


def test_cells_come_as_they_are_written(tmp_path):
    table = table_of(tmp_path, "a,b\n NA ,?\n1.50,\n")
    assert rows_of(table) == [{"a": " NA ", "b": "?"}, {"a": "1.50", "b": ""}]


def test_columns_come_in_the_requested_order(tmp_path):
    table = table_of(tmp_path, "a,b,c\n1,2,3\n")
    assert next(table.batches(["c", "a"])).to_pylist() == [{"c": "3", "a": "1"}]


def test_advice_about_the_header(tmp_path):
    with pytest.raises(ValueError, match="pass header=False"):
        table_of(tmp_path, "Age,width\n1,2\n").require_columns(["color"])
    with pytest.raises(ValueError, match=r"The columns are: column_1, column_2.*pass header=True"):
        table_of(tmp_path, "1,2\n").require_columns(["age"])
    for header in (False, True):
        with pytest.raises(ValueError, match=r"no column 'age'(?!.*header=)"):
            table_of(tmp_path, "1,2\n", header=header).require_columns(["age"])


def test_there_is_no_such_encoding(tmp_path):
    for encoding in ("klingon", "base64"):
        with pytest.raises(ValueError, match="There is no encoding"):
            table_of(tmp_path, "a,b\n", encoding=encoding)


@pytest.mark.parametrize("n_good_rows", [0, 100_000])
@pytest.mark.parametrize(("encoding", "bad"), [("utf-8", b"\xff,1"), ("utf-16", b"\x00\xd8" * 9)])
def test_the_encoding_is_wrong(tmp_path, encoding, bad, n_good_rows):
    """The bad bytes come first, or far behind the part read when the file is opened."""
    good = ("a,b\n" + "1,2\n" * n_good_rows).encode(encoding)
    with pytest.raises(ValueError, match=rf'not encoded as {encoding}.*encoding="latin-1"'):
        rows_of(table_of(tmp_path, good + bad + b"\n", encoding=encoding))


def test_another_encoding(tmp_path):
    for encoding in ("latin-1", "utf-16"):
        table = table_of(tmp_path, "größe,b\n1,ä\n".encode(encoding), encoding=encoding)
        assert rows_of(table) == [{"größe": "1", "b": "ä"}]


@relaxed
@given(
    st.lists(
        st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))),
        min_size=1,
    )
)
def test_what_csv_writes_is_read(rows):
    width = max(1, *map(len, rows))
    rows = [[*row, *[""] * (width - len(row))] for row in rows]
    buffer = io.StringIO(newline="")
    csv.writer(buffer, quoting=csv.QUOTE_ALL).writerows([[f"n{i}" for i in range(width)], *rows])
    with standard_input(buffer.getvalue().encode()):
        found = rows_of(open_table("-", ReadOptions(delimiter=",")))
    assert [list(row.values()) for row in found] == rows


def test_a_file_is_read_in_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr(csv_table, "BLOCK_BYTES", 1000)
    text = "a,b\n" + "".join(f"{i},text {i}\n" for i in range(1000))
    batches = list(table_of(tmp_path, text).batches())
    assert len(batches) > 10
    assert [int(a) for batch in batches for a in batch["a"].to_pylist()] == list(range(1000))


def test_who_reads_only_some_rows_can_end(tmp_path):
    """Arrow's thread must not read while Python shuts down: half of such ends were crashes."""
    path = tmp_path / "rows.csv.gz"
    with gzip.open(path, "wt", compresslevel=1) as file:
        file.write("a,b\n" + "0.123456789,0.987654321\n" * 1_000_000)
    code = (
        "import sys\n"
        "from bayespoint.io.tables.open_table import open_table\n"
        "from bayespoint.io.tables.read_options import ReadOptions\n"
        "batches = open_table(sys.argv[1], ReadOptions()).batches()\n"
        "next(batches)\n"
    )
    for _ in range(5):
        subprocess.run([sys.executable, "-c", code, str(path)], check=True, timeout=60)
