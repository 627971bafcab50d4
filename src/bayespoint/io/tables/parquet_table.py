"""Parquet: columns of numbers or strings, with their names and types."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from .table import Table, check_names, one_line

ROWS_PER_BATCH = 1 << 16
# Texts of a column in one batch. A file of a few kilobytes can name one long text for all rows.
MAX_TEXT_BYTES = 1 << 30


class ParquetTable(Table):
    """An open Parquet file."""

    format = "parquet"
    has_header = True

    def __init__(self, name: str, source: Any):
        from pyarrow.parquet import ParquetFile
        from pyarrow.types import is_large_string, is_string

        def is_text(kind: Any) -> bool:
            return is_string(kind) or is_large_string(kind)

        try:
            file = ParquetFile(source)
            # Read texts as a dictionary, so that their size is known before they are repeated.
            texts = [field.name for field in file.schema_arrow if is_text(field.type)]
            file = ParquetFile(source, metadata=file.metadata, read_dictionary=texts)
        except (ValueError, OSError) as error:
            raise ValueError(f"{name} is not Parquet, or is damaged: {one_line(error)}") from None
        super().__init__(name, file)
        self._n_read = 0
        self.columns = file.schema_arrow.names
        check_names(name, file.schema_arrow.names)

    def share_read(self) -> float | None:
        """Return the share of the rows that were returned."""
        return self._n_read / max(self._stream.metadata.num_rows, 1)

    def _batches(self, names: list[str], texts: Collection[str]) -> Iterator[Any]:
        import pyarrow as pa

        schema = self._stream.schema_arrow
        for name in names:
            _check_type(schema.field(name))
        for batch in self._stream.iter_batches(ROWS_PER_BATCH, columns=names):
            self._n_read += batch.num_rows
            yield pa.table(
                {name: _numbers_or_strings(name, batch[name], name in texts) for name in names}
            )


def _check_type(field) -> None:
    from pyarrow import types

    kind = field.type
    if types.is_dictionary(kind):
        kind = kind.value_type
    binary = (
        types.is_binary(kind) or types.is_large_binary(kind) or types.is_fixed_size_binary(kind)
    )
    if types.is_nested(kind) or binary:
        raise ValueError(
            f"column {field.name!r} should hold numbers or text, but its type is {field.type}. "
            "Leave it out."
        )


def _check_length(name: str, column) -> None:
    """Refuse long texts that are repeated so often that they would fill the memory."""
    import pyarrow.compute as pc
    from pyarrow import types

    kind = column.type.value_type
    if not types.is_string(kind) and not types.is_large_string(kind):
        return
    n_bytes = pc.sum(pc.binary_length(column.dictionary).take(column.indices)).as_py() or 0
    if n_bytes > MAX_TEXT_BYTES:
        raise ValueError(
            f"column {name!r} has {n_bytes / 2**30:.3g} GB of text in {len(column):,} rows, but at "
            f"most {MAX_TEXT_BYTES / 2**30:.3g} GB are supported. Leave it out, or shorten its "
            "texts."
        )


def _numbers_or_strings(name: str, column, as_text: bool):
    """Return a column of float64 or of strings; booleans become strings, as in CSV."""
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow import types

    if types.is_dictionary(column.type):
        _check_length(name, column)
        column = column.dictionary_decode()
    kind = column.type
    if types.is_boolean(kind):
        return pc.if_else(column, "True", "False")
    numeric = types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind)
    if numeric and not as_text:
        return column.cast(pa.float64(), safe=False)
    return column.cast(pa.string())
