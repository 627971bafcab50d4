import io
from decimal import Decimal

import pyarrow as pa
import pytest
from pyarrow import parquet

from bayespoint.io.tables import parquet_table
from bayespoint.io.tables.parquet_table import ParquetTable
from table_helpers import rows_of

COLUMNS = {
    "whole": pa.array([1, None, 3]),
    "decimal": pa.array([Decimal("1.5"), Decimal("2.5"), None]),
    "flag": pa.array([True, False, None]),
    "word": pa.array(["a", "b", None]),
    "kind": pa.array(["x", "y", "x"]).dictionary_encode(),
}


def opened(columns):
    buffer = io.BytesIO()
    parquet.write_table(pa.table(columns), buffer)
    return ParquetTable("t.parquet", buffer)


def test_columns_are_numbers_or_strings():
    table = opened(COLUMNS)
    assert table.columns == list(COLUMNS)
    whole = pa.concat_tables(table.batches(texts=["whole"]))
    assert whole.to_pydict() == {
        "whole": ["1", None, "3"],
        "decimal": [1.5, 2.5, None],
        "flag": ["True", "False", None],
        "word": ["a", "b", None],
        "kind": ["x", "y", "x"],
    }
    assert rows_of(opened({"whole": COLUMNS["whole"]}))[2] == {"whole": 3.0}


def test_rows_come_in_batches(monkeypatch):
    monkeypatch.setattr(parquet_table, "ROWS_PER_BATCH", 10)
    sizes = [len(batch) for batch in opened({"a": range(25)}).batches()]
    assert sizes == [10, 10, 5]


@pytest.mark.parametrize("values", [[[1], [2]], [b"x", b"y"], [{"a": 1}, {"a": 2}]], ids=str)
def test_other_types_are_refused_when_they_are_read(values):
    table = opened({"odd": pa.array(values), "a": [1, 2]})
    assert [row["a"] for batch in table.batches(["a"]) for row in batch.to_pylist()] == [1, 2]
    with pytest.raises(ValueError, match=r"t.parquet: column 'odd' should hold numbers or text"):
        rows_of(opened({"odd": pa.array(values)}))


def test_a_long_text_repeated_in_all_rows(monkeypatch):
    """A file of a few kilobytes would take gigabytes of memory."""
    words = pa.DictionaryArray.from_arrays(pa.array([0, None] * 500), pa.array(["x" * 1000]))
    n_bytes = 500 * 1000
    monkeypatch.setattr(parquet_table, "MAX_TEXT_BYTES", n_bytes)
    for column in (words, words.cast(pa.string()), words.cast(pa.large_string())):
        assert rows_of(opened({"a": column}))[:2] == [{"a": "x" * 1000}, {"a": None}]
        monkeypatch.setattr(parquet_table, "MAX_TEXT_BYTES", n_bytes - 1)
        with pytest.raises(ValueError, match=r"column 'a' has 0.000466 GB of text in 1,000 rows"):
            rows_of(opened({"a": column}))
        monkeypatch.setattr(parquet_table, "MAX_TEXT_BYTES", n_bytes)


@pytest.mark.parametrize("texts", [["a"], [1.5]])
def test_a_dictionary_without_the_text_that_a_row_names(texts):
    """Arrow raised an IndexError, which was not explained (by the fuzzer)."""
    column = pa.DictionaryArray.from_arrays(pa.array([0, 7]), pa.array(texts), safe=False)
    with pytest.raises(ValueError, match="column 'w' is damaged: "):
        parquet_table._numbers_or_strings("w", column, False)


def test_not_parquet():
    with pytest.raises(ValueError, match=r"t.parquet is not Parquet, or is damaged"):
        ParquetTable("t.parquet", io.BytesIO(b"PAR1" + bytes(100)))


def test_equal_names():
    table = pa.table([[1], [2]], names=["a", "a"])
    buffer = io.BytesIO()
    parquet.write_table(table, buffer)
    with pytest.raises(ValueError, match="more than one column named 'a'"):
        ParquetTable("t.parquet", buffer)
