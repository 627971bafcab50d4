"""Write a file completely or not at all."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

# Files that are being written.
_drafts: set[Path] = set()


@contextmanager
def in_place_of(path: str | os.PathLike) -> Iterator[BinaryIO]:
    """Open a draft that replaces the file at `path` once it is complete and on the disk.

    Until then the old file stays. If anything fails, nothing of the draft is left.
    """
    target = Path(os.path.realpath(path))  # a link keeps pointing to the file
    if target.exists() and not target.is_file():
        raise IsADirectoryError(f"{path} is a directory or a device. Give the name of a file.")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"There is no folder {str(target.parent)!r} to write to.")
    draft = target.with_name(f".{secrets.token_hex(8)}.tmp")
    _drafts.add(draft)
    try:
        with open(draft, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            draft.chmod(stat.S_IMODE(target.stat().st_mode))
        os.replace(draft, target)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    finally:
        _drafts.discard(draft)
    _sync_folder(target.parent)


def remove_drafts() -> None:
    """Remove incomplete files, when the process is about to end."""
    for draft in list(_drafts):
        draft.unlink(missing_ok=True)


def _sync_folder(folder: Path) -> None:
    """Write the new name to the disk, where the operating system can do so."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
