"""Pictures of rows: files that the pool names, below one folder, and data URIs."""

from __future__ import annotations

import base64
import binascii
import re
from pathlib import Path
from typing import NamedTuple

# Formats that browsers show and that cannot hold scripts.
TYPES = {
    ".avif": "image/avif",
    ".bmp": "image/bmp",
    ".gif": "image/gif",
    ".jpeg": "image/jpeg",
    ".jpg": "image/jpeg",
    ".png": "image/png",
    ".webp": "image/webp",
}
MAX_IMAGE_BYTES = 50 * 2**20
DATA_URI = re.compile(r"data:(image/[a-z0-9.+-]+);base64,", re.IGNORECASE)


class ImageError(Exception):
    """A picture that cannot be shown, and why."""


class Image(NamedTuple):
    """The content of a picture, for a browser."""

    content: bytes
    media_type: str


def read_image(cell: str, folder: Path) -> Image:
    """Return the picture that a cell names, if it is below the folder.

    Raises
    ------
    ImageError
        If there is none, it is elsewhere, or it is no picture.
    """
    found = DATA_URI.match(cell)
    if found:
        return _from_uri(cell[found.end() :], found[1].lower())
    if re.match(r"[a-z][a-z0-9+.-]+:", cell, re.IGNORECASE):
        raise ImageError("The picture has an address on the network, and the page stays offline.")
    return _from_file(cell, folder)


def _from_uri(data: str, media_type: str) -> Image:
    if media_type not in TYPES.values():
        raise ImageError(f"The picture is {media_type}, which is not shown.")
    try:
        return Image(base64.b64decode(data, validate=True), media_type)
    except binascii.Error:
        raise ImageError("The picture in the cell is damaged.") from None


def _from_file(name: str, folder: Path) -> Image:
    try:
        path = (folder / name.strip()).resolve()
        inside = path.is_relative_to(folder.resolve())
        media_type = TYPES.get(path.suffix.lower())
        if not inside:
            raise ImageError(f"The picture is not below {folder}. --image-folder names another.")
        if media_type is None:
            raise ImageError(f"{path.name!r} is not shown: it should be one of {', '.join(TYPES)}.")
        if not path.is_file():
            raise ImageError(f"There is no picture {name.strip()!r} below {folder}.")
        if path.stat().st_size > MAX_IMAGE_BYTES:
            raise ImageError(f"{path.name!r} has more than {MAX_IMAGE_BYTES // 2**20} MB.")
        return Image(path.read_bytes(), media_type)
    except (OSError, ValueError, RuntimeError) as error:  # a null byte, a loop of links
        raise ImageError(f"The picture {name[:80]!r} cannot be read: {error}") from None
