"""Streams of bytes whose beginning can be looked at before they are read."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys
import zlib
from typing import Any

# The first bytes of compressed files.
DECOMPRESSORS: dict[bytes, Any] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ\x00": lzma.open,
}
# Look at this many bytes to find out what a file is.
HEAD_BYTES = 1 << 16
# Damaged compressed files raise these, besides ValueError.
DAMAGED_FILE_ERRORS = (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile)


class PeekedStream(io.RawIOBase):
    """A stream that keeps its first bytes in `head` and still delivers them."""

    def __init__(self, stream: Any):
        self.stream = stream
        self.head = stream.read(HEAD_BYTES) or b""
        self._unread = self.head

    def readable(self) -> bool:
        return True

    def readinto(self, buffer) -> int:
        data = self._unread[: len(buffer)] or self.stream.read(len(buffer)) or b""
        self._unread = self._unread[len(data) :]
        buffer[: len(data)] = data
        return len(data)

    def extend_head(self) -> bool:
        """Double the head; return False at the end of the stream."""
        data = self.stream.read(len(self.head)) or b""
        self.head += data
        self._unread += data
        return bool(data)

    def close(self) -> None:
        # The caller owns standard input.
        if self.stream is not sys.stdin.buffer:
            self.stream.close()
        super().close()


def peek(raw: Any) -> tuple[PeekedStream, bool]:
    """Return a stream without compression, and whether it was compressed."""
    stream = PeekedStream(raw)
    for magic, decompress in DECOMPRESSORS.items():
        if stream.head.startswith(magic):
            return PeekedStream(decompress(stream, "rb")), True
    return stream, False
