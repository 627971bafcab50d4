import bz2
import gzip
import io
import lzma
import sys

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
