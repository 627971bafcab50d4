import bz2
import gzip
import io

import numpy as np
import pytest

from bayespoint.io.tables import libsvm_table
from bayespoint.io.tables.open_table import open_table
from table_helpers import standard_input, table_of

TEXT = "# title\n\n1 1:1\n-1 2:2 # why\n\n1 3:3"


def test_comments_blank_lines_and_a_last_line_without_end(tmp_path):
    chunks = list(table_of(tmp_path, TEXT, "t.svm").sparse_chunks(2, 3))
    assert [X.shape for X, _ in chunks] == [(2, 3), (1, 3)]
    np.testing.assert_array_equal(np.vstack([X.toarray() for X, _ in chunks]), np.diag([1, 2, 3]))
    np.testing.assert_array_equal(np.concatenate([y for _, y in chunks]), [1, -1, 1])


def test_features_count_from_one_in_every_chunk(tmp_path):
    """A chunk has feature 1 even if it does not occur there."""
    chunks = list(table_of(tmp_path, "1 1:1\n1 2:1\n", "t.svm").sparse_chunks(1, None))
    assert [X.shape[1] for X, _ in chunks] == [1, 2]


def test_errors_name_the_rows(tmp_path):
    with pytest.raises(ValueError, match=r"t.svm, rows 3 to 4: "):
        list(table_of(tmp_path, "1 1:1\n" * 3 + "1 x:y\n", "t.svm").sparse_chunks(2, 2))
    content = gzip.compress(b"1 1:1\n" * 100_000)[:-20]
    with pytest.raises(ValueError, match=r"t.svm is damaged or cut off"):
        list(table_of(tmp_path, content, "t.svm").sparse_chunks(1000, 2))
    text = b"".join(b"1 1:%d\n" % (i * i) for i in range(200_000))
    damaged = bytearray(bz2.compress(text, 1))  # blocks of 100 kB: the head is intact
    damaged[-len(damaged) // 4 :] = b"\xff" * (len(damaged) // 4)
    with pytest.raises(ValueError, match=r"t.svm is damaged or cut off: Invalid data stream"):
        list(table_of(tmp_path, bytes(damaged), "t.svm").sparse_chunks(1000, 2))


def test_long_rows(tmp_path, monkeypatch):
    """A small compressed file may hold a row, or many rows, that fill the memory."""
    monkeypatch.setattr(libsvm_table, "MAX_ROW_BYTES", 1000)
    monkeypatch.setattr(libsvm_table, "MAX_CHUNK_BYTES", 900)
    row = "1" + " 1:" + "0" * 400 + "1\n"
    sizes = [len(y) for _, y in table_of(tmp_path, row * 5, "t.svm").sparse_chunks(4, 1)]
    assert sizes == [3, 2]  # the third row brings the text to 900 bytes or more
    with pytest.raises(ValueError, match=r"t.svm has a row of more than 0 MB. Is it LIBSVM?"):
        list(table_of(tmp_path, row + "1 1:" + "1" * 996, "t.svm").sparse_chunks(4, 1))


class CountedReads(io.BytesIO):
    n_reads = 0

    def read(self, *arguments):
        self.n_reads += 1
        return super().read(*arguments)


def test_lines_are_not_read_byte_by_byte():
    raw = CountedReads(b"1 1:1\n-1 2:1\n" * 50_000)
    with standard_input(raw):
        (X, _), *rest = open_table("-").sparse_chunks(1_000_000, 2)
    assert not rest
    assert X.shape == (100_000, 2)
    assert raw.n_reads < 20
