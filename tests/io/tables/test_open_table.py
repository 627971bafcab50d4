import bz2
import gzip
import io
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import parquet
from sklearn.datasets import dump_svmlight_file

from bayespoint._runtime.share_done import heard_by
from bayespoint.io.tables import csv_table, parquet_table
from bayespoint.io.tables import open_table as opening
from bayespoint.io.tables.open_table import count_features, open_table
from bayespoint.io.tables.read_options import ReadOptions
from table_helpers import rows_of, standard_input, table_of

# Do not fail because the machine is busy.
relaxed = settings(suppress_health_check=[HealthCheck.too_slow])


def test_compressed_parquet_is_held_in_memory_up_to_a_limit(tmp_path, monkeypatch):
    buffer = io.BytesIO()
    parquet.write_table(pa.table({"a": [1.0]}), buffer)
    content = gzip.compress(buffer.getvalue())
    monkeypatch.setattr(opening, "MAX_DECOMPRESSED_BYTES", len(buffer.getvalue()))
    assert rows_of(table_of(tmp_path, content, "t.parquet.gz")) == [{"a": 1.0}]
    monkeypatch.setattr(opening, "MAX_DECOMPRESSED_BYTES", len(buffer.getvalue()) - 1)
    with pytest.raises(ValueError, match=r"t.parquet.gz holds more than 0 MB of compressed Par"):
        table_of(tmp_path, content, "t.parquet.gz")


def test_what_cannot_be_opened(tmp_path):
    with pytest.raises(FileNotFoundError, match="There is no file"):
        open_table(tmp_path / "none.csv")
    with pytest.raises(IsADirectoryError, match="is a folder"):
        open_table(tmp_path)
    with pytest.raises(ValueError, match=r"t\.csv is empty"):
        table_of(tmp_path, " \n")
    with pytest.raises(ValueError, match=r"t\.csv is damaged or cut off"):
        table_of(tmp_path, bz2.compress(b"a,b\n" * 1000)[:30])


def test_parquet_from_a_pipe(tmp_path):
    buffer = io.BytesIO()
    parquet.write_table(pa.table({"a": [1, 2]}), buffer)
    expected = [{"a": 1.0}, {"a": 2.0}]
    with standard_input(buffer.getvalue()):
        table = open_table("-")
        assert table.name == "standard input"
        assert rows_of(table) == expected
    assert rows_of(table_of(tmp_path, gzip.compress(buffer.getvalue()))) == expected


def test_the_number_of_features(tmp_path, monkeypatch):
    path = tmp_path / "t.svm"
    dump_svmlight_file(np.eye(4), range(4), str(path), zero_based=False)
    assert count_features(path, ReadOptions()) == 4
    assert count_features("-", ReadOptions(n_features=7)) == 7
    with pytest.raises(ValueError, match="Pass n_features=NUMBER"):
        count_features("-", ReadOptions())
    monkeypatch.setattr(opening, "MAX_FEATURES", 3)
    with pytest.raises(ValueError, match="at most 3 features are supported"):
        count_features(path, ReadOptions())


@relaxed
@given(st.binary(max_size=300))
def test_any_bytes_are_a_table_or_a_value_error(content):
    """No content of a file leads to anything but ValueError."""
    with standard_input(content):
        try:
            table = open_table("-")
            parts = table.sparse_chunks(10, 100) if table.columns is None else table.batches()
            assert sum(1 for _ in parts) >= 0
        except ValueError as error:
            message = str(error)
            assert message


@relaxed
@given(st.text(st.sampled_from('ab1.,;\t|" \n\r'), max_size=40))
def test_any_text_is_a_table_or_a_value_error(text):
    test_any_bytes_are_a_table_or_a_value_error.hypothesis.inner_test(text.encode())


def test_says_how_to_get_pyarrow(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"bayespoint\[files\]"):
        table_of(tmp_path, "a,b\n1,2\n")
    assert table_of(tmp_path, "1 1:1\n", "t.svm").format == "libsvm"


@pytest.mark.parametrize("kind", ["csv", "csv.gz", "parquet", "svm"])
def test_reading_says_how_much_is_done(tmp_path, kind, monkeypatch):
    """Shares grow to one, by bytes of the file or by rows of Parquet."""
    monkeypatch.setattr(csv_table, "BLOCK_BYTES", 1 << 15)
    monkeypatch.setattr(parquet_table, "ROWS_PER_BATCH", 10_000)
    path, numbers = tmp_path / f"t.{kind}", np.random.default_rng(0).random(100_000)
    if kind == "svm":
        path.write_text("".join(f"1 1:{number}\n" for number in numbers))
    elif kind == "parquet":
        pd.DataFrame({"a": numbers}).to_parquet(path)
    else:
        pd.DataFrame({"a": numbers}).to_csv(path, index=False)
    heard = []
    with heard_by(lambda *news: heard.append(news)), open_table(path) as table:
        for _ in table.sparse_chunks(1000, 1) if kind == "svm" else table.batches():
            pass
    assert {step for _, step in heard} == {"reading"}
    shares = [share for share, _ in heard]
    assert shares == sorted(shares)
    assert (shares[0] < 0.5, shares[-1]) == (True, 1)
