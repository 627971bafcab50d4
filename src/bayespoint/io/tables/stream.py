"""Streams of bytes whose beginning can be looked at before they are read."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import sys
import threading
import zlib
from bisect import bisect_left
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


def is_damage(error: BaseException) -> bool:
    """Tell whether an error means that a compressed file is damaged, and not that a disk fails."""
    return isinstance(error, DAMAGED_FILE_ERRORS) or (
        type(error) is OSError and error.errno is None  # bzip2
    )


class PeekedStream(io.RawIOBase):
    """A stream that keeps its first bytes in `head` and still delivers them.

    It remembers which part of the `file` below held which of its bytes, because Arrow reads far
    ahead of the rows that it returns.
    """

    def __init__(self, stream: Any, file: Any = None):
        self.stream = stream
        self._file = stream if file is None else file
        self._n_delivered = 0
        self._marks: list[tuple[int, float]] = []  # delivered bytes, share of the file
        self.head = stream.read(HEAD_BYTES) or b""
        self._unread = self.head
        self._ended = False
        self.at_end = threading.Event()  # set once the reader knows that there is no more
        self.is_file = _share_read(self._file) is not None  # a pipe may wait for ever

    def readable(self) -> bool:
        return True

    def end(self) -> None:
        """Deliver nothing more."""
        self._ended = True

    def readinto(self, buffer) -> int:
        if self._ended:
            self.at_end.set()
            return 0
        data = self._unread[: len(buffer)] or self.stream.read(len(buffer)) or b""
        self._unread = self._unread[len(data) :]
        buffer[: len(data)] = data
        self._n_delivered += len(data)
        if not data:
            self.at_end.set()
        share = _share_read(self._file)
        if share is not None:
            self._marks.append((self._n_delivered, share))
        return len(data)

    def share_of_file(self, n_bytes: int) -> float | None:
        """Return the share of the file that holds the first bytes; None if it is not known."""
        if not self._marks:
            return None
        after = bisect_left(self._marks, (n_bytes, 0.0))
        return self._marks[min(after, len(self._marks) - 1)][1]

    def extend_head(self) -> bool:
        """Double the head; return False at the end of the stream."""
        data = self.stream.read(len(self.head)) or b""
        self.head += data
        self._unread += data
        return bool(data)

    def close(self) -> None:
        # The caller owns standard input.
        if self.stream is not getattr(sys.stdin, "buffer", None):
            self.stream.close()
        super().close()


def _share_read(file: Any) -> float | None:
    """Return the share of the bytes of a file that were read; None for a pipe."""
    try:
        return file.tell() / os.fstat(file.fileno()).st_size
    except (AttributeError, OSError, ValueError, ZeroDivisionError):
        return None


def peek(raw: Any) -> tuple[PeekedStream, bool]:
    """Return a stream without compression, and whether it was compressed."""
    stream = PeekedStream(raw)
    for magic, decompress in DECOMPRESSORS.items():
        if stream.head.startswith(magic):
            return PeekedStream(decompress(stream, "rb"), raw), True
    return stream, False
