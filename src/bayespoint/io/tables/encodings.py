"""Find out in which encoding a text file is written."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from pathlib import Path

UTF8 = "utf-8"
BYTE_ORDER_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
# What Windows writes in Western Europe and America; a superset of the letters of latin-1.
WINDOWS = "cp1252"
# If this share of every other byte is zero, the text is UTF-16 without a mark.
MIN_ZERO_SHARE = 0.4
# Read at most this many bytes of a file to be sure of its encoding, so many at a time.
MAX_SCANNED_BYTES = 1 << 28
SCAN_BYTES = 1 << 22
# Show a word with letters of the guessed encoding, with this many bytes around them.
CONTEXT_BYTES = 12


def guess_encoding(head: bytes, path: str | Path | None = None) -> tuple[str, str]:
    """Guess the encoding of a text.

    Parameters
    ----------
    head : bytes
        The beginning of the text.
    path : path, default=None
        The file, if it can be read once more. Otherwise only the head decides.

    Returns
    -------
    encoding : str
        "utf-8" unless the bytes say something else.
    example : str
        A piece of text to check a guess by, or "" if the encoding is certain.
    """
    for mark, encoding in BYTE_ORDER_MARKS.items():
        if head.startswith(mark):
            return encoding, ""
    for start, encoding in ((1, "utf-16-le"), (0, "utf-16-be")):
        every_other = head[start::2]
        if every_other and every_other.count(0) >= MIN_ZERO_SHARE * len(every_other):
            return encoding, ""
    wrong = _first_wrong_bytes(head, path)
    if wrong is None:
        return UTF8, ""
    try:
        example = wrong.decode(WINDOWS)
    except UnicodeDecodeError:
        return UTF8, ""  # reading it as UTF-8 will raise an error that asks for the encoding
    return WINDOWS, " ".join(example.split())


def _first_wrong_bytes(head: bytes, path: str | Path | None) -> bytes | None:
    """Return the surroundings of the first bytes that are not UTF-8.

    Return None if there are none, or if other bytes are letters in UTF-8: then the file is
    damaged, and another encoding would ruin these letters.
    """
    decoder = codecs.getincrementaldecoder(UTF8)()
    for block in [head] if path is None else _blocks(path):
        pending = decoder.getstate()[0]
        try:
            decoded = decoder.decode(block)
        except UnicodeDecodeError as error:
            block = pending + block
            if not block.decode(UTF8, "ignore").isascii():
                return None
            piece = block[max(error.start - CONTEXT_BYTES, 0) : error.start + CONTEXT_BYTES]
            return max(piece.splitlines(), key=lambda line: sum(byte > 127 for byte in line))
        if not decoded.isascii():
            return None
    return None


def _blocks(path: str | Path) -> Iterator[bytes]:
    with open(path, "rb") as file:
        for _ in range(MAX_SCANNED_BYTES // SCAN_BYTES):
            block = file.read(SCAN_BYTES)
            if not block:
                return
            yield block
