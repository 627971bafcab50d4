"""The desk where a session meets its journal: what is said is written first, then learned."""

from __future__ import annotations

import secrets
import threading
from collections import deque
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any, Literal

from ..active import UNKNOWN as DO_NOT_KNOW
from ..active import Action
from .entries import LABEL, SKIP, UNDO, UNKNOWN, USE, Answer, Entry
from .journal import Journal, JournalError
from .labels import check_label
from .rows import Rows
from .view import certificate_view, summary_view

# Answers listed on the page, the latest first.
MAX_RECENT = 60
# Answers in the grid.
MAX_ANSWERS = 1000
# Requests that are remembered, so that one that is sent twice is done once.
MAX_REMEMBERED = 200

Kind = Literal["stale", "invalid", "disk", "finishing"]


class Refused(Exception):
    """Something that is not done, and why, in words for the person."""

    def __init__(self, kind: Kind, message: str):
        super().__init__(message)
        self.kind = kind


class Desk:
    """One session that several windows may use.

    Parameters
    ----------
    session : active.Session
        What chooses questions and learns. Its answers are those of the journal.
    journal : Journal
        Where every action is written before it counts.
    rows : Rows
        How rows are shown.
    about : dict
        Facts for the page: name of the pool and of the target.
    """

    def __init__(self, session: Any, journal: Journal, rows: Rows, about: Mapping[str, Any]):
        self.session, self.journal, self.rows = session, journal, rows
        self.about = dict(about)
        self.version = 0
        self._writing_problem: str | None = None
        self._learning_problem: str | None = None
        self.results: list[dict[str, str]] | None = None
        self.finish_requested = threading.Event()
        self._id = secrets.token_hex(4)
        self._lock = threading.RLock()
        self._handled: deque[str] = deque(maxlen=MAX_REMEMBERED)
        self._done: list[Action] = []
        self._wake, self._stop = threading.Event(), threading.Event()
        self._worker = threading.Thread(target=self._work, name="bayespoint-label", daemon=True)
        actions = [_action(entry) for entry in journal.actions]
        session.replay(actions)
        for action in actions:
            self._note(action)
        self._n_written = len(session.actions)

    def start(self) -> None:
        """Begin to learn in the background."""
        self._wake.set()
        self._worker.start()

    def stop(self) -> None:
        """End the work in the background, after the step that is under way."""
        self._stop.set()
        self._wake.set()
        if self._worker.is_alive():
            self._worker.join()

    def act(self, request: Mapping[str, Any]) -> None:
        """Do what the person wants: label a row, not know it, skip it, or take back the last.

        Raises
        ------
        Refused
            If it cannot be done. Nothing has changed then.
        """
        action, row, label, number = _parse(request, len(self.rows))
        with self._lock:
            if number and number in self._handled:
                return
            if self.finish_requested.is_set():
                raise Refused("finishing", "The session is being finished. Nothing was changed.")
            if action == UNDO:
                if not self._done:
                    raise Refused("invalid", "There is nothing to undo.")
                row = self._done[-1].row
            if row is None:
                raise Refused("invalid", "A row is missing.")
            if action in (LABEL, UNKNOWN):
                label = check_label(label, self.session.classes) if action == LABEL else ""
                if not self._check_fresh(row, label if action == LABEL else None, request):
                    return
            elif action == SKIP and row != self.session.ask():
                return  # another window has moved on
            self._do(action, row, label)
            self._handled.append(number)
            self.version += 1
        self._wake.set()

    def adopt(self, answers: Iterable[Answer]) -> None:
        """Take over answers from another journal."""
        with self._lock:
            for answer in answers:
                self._do(UNKNOWN if answer.label is None else LABEL, answer.row, answer.label or "")
            self.version += 1
        self._wake.set()

    def _check_fresh(self, row: int, label: str | None, request: Mapping[str, Any]) -> bool:
        """Return whether an answer is news; refuse one that does not know of another window's."""
        now = self.answer(row)
        if now == request.get("before"):
            return True
        if now == {"label": label}:
            return False
        said = "there is no answer any more" if now is None else f"it is {_words(now['label'])} now"
        raise Refused(
            "stale",
            f"Row {row + 1} was changed in another window: {said}. Your answer "
            f"{_words(label)} was not saved.",
        )

    def _do(self, action: str, row: int, label: str) -> None:
        """Write what the person wants, then do it; change nothing if it cannot be written."""
        said = DO_NOT_KNOW if action == UNKNOWN else label
        mark = "" if action == UNDO else self.session.mark(row)
        verb = LABEL if action == UNKNOWN else action
        try:
            self._write()
            self._append(Action(verb, row, said if verb == LABEL else None, mark))
        except JournalError as error:
            raise Refused("disk", str(error)) from error
        if action == UNDO:
            self.session.undo()
        elif action == SKIP:
            self.session.skip(row)
        else:
            self.session.tell(row, said)

    def _write(self) -> None:
        """Write the actions of the session that are not in the journal yet."""
        while self._n_written < len(self.session.actions):
            self._append(self.session.actions[self._n_written])

    def _append(self, action: Action) -> None:
        verb, label = action.verb, "" if action.label is None else action.label
        if label is DO_NOT_KNOW:
            verb, label = UNKNOWN, ""
        self.journal.append(verb, action.row, self.rows.key(action.row), label, action.mark)
        self._n_written += 1
        self._note(action)

    def _note(self, action: Action) -> None:
        """Keep the list of what can be undone."""
        if action.verb == UNDO:
            self._done.pop()
        elif action.verb != USE:
            self._done.append(action)

    def answer(self, row: int) -> dict[str, str | None] | None:
        """Return the answer to a row: its label is None if the person does not know."""
        labels = self.session.labels
        if row not in labels:
            return None
        label = labels[row]
        return {"label": None if label is DO_NOT_KNOW else str(label)}

    def show(self, row: int, *, whole: bool = False) -> dict[str, Any]:
        """Return a row for the page, with its answer."""
        return self.rows.show(row, whole=whole) | {"answer": self.answer(row)}

    def mention(self, row: int) -> dict[str, Any]:
        """Return a row for a list."""
        return {
            "row": row,
            "preview": self.rows.preview(row),
            "image": self.rows.has_image(row),
            "answer": self.answer(row),
        }

    def answers(self) -> list[dict[str, Any]]:
        """Return the rows that were answered, the latest first, for a list."""
        with self._lock:
            rows = dict.fromkeys(action.row for action in reversed(self._done))
            answered = [row for row in rows if row in self.session.labels]
            return [self.mention(row) for row in answered[:MAX_ANSWERS]]

    def search(self, text: str) -> list[dict[str, Any]]:
        """Return rows that hold a text, for a list."""
        return [self.mention(row) for row in self.rows.search(text)]

    @property
    def stamp(self) -> str:
        """What changes with everything that the page shows."""
        return f"{self._id}-{self.version}"

    def state(self) -> dict[str, Any]:
        """Return everything that the page shows. It never says why a row is asked about.

        So it does not say which row would teach most either: a question about another row would
        be known for a blind one.
        """
        with self._lock:
            row = self.session.ask()
            with suppress(JournalError):  # it is written with the next answer
                self._write()
            return {
                "stamp": self.stamp,
                "about": self.about,
                "question": None if row is None else self.show(row),
                "classes": [str(name) for name in self.session.classes],
                "recent": [
                    self.mention(action.row) | {"action": action.verb}
                    for action in self._done[: -MAX_RECENT - 1 : -1]
                ],
                "summary": summary_view(self.session.summary(), self),
                "certificate": certificate_view(self.session.certificate()),
                "problem": self._writing_problem or self._learning_problem,
                "finishing": self.finish_requested.is_set(),
                "results": self.results,
            }

    def request_finish(self) -> None:
        """Accept no more answers, and ask the main thread to write the results."""
        with self._lock:
            self._writing_problem = None
            self.finish_requested.set()
            self.version += 1

    def resume(self, problem: str | None) -> None:
        """Accept answers again after results could not be written."""
        with self._lock:
            self._writing_problem = problem
            self.finish_requested.clear()
            self.version += 1

    def tell_results(self, results: list[dict[str, str]]) -> None:
        """Show which files were written."""
        with self._lock:
            self.results = results
            self.version += 1

    def _work(self) -> None:
        while not self._stop.is_set():
            self._wake.wait()
            self._wake.clear()
            try:
                while not self._stop.is_set() and self.session.work():
                    self.version += 1
                    self._learning_problem = None
            except Exception as error:  # answers are more important than the model
                words = f"The model could not learn: {error}. Your answers are saved."
                self._learning_problem = words
                self.version += 1


def _action(entry: Entry) -> Action:
    """Return a line of the journal as the session knows it."""
    if entry.action == UNKNOWN:
        return Action(LABEL, entry.row or 0, DO_NOT_KNOW, entry.mark)
    label = entry.label if entry.action == LABEL else None
    return Action(entry.action, entry.row or 0, label, entry.mark)


def _parse(request: Mapping[str, Any], n_rows: int) -> tuple[str, int | None, str, str]:
    """Return action, row, label and number of a request, or refuse it."""
    action, row = request.get("action"), request.get("row")
    label, number = request.get("label", ""), request.get("id", "")
    if action not in (LABEL, UNKNOWN, SKIP, UNDO):
        raise Refused("invalid", f"There is no action {str(action)[:40]!r}.")
    if action == UNDO:
        row = None
    elif type(row) is not int or not 0 <= row < n_rows:
        raise Refused("invalid", f"There is no row {str(row)[:40]!r}.")
    if not isinstance(label, str) or not isinstance(number, str):
        raise Refused("invalid", "A label should be a text.")
    return action, row, label, number


def _words(label: str | None) -> str:
    return "“don't know”" if label is None else f"“{label}”"
