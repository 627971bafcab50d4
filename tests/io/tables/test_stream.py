import bz2
import gzip
import io
import lzma
import sys

import numpy as np
import pytest

from bayespoint.io.tables.stream import HEAD_BYTES, PeekedStream, peek
from table_helpers import standard_input

CONTENT = bytes(range(256)) * 1000  # longer than several heads


def test_the_head_is_still_delivered():
    stream = PeekedStream(io.BytesIO(CONTENT))
    assert stream.head == CONTENT[:HEAD_BYTES]
    assert io.BufferedReader(stream).read() == CONTENT


def test_a_longer_head():
    stream = PeekedStream(io.BytesIO(CONTENT))
    while stream.extend_head():
        pass
    assert stream.head == CONTENT
    assert io.BufferedReader(stream).read() == CONTENT


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress])
def test_compression_is_removed(compress):
    stream, is_compressed = peek(io.BytesIO(compress(CONTENT)))
    assert is_compressed
    assert io.BufferedReader(stream).read() == CONTENT


def test_no_compression():
    stream, is_compressed = peek(io.BytesIO(b""))
    assert not is_compressed
    assert stream.read() == b""


def test_standard_input_stays_open():
    with standard_input(b"abc"):
        PeekedStream(sys.stdin.buffer).close()
        assert not sys.stdin.buffer.closed
    raw = io.BytesIO(b"abc")
    PeekedStream(raw).close()
    assert raw.closed


@pytest.mark.parametrize("compress", [bytes, gzip.compress])
def test_the_share_of_the_file_that_holds_some_bytes(tmp_path, compress):
    """It is known for bytes that were delivered long ago."""
    path, content = tmp_path / "file", np.random.default_rng(0).bytes(1_000_000)
    path.write_bytes(compress(content))
    with open(path, "rb") as raw:
        stream, _ = peek(raw)
        assert stream.share_of_file(0) is None  # nothing was read
        reader = io.BufferedReader(stream)
        assert reader.read() == content
    for share in (0.2, 0.5, 1):
        # A step of reading is the head, or what the reader and the decompressor buffer.
        assert stream.share_of_file(int(share * 1e6)) == pytest.approx(share, abs=0.15)
    assert stream.share_of_file(10_000_000) == 1


def test_the_share_of_a_pipe_is_not_known():
    stream, _ = peek(io.BytesIO(CONTENT))
    stream.readall()
    assert stream.share_of_file(100) is None


def test_files_are_closed_where_there_is_no_standard_input(tmp_path, monkeypatch):
    """As in services, and in windows without a console."""
    (tmp_path / "file").write_bytes(b"a,b\n1,2\n")
    monkeypatch.setattr(sys, "stdin", None)
    raw = open(tmp_path / "file", "rb")  # noqa: SIM115
    peek(raw)[0].close()
    assert raw.closed
