"""LIBSVM: a class, then the features of a row that are not zero, as `number:value`."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

from ..._runtime.share_done import advance
from .stream import PeekedStream, is_damage
from .table import Table, damaged, one_line

# Read this many bytes at a time.
BUFFER_BYTES = 1 << 22
# No row may be longer: a small compressed file can hold one that fills the memory.
MAX_ROW_BYTES = 1 << 26
# A chunk with more text than this ends before it has all rows that were asked for.
MAX_CHUNK_BYTES = 1 << 28


class LIBSVMTable(Table):
    """An open LIBSVM file, which has no column names."""

    format = "libsvm"

    def __init__(self, name: str, stream: PeekedStream):
        super().__init__(name, io.BufferedReader(stream, BUFFER_BYTES))

    def sparse_chunks(self, n_rows: int, n_features: int | None) -> Iterator[tuple[Any, Any]]:
        """Yield CSR matrices of n_rows rows, and the numbers in front of the rows.

        A matrix has fewer rows if their text is very long.
        """
        from sklearn.datasets import load_svmlight_file  # loads much that tables do not need

        n_before = n_bytes = 0
        try:
            lines = self._lines_with_a_row()
            while text := _text_of(lines, n_rows):
                n_here, n_bytes = text.count(b"\n"), n_bytes + len(text)
                advance(self._stream.raw.share_of_file(n_bytes), "reading")
                try:
                    # All chunks must number features from 1, as is usual.
                    yield load_svmlight_file(
                        io.BytesIO(text), n_features=n_features, zero_based=False
                    )
                except (ValueError, OverflowError) as error:
                    rows = f"rows {n_before + 1} to {n_before + n_here}"
                    raise ValueError(f"{self.name}, {rows}: {one_line(error)}") from None
                n_before += n_here
        except Exception as error:
            if is_damage(error):
                raise ValueError(damaged(self.name, error)) from None
            raise
        finally:
            self.close()

    def _lines_with_a_row(self) -> Iterator[bytes]:
        """Yield lines other than comments and blank lines, each with its line end."""
        while line := self._stream.readline(MAX_ROW_BYTES):
            if len(line) == MAX_ROW_BYTES:
                raise ValueError(
                    f"{self.name} has a row of more than {MAX_ROW_BYTES >> 20} MB. Is it LIBSVM?"
                )
            if line.split(b"#", 1)[0].strip():
                yield line if line.endswith(b"\n") else line + b"\n"


def _text_of(lines: Iterator[bytes], n_rows: int) -> bytes:
    """Return the text of the next rows."""
    held: list[bytes] = []
    n_bytes = 0
    while len(held) < n_rows and n_bytes < MAX_CHUNK_BYTES and (line := next(lines, b"")):
        held.append(line)
        n_bytes += len(line)
    return b"".join(held)
