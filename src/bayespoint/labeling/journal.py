"""The journal of a session: every answer is on the disk before the next question is shown."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from .._runtime.atomic import lock_file, sync_folder
from .entries import ACTIONS, BEGIN, CLASS, FACTS, HEADER, Entry, from_lines, now, to_line

NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
# Windows locks bytes, and nobody can read them then: one far behind the end does no harm.
LOCKED_BYTE = 2**40


class JournalError(OSError):
    """An answer could not be written; the journal is as it was before."""


class Journal:
    """An append-only CSV file that one process writes.

    Attributes
    ----------
    path : Path
        The file.
    facts : dict
        What the first lines say about the session.
    entries : list of Entry
        All complete lines after the facts, in order.
    """

    def __init__(
        self, path: Path, facts: Mapping[str, Any], defaults: Mapping[str, Any] | None = None
    ):
        """Open a journal, or begin it with these facts, and with defaults for those that are None.

        Raises
        ------
        ValueError
            If the file is no journal, belongs to something else, or another process writes it.
        """
        self.path = Path(path)
        wanted = {name: str(facts[name]) for name in FACTS if facts.get(name) is not None}
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0)
        self._file = open(os.open(self.path, flags, 0o666), "r+b", buffering=0)  # noqa: SIM115
        try:
            if _lock(self._file) is False:
                raise ValueError(
                    f"Another process writes {self.path}: bayespoint label is already running "
                    "for this file. Use its page, or end it first."
                )
            if not _has_begun(self.path):
                _begin(self._file, {**(defaults or {}), **wanted})
                sync_folder(self.path.parent)
            self.facts, self.entries, self._size = read(self.path)
            _check_facts(self.path, self.facts, wanted)
            self._file.truncate(self._size)  # a line that was never finished
            for name in ("max_error", "confidence_level"):  # a promise may also begin later
                if name in wanted and name not in self.facts:
                    self.add_fact(name, wanted[name])
        except BaseException:
            self._file.close()
            raise

    def append(
        self, action: str, row: int | None = None, key: str = "", label: str = "", mark: str = ""
    ) -> Entry:
        """Write a line, and return when it is on the disk.

        Raises
        ------
        JournalError
            If the disk is full or fails. The line is not in the journal then.
        """
        entry = Entry(now(), action, row, key, label, mark)
        line = to_line(entry)
        try:
            self._file.seek(self._size)
            written = 0
            while written < len(line):
                written += self._file.write(line[written:]) or 0
            os.fsync(self._file.fileno())
        except OSError as error:
            with suppress(OSError):  # the next line overwrites what cannot be removed now
                self._file.truncate(self._size)
            raise JournalError(_explain(self.path, error)) from error
        self._size += len(line)
        self.entries.append(entry)
        return entry

    @property
    def classes(self) -> list[str]:
        """The classes that were named before the first answer or by an option."""
        return [entry.label for entry in self.entries if entry.action == CLASS]

    @property
    def actions(self) -> list[Entry]:
        """What the person did."""
        return [entry for entry in self.entries if entry.action in ACTIONS]

    def add_fact(self, name: str, value: Any) -> None:
        """Write a fact that the session did not have when it began."""
        self.append(name, label=str(value))
        self.facts[name] = self.entries.pop().label

    def close(self) -> None:
        """Close the file and let other processes write it."""
        self._file.close()


def read(path: str | Path) -> tuple[dict[str, str], list[Entry], int]:
    """Return the facts, the entries after them, and the bytes that are complete."""
    content = Path(path).read_bytes()
    facts: dict[str, str] = {}
    entries: list[Entry] = []
    begun = False
    for entry in from_lines(content, str(path)):
        if entry.action in FACTS:
            facts[entry.action] = entry.label
        elif begun:
            entries.append(entry)
        else:
            begun = entry.action == BEGIN
    if not begun:
        raise ValueError(f"{path} is not a journal of bayespoint label: it has not begun.")
    return facts, entries, content.rfind(b"\n") + 1


def _lock(file: Any) -> bool | None:
    """Hold a file until it is closed; False if another process holds it."""
    if sys.platform != "win32":
        return lock_file(file.fileno())
    import msvcrt

    file.seek(LOCKED_BYTE)
    try:
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
    except OSError:
        return False
    return True


def _has_begun(path: Path) -> bool:
    """Tell whether a file holds a journal; one that broke off before its first answer does not."""
    content = path.read_bytes()
    if b"\n" not in content and HEADER.encode().startswith(content):
        return False
    return any(entry.action not in FACTS for entry in from_lines(content, str(path)))


def _begin(file: Any, facts: Mapping[str, Any]) -> None:
    """Write the facts; if this is cut short, the next process begins again."""
    entries = [Entry(now(), name, label=str(value)) for name, value in facts.items()]
    lines = [HEADER.encode(), *map(to_line, [*entries, Entry(now(), BEGIN)])]
    file.seek(0)
    file.truncate()
    file.write(b"".join(lines))
    os.fsync(file.fileno())


def _check_facts(path: Path, facts: Mapping[str, str], wanted: Mapping[str, str]) -> None:
    """Refuse to go on with another file, target, seed or promise."""
    for name in ("target", "sha256", "seed", "max_error", "confidence_level"):
        if name in wanted and facts.get(name, wanted[name]) != wanted[name]:
            raise ValueError(_difference(path, name, facts, wanted[name]))


def _difference(path: Path, name: str, facts: Mapping[str, str], value: str) -> str:
    if name == "sha256":
        return (
            f"The answers in {path} belong to another content of {facts.get('pool')!r}: the file "
            "has changed since. To take them over, begin a new journal: --journal NEW.csv "
            f"--merge {path}"
        )
    if name == "target":
        return (
            f"The answers in {path} are classes of {facts.get(name)!r}, not of {value!r}. Give "
            "this target a journal of its own with --journal."
        )
    option = "--" + name.replace("_", "-")
    promise = "" if name == "seed" else " A promise is made once, before the answers."
    return (
        f"The session in {path} has {option} {facts.get(name, 'not set')}, not {value}.{promise} "
        f"Leave out {option} to go on, or begin a new journal with --journal."
    )


def _explain(path: Path, error: OSError) -> str:
    if error.errno in NO_ROOM:
        return (
            f"The disk is full: the answer could not be written to {path.name}. Make room and "
            "answer again. All answers before are safe."
        )
    return (
        f"The answer could not be written to {path.name} ({error.strerror or error}). All answers "
        "before are safe."
    )
