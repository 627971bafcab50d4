"""Damaged and strange files: the command prints one line, exits with 1, and writes nothing."""

import bz2
import gzip
import lzma
import os
import time

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from cli_helpers import fails, mixed_table, ok, run

GOOD = "age,width,job,town,kind\n" + "1,2,baker,Ulm,no\n3,1,clerk,Bonn,yes\n" * 20


def as_file(folder, name, content):
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def no_drafts(folder):
    return not [path for path in folder.rglob("*") if path.name.startswith(".")]


BROKEN = {
    "empty": (b"", "is empty"),
    "blank lines": (b"\n\r\n  \n\n", "is empty"),
    "byte order mark alone": (b"\xef\xbb\xbf\n\n", "cannot be read"),
    "header alone": ("age,width,job,town,kind\n", "has no rows"),
    "invalid bytes late": (
        GOOD.replace("Ulm", "Köln").encode() + b"1,2,baker,Ulm,no\n" * 9000 + b"1,2,\xff,Ulm,no\n",
        "--encoding latin-1",
    ),
    "bytes of no Windows": (GOOD.encode() + b"1,2,\x81,Ulm,no\n", "--encoding latin-1"),
    "zero bytes": (GOOD.encode().replace(b"Bonn", b"Bo\0n"), "zero bytes"),
    "zeros": (b"\0" * 5000, "zero bytes"),
    "quotes not closed in the header": ('age,"width,job,town,kind\n1,2,a,b,no\n', "first line"),
    "quotes not closed": (GOOD + '1,2,"a,Ulm,no\n' * 3, "close every quote"),
    "too few cells": (GOOD + "1,2\n", "a row has 2 values instead of 5"),
    "too many cells": (GOOD + "1,2,a,b,no,6\n", "a row has 6 values instead of 5"),
    "one name twice": (GOOD.replace("width", "age"), "more than one column named 'age'"),
    "infinity": (GOOD + "inf,2,baker,Ulm,no\n", "'age' should hold finite numbers"),
    "too large": (GOOD + "1e400,2,baker,Ulm,no\n", "'age' should hold finite numbers"),
    "truncated gzip": (gzip.compress(GOOD.encode() * 100)[:-200], "cut off"),
    "truncated bzip2": (bz2.compress(GOOD.encode() * 100)[:-100], "cut off"),
    "truncated xz": (lzma.compress(GOOD.encode() * 100)[:-100], "cut off"),
    "flipped gzip": (
        gzip.compress(GOOD.encode())[:50] + b"\xff" * 9 + gzip.compress(GOOD.encode())[59:],
        "damaged",
    ),
    "flipped bzip2": (b"BZh9" + b"\xff" * 99, "is damaged or cut off"),
    "gzip of gzip": (gzip.compress(gzip.compress(GOOD.encode())), "encod|zero"),
    "gzip of nothing": (gzip.compress(b""), "is empty"),
    "a pickle": (b"\x80\x05cos\nsystem\n(S'echo'\ntR.", "kind|column|encod"),
    "a program": (b"\x7fELF\x02\x01\x01" + bytes(range(256)) * 20, "encod|zero"),
    "a row of 9 MB": (GOOD + '1,2,"' + "x" * 9_000_000 + '",Ulm,no\n', "longer than 4 MB"),
    "a line of 20 MB": ("a" * 20_000_000, "first line"),
    "half a Parquet file": (b"PAR1" + b"\0" * 100, "not Parquet"),
}


@pytest.mark.parametrize("case", BROKEN)
@pytest.mark.parametrize("verb", ["train", "predict", "evaluate"])
def test_a_broken_file_is_one_line(world, tmp_path, case, verb):
    content, expected = BROKEN[case]
    path, out = as_file(tmp_path, "data.csv", content), tmp_path / "out"
    arguments = {
        "train": ["train", path, "--target", "kind", "--model", out, "--classifier", "linear"],
        "predict": ["predict", world / "linear.bpm", path, "--output", out],
        "evaluate": ["evaluate", world / "linear.bpm", path],
    }[verb]
    if case == "header alone" and verb == "predict":
        ok(*arguments)
        assert out.read_text() == "prediction,probability\n"
        return
    line = fails(*arguments)
    assert len(line) < 700
    if verb == "train":
        assert any(word in line for word in expected.split("|")), line
    assert list(tmp_path.iterdir()) == [path]


