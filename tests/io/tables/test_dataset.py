import pandas as pd
import pytest

from bayespoint.io.tables import dataset
from bayespoint.io.tables.dataset import open_dataset
from bayespoint.io.tables.read_options import ReadOptions


def here(task, arguments):
    return [task(*given) for given in arguments]


def opened(path):
    return open_dataset(str(path), ReadOptions())


def read(parts, names, strings=()):
    tables = [piece.read(names, strings) for part in parts for piece in part]
    return [row for table in tables for row in table.to_pylist()]


@pytest.fixture
def folder(tmp_path):
    """Return a folder of three files of Parquet, and what other programs leave there."""
    for i in range(3):
        (tmp_path / f"y={i}").mkdir()
        table = pd.DataFrame({"a": [i, i + 0.5], "b": ["x", None]})
        table.to_parquet(tmp_path / f"y={i}" / "part.parquet")
    for name in ("_SUCCESS", ".part.parquet.crc", "_metadata.parquet", "notes.txt"):
        (tmp_path / name).write_text("no table")
    return tmp_path


def test_a_folder(folder):
    found = opened(folder)
    assert (found.columns, found.strings, found.n_rows) == (["a", "b"], {"b"}, 6)
    parts = found.partitions(1, here)
    assert [len(part) for part in parts] == [3]  # small files are read together
    assert [row["a"] for row in read(parts, ["a"])] == [0, 0.5, 1, 1.5, 2, 2.5]


def test_large_files_are_divided(tmp_path, monkeypatch):
    monkeypatch.setattr(dataset, "MIN_PARTITION_BYTES", 100)
    path = tmp_path / "t.csv"
    path.write_text("a\n" + "12345\n" * 200)
    found = opened(path)
    assert found.name == "t.csv"
    assert found.n_rows == pytest.approx(200, rel=0.01)
    parts = found.partitions(2, here)
    assert 8 <= len(parts) <= 10
    assert len(read(parts, ["a"])) == 200


@pytest.mark.parametrize("encoding", ["utf-16", "cp1252"])
def test_encodings(tmp_path, encoding, monkeypatch):
    monkeypatch.setattr(dataset, "MIN_PARTITION_BYTES", 100)
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "Köln,1\n" * 100, encoding=encoding)
    found = opened(path)
    assert bool(found.files[0].notes) == (encoding == "cp1252")  # it was guessed
    parts = found.partitions(1, here)
    assert (len(parts) == 1) == (encoding == "utf-16")  # a line end is two bytes
    assert [row["a"] for row in read(parts, ["a"])] == ["Köln"] * 100


def test_compressed_files_are_read_as_a_whole(tmp_path):
    table = pd.DataFrame({"a": range(50)})
    for i in range(2):
        table.to_csv(tmp_path / f"{i}.csv.gz", index=False)
    assert len(read(opened(tmp_path).partitions(1, here), ["a"])) == 100


def test_what_cannot_be_read(tmp_path):
    with pytest.raises(ValueError, match="has no files of CSV or Parquet"):
        opened(tmp_path)
    with pytest.raises(ValueError, match="Standard input"):
        opened("-")
    with pytest.raises(FileNotFoundError, match="There is no file"):
        opened(tmp_path / "none.csv")
    (tmp_path / "t.svm").write_text("1 1:2\n")
    with pytest.raises(ValueError, match="is LIBSVM"):
        opened(tmp_path / "t.svm")
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    pd.DataFrame({"a": [1]}).to_parquet(tmp_path / "u.parquet")
    with pytest.raises(ValueError, match=r"one format, but t.csv is csv and u.parquet is parquet"):
        opened(tmp_path)
    (tmp_path / "u.parquet").write_bytes(b"PAR1 cut off")
    with pytest.raises(ValueError, match=r"u\.parquet is not Parquet, or is damaged"):
        opened(tmp_path)


def test_files_with_other_columns(folder):
    pd.DataFrame({"a": [7], "c": ["z"]}).to_parquet(folder / "z.parquet")
    found = opened(folder)
    assert found.columns == ["a", "b", "c"]
    found.require_columns(["a"])
    with pytest.raises(ValueError, match=r"z.parquet has no column 'b', which part.parquet has"):
        found.require_columns(["a", "b"])
    with pytest.raises(ValueError, match=r"part.parquet has no column 'd'\. All files"):
        found.require_columns(["d"])


def test_a_column_with_two_types_is_read_as_text(folder):
    pd.DataFrame({"a": ["7"], "b": [None]}).to_parquet(folder / "z.parquet")
    assert opened(folder).strings == {"a", "b"}
