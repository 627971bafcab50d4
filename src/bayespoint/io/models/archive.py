"""A text and arrays in one zip file without compression, written completely or not at all."""

from __future__ import annotations

import math
import os
import struct
from collections.abc import Iterable, Sequence
from typing import BinaryIO, NamedTuple
from zipfile import ZIP_STORED, BadZipFile, ZipFile, ZipInfo

import numpy as np

from ..._runtime.atomic import in_place_of

TEXT_MEMBER = "model.json"
# Once parsed into Python objects, the text may take thirty times as much memory.
MAX_TEXT_BYTES = 2**26
# Together with the text, as many members as a zip file can count without an extension.
MAX_ARRAYS = 2**16 - 2
# An entry of the zip directory: fixed part, eight-byte sizes and offset, and any of our names.
MAX_ENTRY_BYTES = 46 + 28 + 32
# The end of the zip directory: its 64-bit form, the locator of this form, and the plain form.
LONG_END_BYTES, LOCATOR_BYTES, END_BYTES = 56, 20, 22
# Read arrays this many bytes at a time.
BLOCK_BYTES = 2**20
# The size of larger arrays may need eight bytes in the zip file.
ZIP64_ARRAY_BYTES = 2**30
# An array of numpy's format begins with this, then the length of its header.
NPY_MAGIC = b"\x93NUMPY\x01\x00"
# The only flag that a member may have: its name is UTF-8.
UTF_8_FLAG = 0x800


class ModelFileError(ValueError):
    """A file is not a model file, is damaged, or cannot hold the model.

    Examples
    --------
    >>> import tempfile
    >>> from bayespoint import load, model_file
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     try:
    ...         load(folder)
    ...     except model_file.ModelFileError as error:
    ...         print(str(error).removeprefix(folder))
     is a directory or a device, not a model file. Give the name of a file.
    """


class Layout(NamedTuple):
    """How an array is stored, as the text describes it."""

    dtype: np.dtype
    shape: tuple[int, ...]  # in the file
    axes: tuple[int, ...]  # the array's axes in the order of the file

    @property
    def n_bytes(self) -> int:
        return math.prod(self.shape) * self.dtype.itemsize


def array_name(index: int) -> str:
    return f"arrays/{index}.npy"


def write(path: str | os.PathLike, text: str, arrays: Sequence[np.ndarray]) -> None:
    """Write a text and arrays to a new file, which then replaces the old one."""
    content = text.encode("ascii")
    if len(content) > MAX_TEXT_BYTES or len(arrays) > MAX_ARRAYS:
        raise ModelFileError(
            f"A model file holds at most {MAX_ARRAYS} arrays and {MAX_TEXT_BYTES} bytes of names "
            f"and other numbers, but the model has {len(arrays)} arrays and {len(content)} "
            "bytes. Use fewer columns or categories."
        )
    with in_place_of(path) as file, ZipFile(file, "w", ZIP_STORED) as archive:
        # ZipInfo has a fixed date, so that equal models make equal files.
        archive.writestr(ZipInfo(TEXT_MEMBER), content)
        for index, array in enumerate(arrays):
            is_large = array.nbytes > ZIP64_ARRAY_BYTES
            with archive.open(ZipInfo(array_name(index)), "w", force_zip64=is_large) as member:
                np.lib.format.write_array(member, array, version=(1, 0), allow_pickle=False)


class Archive:
    """An open file that should come from `write`; everything in it is checked."""

    def __init__(self, file: BinaryIO) -> None:
        size = os.fstat(file.fileno()).st_size
        _check_directory(file, size)
        self._zip = ZipFile(file)
        self._members = {info.filename: info for info in self._zip.infolist()}
        for info in self._zip.infolist():
            _check_member(info, size)
        # Members that do not overlap need no more memory than the size of the file.
        if sum(info.file_size for info in self._zip.infolist()) > size:
            raise BadZipFile("members overlap")
        if len(self._members) < len(self._zip.infolist()):
            raise BadZipFile("two members have the same name")

    def __contains__(self, name: str) -> bool:
        return name in self._members

    def text(self) -> str:
        """Return the text."""
        if self._members[TEXT_MEMBER].file_size > MAX_TEXT_BYTES:
            raise BadZipFile(f"{TEXT_MEMBER} is longer than {MAX_TEXT_BYTES} bytes")
        return self._zip.read(TEXT_MEMBER).decode("ascii")

    def arrays(self, layouts: Iterable[Layout]) -> list[np.ndarray]:
        """Return the arrays; the archive should hold nothing besides them and the text."""
        layouts = list(layouts)
        expected = {TEXT_MEMBER, *(array_name(index) for index in range(len(layouts)))}
        if self._members.keys() != expected:
            wrong = sorted(self._members.keys() ^ expected)[0]
            raise BadZipFile(f"{wrong!r} is missing or does not belong there")
        return [self._array(array_name(index), layout) for index, layout in enumerate(layouts)]

    def _array(self, name: str, layout: Layout) -> np.ndarray:
        """Read an array. The text of numpy's header is not parsed: the layout is known."""
        header_bytes = self._members[name].file_size - layout.n_bytes
        text_bytes = header_bytes - len(NPY_MAGIC) - 2
        if not 0 <= text_bytes < 2**16:
            raise BadZipFile(f"{name} is not an array of shape {layout.shape}")
        expected = NPY_MAGIC + struct.pack("<H", text_bytes)
        array = np.empty(layout.shape, layout.dtype)
        target = array.reshape(-1).view(np.uint8)
        with self._zip.open(name) as member:
            if not member.read(header_bytes).startswith(expected):
                raise BadZipFile(f"{name} is not an array of shape {layout.shape}")
            for start in range(0, len(target), BLOCK_BYTES):
                block = target[start : start + BLOCK_BYTES]
                block[:] = np.frombuffer(member.read(len(block)), np.uint8)
            member.read()  # zipfile compares the checksum at the end
        return array.transpose(np.argsort(layout.axes))


def _check_directory(file: BinaryIO, size: int) -> None:
    """Refuse a directory with more members than `write` makes, before it is read."""
    n_bytes = LONG_END_BYTES + LOCATOR_BYTES + END_BYTES
    file.seek(max(size - n_bytes, 0))
    tail = file.read(n_bytes).rjust(n_bytes, b"\0")
    long_end, locator = tail[:LONG_END_BYTES], tail[LONG_END_BYTES:-END_BYTES]
    end = tail[-END_BYTES:]
    if not (end.startswith(b"PK\x05\x06") and end.endswith(b"\0\0")):
        raise BadZipFile("its end is missing")
    entries, length = struct.unpack("<10xHL6x", end)
    if locator.startswith(b"PK\x06\x07") and long_end.startswith(b"PK\x06\x06"):
        entries, length = struct.unpack("<32xQQ8x", long_end)
    if entries > MAX_ARRAYS + 1 or length > entries * MAX_ENTRY_BYTES:
        raise BadZipFile(f"it has {entries} members in a directory of {length} bytes")
    file.seek(0)


def _check_member(info: ZipInfo, size: int) -> None:
    stored = info.compress_type == ZIP_STORED and info.compress_size == info.file_size
    if not stored or info.flag_bits & ~UTF_8_FLAG or not 0 <= info.file_size <= size:
        raise BadZipFile(f"{info.filename!r} is compressed, encrypted or too large")
