import csv
import io
import os

import numpy as np
import pandas as pd
import pytest

from bayespoint.io.tables.dataset import open_dataset
from bayespoint.io.tables.pieces import blocks_of, divide_csv, find_ends, parquet_pieces
from bayespoint.io.tables.read_options import ReadOptions

NAMES = ["number", "text"]


def whole(path):
    (file,) = open_dataset(str(path), ReadOptions()).files
    return file.whole


def pieces_of(path, n_bytes):
    piece = whole(path)
    return divide_csv(piece, [find_ends(*block) for block in blocks_of(piece, n_bytes)])


def rows_of(pieces):
    tables = [piece.read(NAMES, NAMES) for piece in pieces]
    return [tuple(row.values()) for table in tables for row in table.to_pylist()]


@pytest.mark.parametrize("n_bytes", [7, 20, 64, 10_000])
@pytest.mark.parametrize("header", [True, False])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_pieces_have_each_row_once(tmp_path, n_bytes, header, line_end):
    """Python's csv module reads the same rows, also those with line ends inside quotes."""
    rng = np.random.default_rng(n_bytes)
    texts = ["plain", 'says "no"', "two\nlines", "a, b\n\n", "", 'x"\n"y']
    rows = [(str(i), texts[rng.integers(len(texts))]) for i in range(60)]
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator=line_end)
    writer.writerows([*([NAMES] if header else []), *rows])
    path = tmp_path / "t.csv"
    path.write_bytes(text.getvalue().encode())
    piece = whole(path)
    names = NAMES if header else ["column_1", "column_2"]
    cut = divide_csv(piece, [find_ends(*block) for block in blocks_of(piece, n_bytes)])
    assert (len(cut) > 1) == (n_bytes < 10_000)
    tables = [one.read(names, names) for one in cut]
    found = [tuple(row.values()) for table in tables for row in table.to_pylist()]
    assert found == rows


def test_a_line_end_inside_quotes_is_no_end_of_a_row(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b'a\n"1\n2"\n3\n')
    assert find_ends(str(path), 0, 10).first == (2, 5)
    assert find_ends(str(path), 3, 10) == (1, (5, 8))  # outside quotes, or inside as here


def test_a_file_of_names_alone_has_no_rows(tmp_path):
    for name, text in (("a.csv", "number,text"), ("b.csv", "number,text\n\n\n")):
        (tmp_path / name).write_text(text)
        assert rows_of([whole(tmp_path / name)]) == []


@pytest.mark.parametrize("n_bytes", [500, 4000, 10**9])
def test_pieces_of_parquet(tmp_path, n_bytes):
    """Small groups of rows are read together, and a large one in several pieces."""
    path = tmp_path / "t.parquet"
    table = pd.DataFrame({"number": np.arange(1000.0), "text": [f"{i}" for i in range(1000)]})
    table.to_parquet(path, row_group_size=300, index=False)
    (file,) = open_dataset(str(path), ReadOptions()).files
    found, sizes = zip(
        *parquet_pieces(str(path), ReadOptions(), file.metadata, n_bytes), strict=True
    )
    assert {500: len(found) > 10, 4000: len(found) > 4, 10**9: len(found) == 1}[n_bytes]
    assert max(sizes) <= n_bytes
    numbers = [value for piece in found for value in piece.read(["number"], [])[0].to_pylist()]
    assert numbers == list(range(1000))


def test_a_file_that_changes(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("number,text\n" + "1,a\n" * 50)
    first, *_, last = pieces_of(path, 60)
    assert len(rows_of([first])) > 5
    with path.open("a") as file:
        file.write("2,b\n")
    with pytest.raises(ValueError, match=r"t.csv was changed while it was read \(212 bytes"):
        first.read(NAMES, NAMES)
    path.unlink()
    with pytest.raises(ValueError, match="cannot be read any more, or not on every worker"):
        last.read(NAMES, NAMES)


def test_a_file_of_the_same_size_that_changes(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("number,text\n1,a\n")
    piece = whole(path)
    path.write_text("number,text\n1,b\n")
    os.utime(path, (1, 1))
    with pytest.raises(ValueError, match="was changed"):
        piece.read(NAMES, NAMES)


def test_errors_name_the_piece(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("number,text\n" + "1,a\n" * 50 + "1,a,2\n" + "1,a\n" * 50)
    with pytest.raises(ValueError, match=r"t.csv, from byte \d+: .*has 3 values instead of 2"):
        rows_of(pieces_of(path, 60))