def test_unusual_but_valid_files_are_read(tmp_path):
    """Other line ends, byte order marks, blanks, compression, and encodings that are named."""
    plain = mixed_table(60).to_csv(index=False)
    odd = {
        "crlf": (plain.replace("\n", "\r\n").encode(), []),
        "cr": (plain.replace("\n", "\r").encode(), []),
        "bom": (b"\xef\xbb\xbf" + plain.encode(), []),
        "blank lines": (("\n \n" + plain.replace("\n", "\n\n")).encode(), []),
        "no last end": (plain.rstrip("\n").encode(), []),
        "utf-16": (plain.encode("utf-16"), ["--encoding", "utf-16"]),
        "utf-16, guessed": (plain.encode("utf-16"), []),
        "utf-16 without a mark": (plain.encode("utf-16-le"), []),
        "latin-1, guessed": (plain.encode("latin-1"), []),
        "latin-1": (plain.encode("latin-1"), ["--encoding", "latin-1"]),
        "gzip": (gzip.compress(plain.encode()), []),
        "gzip in two parts": (
            gzip.compress(plain[:500].encode()) + gzip.compress(plain[500:].encode()),
            [],
        ),
        "bzip2": (bz2.compress(plain.encode()), []),
        "xz": (lzma.compress(plain.encode()), []),
        "blanks": (plain.replace("Ulm", "  Ulm\u00a0").replace("yes", " yes ").encode(), []),
    }
    models = set()
    for name, (content, options) in odd.items():
        path, model = as_file(tmp_path, "data", content), tmp_path / "model"
        arguments = ["--target", "kind", "--model", model, "--classifier", "linear"]
        ok("train", path, *arguments, *options)
        predictions = ok("predict", model, path, *options)
        assert predictions.count("\n") == 61, name
        models.add(predictions)
    assert len(models) == 1


@pytest.mark.parametrize("n_columns", [1_000_000, 20_000])
def test_a_header_of_many_columns(tmp_path, n_columns):
    names = ",".join(f"c{i}" for i in range(n_columns))
    path = as_file(tmp_path, "wide.csv", f"{names}\n" + "1," * (n_columns - 1) + "2\n")
    began = time.process_time()
    line = fails("train", path, "--target", "c0", "--model", tmp_path / "m")
    assert time.process_time() - began < 20
    assert len(line) < 500
    expected = "1,000,000 columns" if n_columns > 100_000 else "two classes or more"
    assert expected in line


def test_many_equal_names_are_found_fast(tmp_path):
    path = as_file(tmp_path, "wide.csv", ",".join(["a"] * 90_000) + "\n")
    began = time.process_time()
    assert "more than one column named 'a'" in fails(
        "train", path, "--target", "a", "--model", tmp_path / "m"
    )
    assert time.process_time() - began < 5


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        (["a"] * 40, "two classes or more, but has 1"),
        ([""] * 40, "two classes or more, but has 0"),
        (range(40), "which cannot be classes"),
        (np.linspace(0, 1, 40), "which cannot be classes"),
        (["a"] * 39 + ["b"], "two classes or more, but has 1, 'a'"),
        ([*range(60)] * 3, "60 different numbers, which is a quantity"),
    ],
)
def test_a_target_without_classes(tmp_path, target, expected):
    table = pd.DataFrame({"x": np.arange(len(target)) % 7, "kind": target})
    table.to_csv(tmp_path / "t.csv", index=False)
    line = fails("train", tmp_path / "t.csv", "--target", "kind", "--model", tmp_path / "m")
    assert expected in line
    assert not (tmp_path / "m").exists()


