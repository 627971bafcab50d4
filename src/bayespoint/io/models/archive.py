"""A text and arrays in one zip file, nothing of it compressed, written at once or not at all."""

from __future__ import annotations

import math
import os
import struct
from collections.abc import Iterable, Sequence
from typing import BinaryIO, NamedTuple
from zipfile import ZIP_STORED, BadZipFile, ZipFile, ZipInfo

import numpy as np

from ..._runtime.atomic import in_place_of

TEXT = "model.json"
MAX_TEXT = 2**26  # bytes; as Python objects it may take thirty times as much
MAX_ARRAYS = 2**16 - 2  # zip files need no extension for the number of members
ENTRY = 46  # bytes of a member in the directory of a zip file, without its name
LONG_ENTRY = ENTRY + 28 + 32  # with sizes and offset of eight bytes, and any of our names
BLOCK = 2**20  # bytes read at a time
MANY_BYTES = 2**30  # of an array, from which on its size may need eight bytes
MAGIC = b"\x93NUMPY\x01\x00"  # before the length of the header
UTF_8 = 0x800  # the only flag of a member that we know


class ModelFileError(ValueError):
    """A file is not a model file, is damaged, or cannot hold the model."""


class Layout(NamedTuple):
    """What an array looks like, as the text says it."""

    dtype: np.dtype
    shape: tuple[int, ...]  # as it is stored
    axes: tuple[int, ...]  # which of the array's axes come first, second, ... there

    @property
    def n_bytes(self) -> int:
        return math.prod(self.shape) * self.dtype.itemsize


def array_name(index: int) -> str:
    return f"arrays/{index}.npy"


def write(path: str | os.PathLike, text: str, arrays: Sequence[np.ndarray]) -> None:
    """Write a text and arrays to a new file, which then takes the place of the old one."""
    content = text.encode("ascii")
    if len(content) > MAX_TEXT or len(arrays) > MAX_ARRAYS:
        raise ModelFileError(
            f"A model file holds at most {MAX_ARRAYS} arrays and {MAX_TEXT} bytes of names and "
            f"numbers beside them, but the model has {len(arrays)} arrays and {len(content)} "
            "bytes. Use fewer columns or categories."
        )
    with in_place_of(path) as file, ZipFile(file, "w", ZIP_STORED) as archive:
        # Without the time of writing: equal models are equal files.
        archive.writestr(ZipInfo(TEXT), content)
        for index, array in enumerate(arrays):
            many = array.nbytes > MANY_BYTES
            with archive.open(ZipInfo(array_name(index)), "w", force_zip64=many) as member:
                np.lib.format.write_array(member, array, version=(1, 0), allow_pickle=False)


class Archive:
    """An open file that `write` made, or somebody else; it believes nothing."""

    def __init__(self, file: BinaryIO) -> None:
        size = os.fstat(file.fileno()).st_size
        _check_directory(file, size)
        self._zip = ZipFile(file)
        self._members = {info.filename: info for info in self._zip.infolist()}
        for info in self._zip.infolist():
            _check_member(info, size)
        # Then nothing can become larger than the file when it is read.
        if sum(info.file_size for info in self._zip.infolist()) > size:
            raise BadZipFile("members overlap")
        if len(self._members) < len(self._zip.infolist()):
            raise BadZipFile("two members have the same name")

    def __contains__(self, name: str) -> bool:
        return name in self._members

    def text(self) -> str:
        if self._members[TEXT].file_size > MAX_TEXT:
            raise BadZipFile(f"{TEXT} is longer than {MAX_TEXT} bytes")
        return self._zip.read(TEXT).decode("ascii")

    def arrays(self, layouts: Iterable[Layout]) -> list[np.ndarray]:
        """Return the arrays, which should be all that there is."""
        layouts = list(layouts)
        expected = {TEXT, *(array_name(index) for index in range(len(layouts)))}
        if self._members.keys() != expected:
            odd = sorted(self._members.keys() ^ expected)[0]
            raise BadZipFile(f"{odd!r} is missing or does not belong there")
        return [self._array(array_name(index), here) for index, here in enumerate(layouts)]

    def _array(self, name: str, layout: Layout) -> np.ndarray:
        """Read an array; what numpy's header before it says is for people, and not looked at."""
        length = self._members[name].file_size - layout.n_bytes
        if not 0 <= length - len(MAGIC) - 2 < 2**16:
            raise BadZipFile(f"{name} is not an array of shape {layout.shape}")
        expected = MAGIC + struct.pack("<H", length - len(MAGIC) - 2)
        array = np.empty(layout.shape, layout.dtype)
        target = array.reshape(-1).view(np.uint8)
        with self._zip.open(name) as member:
            if not member.read(length).startswith(expected):
                raise BadZipFile(f"{name} is not an array of shape {layout.shape}")
            for start in range(0, len(target), BLOCK):
                block = target[start : start + BLOCK]
                block[:] = np.frombuffer(member.read(len(block)), np.uint8)
            member.read()  # to the end, where the check sum is compared
        return array.transpose(np.argsort(layout.axes))


def _check_directory(file: BinaryIO, size: int) -> None:
    """Refuse a directory with more members than we write, before it is read."""
    n_bytes = 98
    file.seek(max(size - n_bytes, 0))
    tail = file.read(n_bytes).rjust(n_bytes, b"\0")
    long, locator, end = tail[:56], tail[56:76], tail[76:]
    if not (end.startswith(b"PK\x05\x06") and end.endswith(b"\0\0")):
        raise BadZipFile("its end is missing")
    entries, length = struct.unpack("<10xHL6x", end)
    if locator.startswith(b"PK\x06\x07") and long.startswith(b"PK\x06\x06"):
        entries, length = struct.unpack("<32xQQ8x", long)
    if entries > MAX_ARRAYS + 1 or length > entries * LONG_ENTRY:
        raise BadZipFile(f"it has {entries} members in a directory of {length} bytes")
    file.seek(0)


def _check_member(info: ZipInfo, size: int) -> None:
    plain = info.compress_type == ZIP_STORED and info.compress_size == info.file_size
    if not plain or info.flag_bits & ~UTF_8 or not 0 <= info.file_size <= size:
        raise BadZipFile(f"{info.filename!r} is compressed, encrypted or too large")
