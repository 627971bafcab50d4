"""Parquet: columns of numbers or strings, with their names and types."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from .table import Table, check_names, one_line

ROWS_PER_BATCH = 1 << 16
# Texts of a column in one batch. A file of a few kilobytes can name one long text for all rows.
MAX_TEXT_BYTES = 1 << 30


class ParquetTable(Table):
    """An open Parquet file, or some groups of its rows, or some rows of these."""

    format = "parquet"
    has_header = True

    def __init__(
        self,
        name: str,
        source: Any,
        groups: Sequence[int] | None = None,
        rows: tuple[int, int] | None = None,
    ):
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
        self._n_read, self._groups, self._rows = 0, groups, rows
        self.columns = file.schema_arrow.names
        check_names(name, file.schema_arrow.names)

    @property
    def metadata(self) -> Any:
        """Return what Parquet says about its groups of rows."""
        return self._stream.metadata

    @property
    def strings(self) -> set[str]:
        """Return the columns that are read as strings; those without any value can be both."""
        from pyarrow import types

        fields = list(self._stream.schema_arrow)
        return {f.name for f in fields if not (_is_number(f.type) or types.is_null(f.type))}

    def share_read(self) -> float | None:
        """Return the share of the rows that were returned."""
        return self._n_read / max(self._stream.metadata.num_rows, 1)

    def _batches(self, names: list[str], texts: Collection[str]) -> Iterator[Any]:
        import pyarrow as pa

        schema = self._stream.schema_arrow
        for name in names:
            _check_type(schema.field(name))
        begin, end = self._rows or (0, self._stream.metadata.num_rows)
        groups = None if self._groups is None else list(self._groups)
        for batch in self._stream.iter_batches(ROWS_PER_BATCH, row_groups=groups, columns=names):
            here = slice(max(begin - self._n_read, 0), max(end - self._n_read, 0))
            self._n_read += batch.num_rows
            batch = batch[here]
            if self._n_read <= begin:
                continue
            yield pa.table(
                {name: _numbers_or_strings(name, batch[name], name in texts) for name in names}
            )
            if self._n_read >= end:
                return


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

    try:
        column.validate(full=True)  # damaged files may number texts that are not there
    except (ValueError, LookupError) as error:
        raise ValueError(f"column {name!r} is damaged: {one_line(error)}") from None
    if types.is_dictionary(column.type):
        _check_length(name, column)
        column = column.dictionary_decode()
    kind = column.type
    if types.is_boolean(kind):
        return pc.if_else(column, "True", "False")
    if _is_number(kind) and not as_text:
        return column.cast(pa.float64(), safe=False)
    return column.cast(pa.string())


def _is_number(kind) -> bool:
    from pyarrow import types

    return types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind)