def test_rows_without_a_class_are_left_out(tmp_path):
    table = mixed_table(80)
    table.loc[::4, "kind"] = None
    table.to_csv(tmp_path / "t.csv", index=False)
    model = tmp_path / "m"
    result = run(
        "train", tmp_path / "t.csv", "--target", "kind", "--model", model, "--classifier", "linear"
    )
    assert result.exit_code == 0
    assert "20 rows without a class in 'kind' (empty, NA or the like) are left out" in result.stderr
    result = run("evaluate", model, tmp_path / "t.csv", "--include-training-rows")
    assert (
        "20 rows without a class in 'kind' (empty, NA or the like) were left out" in result.stderr
    )
    assert "of the 60 rows" in result.stdout


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("1 0:1 2:1\n-1 1:1\n" * 5, "Invalid index 0"),
        ("1 2:1 1:1\n-1 1:1\n" * 5, "sorted and unique"),
        ("1 1:1 1:1\n-1 1:1\n" * 5, "sorted and unique"),
        ("1 1:x\n-1 1:1\n" * 5, "rows 1 to 10"),
        ("1 1\n-1 1:1\n" * 5, "rows 1 to 10"),
        ("0.5 1:1\n1.5 1:2\n" * 5, "a whole number, but one is 0.5"),
        ("inf 1:1\n1 1:2\n" * 5, "a whole number, but one is inf"),
        ("nan 1:1\n1 1:2\n" * 5, "a whole number, but one is nan"),
        ("1,2 1:1\n1 1:2\n" * 5, "rows 1 to 10"),
        ("1 1:inf\n-1 1:1\n" * 5, "infinity"),
        ("1 1:nan\n-1 1:1\n" * 5, "NaN"),
        ("1 2000000000:1\n-1 1:1\n" * 5, "Renumber the features"),
        ("1 99999999999999999999:1\n-1 1:1\n" * 5, "rows 1 to 10"),
        ("# nothing\n\n", "has no rows"),
        ("1 1:1\n" * 5, "two classes or more"),
    ],
)
def test_broken_libsvm(tmp_path, content, expected):
    path = as_file(tmp_path, "t.svm", content)
    assert expected in fails("train", path, "--model", tmp_path / "m", "--classifier", "linear")
    assert list(tmp_path.iterdir()) == [path]


def test_libsvm_of_other_width(world, tmp_path):
    narrow = as_file(tmp_path, "n.svm", "1 1:1\n-1 2:1\n")
    assert ok("predict", world / "sparse.bpm", narrow).count("\n") == 3
    wide = as_file(tmp_path, "w.svm", "1 1:1\n-1 31:1\n")
    assert "31" in fails("predict", world / "sparse.bpm", wide, "--output", tmp_path / "o")
    floats = as_file(tmp_path, "f.svm", "1.5 1:1\n-1 2:1\n")
    assert "whole number, but one is 1.5" in fails("evaluate", world / "sparse.bpm", floats)
    assert not (tmp_path / "o").exists()


PARQUET_COLUMNS = {
    "a list": (pa.array([[1], [2]] * 30), "list"),
    "a struct": (pa.array([{"x": 1}, {"x": 2}] * 30), "struct"),
    "bytes": (pa.array([b"a", b"b"] * 30), "binary"),
    "large bytes": (pa.array([b"a", b"b"] * 30, pa.large_binary()), "binary"),
    "fixed bytes": (pa.array([b"a", b"b"] * 30, pa.binary(1)), "binary"),
    "a map": (pa.array([[("a", 1)], []] * 30, pa.map_(pa.string(), pa.int64())), "map"),
}


@pytest.mark.parametrize("case", PARQUET_COLUMNS)
def test_parquet_columns_of_other_types_are_refused(tmp_path, case):
    column, kind = PARQUET_COLUMNS[case]
    path, model = tmp_path / "t.parquet", tmp_path / "m"
    table = pa.table({"odd": column, "x": range(60), "kind": ["a", "b"] * 30})
    parquet.write_table(table, path)
    arguments = ["train", path, "--target", "kind", "--model", model, "--classifier", "linear"]
    line = fails(*arguments)
    assert "column 'odd' should hold numbers or text" in line
    assert kind in line
    ok(*arguments, "--ignore", "odd")
    assert ok("predict", model, path).count("\n") == 61


