"""Files of rows for tests, and the rows that come back."""

import io
import sys
from contextlib import contextmanager

from bayespoint.io.tables.open_table import open_table
from bayespoint.io.tables.read_options import ReadOptions


def table_of(folder, content, name="t.csv", **options):
    """Write a file and open it as a table."""
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return open_table(path, ReadOptions(**options))


def rows_of(table):
    return [row for batch in table.batches() for row in batch.to_pylist()]


@contextmanager
def standard_input(content):
    """Use bytes, or a stream of bytes, as standard input."""

    class In:
        buffer = io.BytesIO(content) if isinstance(content, bytes) else content

    before, sys.stdin = sys.stdin, In
    try:
        yield
    finally:
        sys.stdin = before
