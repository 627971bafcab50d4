"""Write a file completely or not at all."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

fcntl: Any
try:
    import fcntl
except ImportError:  # Windows, where nobody can remove an open file
    fcntl = None

DRAFT_SUFFIX = ".bayespoint-draft"
# Permissions of a draft, less those that the user takes away; only its writer may read the draft of
# a file that is there, which may be private.
NEW_MODE, DRAFT_MODE = 0o666, 0o600
# Files that are being written.
_drafts: set[Path] = set()


@contextmanager
def in_place_of(
    path: str | os.PathLike, partial: Path | None = None, only_new: bool = False
) -> Iterator[BinaryIO]:
    """Open a draft that replaces the file at `path` once it is complete and on the disk.

    Until then the old file stays. If anything fails, nothing of the draft is left. Drafts that
    killed processes have left in the folder are removed.

    Parameters
    ----------
    path : str or path
        The file.
    partial : Path, default=None
        If given, Ctrl-C moves what was written so far to this file, and leaves the other alone.
    only_new : bool, default=False
        Raise a FileExistsError at the end if there is a file by then, and leave it alone.
    """
    target = Path(os.path.realpath(path))  # a link keeps pointing to the file
    if target.exists() and not target.is_file():
        raise IsADirectoryError(f"{path} is a directory or a device. Give the name of a file.")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"There is no folder {str(target.parent)!r} to write to.")
    _remove_abandoned(target.parent)
    with _new_draft(target.parent, DRAFT_MODE if target.exists() else NEW_MODE) as draft:
        try:
            with open(draft, "wb") as file:
                yield file
                _sync(file)
        except KeyboardInterrupt:
            if partial is not None:
                _keep_mode(draft, target)
                os.replace(draft, partial)
            raise
        _keep_mode(draft, target)
        if only_new:
            _rename_new(draft, target)
        else:
            os.replace(draft, target)
    sync_folder(target.parent)


def remove_drafts() -> None:
    """Remove incomplete files, when the process is about to end."""
    for draft in list(_drafts):
        draft.unlink(missing_ok=True)


def _keep_mode(draft: Path, target: Path) -> None:
    """Give a draft the permissions of the file that it replaces."""
    if target.exists():
        draft.chmod(stat.S_IMODE(target.stat().st_mode))


def _rename_new(draft: Path, target: Path) -> None:
    """Give a draft its name, unless a file has it."""
    try:
        os.link(draft, target)  # unlike a new name, it replaces nothing
    except FileExistsError:
        raise
    except OSError:  # some file systems have no links
        if target.exists():
            raise FileExistsError(errno.EEXIST, "There is a file already", str(target)) from None
        os.replace(draft, target)


@contextmanager
def _new_draft(folder: Path, mode: int) -> Iterator[Path]:
    """Make an empty file that is locked, and remove it at the end if it is still there."""
    while True:
        draft = folder / f".{secrets.token_hex(8)}{DRAFT_SUFFIX}"
        _drafts.add(draft)
        descriptor = os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL, mode)
        try:
            if lock_file(descriptor) is False or not draft.exists():
                continue  # another process took it for abandoned before it was locked
            if fcntl is None:
                os.close(descriptor)
            yield draft
            return
        finally:
            draft.unlink(missing_ok=True)
            _drafts.discard(draft)
            if fcntl is not None:
                os.close(descriptor)


def _remove_abandoned(folder: Path) -> None:
    """Remove drafts that no process holds."""
    for draft in folder.glob(f".*{DRAFT_SUFFIX}"):
        # It may have gone in the meantime, or belong to another user.
        with suppress(OSError):
            if fcntl is None:
                draft.unlink()
                continue
            descriptor = os.open(draft, os.O_RDWR)
            try:
                if lock_file(descriptor):
                    draft.unlink()
            finally:
                os.close(descriptor)


def lock_file(descriptor: int) -> bool | None:
    """Hold a file until its descriptor is closed.

    Returns False if another process holds it, and None if files cannot be locked here.
    """
    if fcntl is None:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # some network file systems have no locks
        return None
    return True


def _sync(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    """Write the new name to the disk, where the operating system can do so."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