def test_parquet_with_every_other_type(tmp_path):
    path, model = tmp_path / "t.parquet", tmp_path / "m"
    days = pa.array(list(range(60)), pa.int32()).cast(pa.date32())
    table = pa.table(
        {
            "whole": pa.array(range(60), pa.int8()),
            "large": pa.array([2**63, 2**64 - 1] * 30, pa.uint64()),
            "half": pa.array(np.arange(60, dtype=np.float16)),
            "money": pa.array(range(60), pa.int64()).cast(pa.decimal128(30, 2)),
            "true": pa.array([True, False, None] * 20),
            "day": days,
            "time": pa.array(range(60), pa.timestamp("us", "UTC")),
            "clock": pa.array(range(60), pa.time32("s")),
            "wait": pa.array(range(60), pa.duration("s")),
            "category": pa.array(["a", "b", None] * 20).dictionary_encode(),
            "long": pa.array(["a", "b", None] * 20, pa.large_string()),
            "nothing": pa.nulls(60),
            "kind": [True, False] * 30,
        }
    )
    parquet.write_table(table, path)
    train = ["train", path, "--target", "kind", "--model", model, "--classifier", "linear"]
    result = run(*train)
    assert result.exit_code == 0, result.stderr
    assert "empty and not used: 'nothing'" in result.stderr
    assert ok("predict", model, path).count("\n") == 61
    # The same rows as text.
    csv = tmp_path / "t.csv"
    table.drop_columns(["wait", "time"]).to_pandas().to_csv(csv, index=False)
    ok(*train, "--ignore", "time", "--ignore", "wait")
    assert ok("predict", model, path) == ok("predict", model, csv)
    ok("evaluate", model, csv)


def test_places_that_cannot_be_read(world, tmp_path):
    model = world / "linear.bpm"
    assert "is a folder" in fails("predict", model, tmp_path)
    assert "There is no file" in fails("predict", model, tmp_path / "none.csv")
    assert "directory" in fails("predict", tmp_path, world / "test.csv")
    assert "There is no file" in fails("predict", tmp_path / "none.bpm", world / "test.csv")
    secret = as_file(tmp_path, "secret.csv", GOOD)
    secret.chmod(0)
    if not os.access(secret, os.R_OK):
        assert "Permission denied" in fails("predict", model, secret)


def test_places_that_cannot_be_written(world, tmp_path):
    model, data = world / "linear.bpm", world / "test.csv"
    missing = tmp_path / "missing" / "out"
    assert "There is no folder" in fails("predict", model, data, "--output", missing, code=2)
    assert "There is no folder" in fails(
        "train", data, "--target", "kind", "--model", missing, code=2
    )
    assert "is a folder" in fails("predict", model, data, "--output", tmp_path, code=2)
    assert "is a folder" in fails("export", model, "--output", tmp_path, code=2)
    assert list(tmp_path.iterdir()) == []


def test_files_that_are_read_are_not_overwritten(tmp_path, world):
    model, data = tmp_path / "m.bpm", as_file(tmp_path, "t.csv", GOOD)
    model.write_bytes((world / "linear.bpm").read_bytes())
    link = tmp_path / "link.csv"
    link.symlink_to(data)
    before = {path: path.read_bytes() for path in (model, data)}
    for arguments in (
        ["predict", model, data, "--output", data],
        ["predict", model, data, "--output", link],
        ["predict", model, data, "--output", model],
        ["train", data, "--target", "kind", "--model", data],
        ["update", model, data, "--output", data],
        ["report", model, data, "--output", data],
        ["report", model, data, "--output", model],
        ["export", model, "--output", model],
    ):
        assert "would be overwritten" in fails(*arguments, code=2)
    assert before == {path: path.read_bytes() for path in (model, data)}
    assert no_drafts(tmp_path)


def test_the_model_in_place_of_the_data_and_the_other_way_round(world, tmp_path):
    model, data = world / "linear.bpm", world / "test.csv"
    assert "not a model file" in fails("predict", data, data)
    assert "archive, not a table" in fails("predict", model, model)
