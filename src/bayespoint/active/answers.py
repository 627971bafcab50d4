"""What a person has answered so far: labels, what they are used for, and how to take them back."""

from __future__ import annotations

import hashlib
from typing import Any, NamedTuple

import numpy as np

__all__ = ["UNKNOWN", "Action", "Answers"]


class _Unknown:
    """The label of a row that the person cannot label."""

    def __repr__(self) -> str:
        return "UNKNOWN"

    def __reduce__(self):
        return "UNKNOWN"


UNKNOWN = _Unknown()
# Codes of rows without a class.
NO_ANSWER, NO_CLASS = -1, -2


class Action(NamedTuple):
    """One entry of a journal. Replaying all of them restores a session.

    Examples
    --------
    >>> from bayespoint import active
    >>> session = active.Session(None, [[0.0], [1.0], [2.0]], random_state=0)
    >>> session.tell(2, "yes")
    >>> session.actions
    [Action(verb='label', row=2, label='yes', mark='')]
    """

    verb: str  # "label", "skip", "undo", or "use": learn from a row that was audited before
    row: int
    label: Any = None
    mark: str = ""  # says, to the session alone, why the row was asked about


class Undo(NamedTuple):
    """What an action changed."""

    row: int
    mark: str
    had_label: bool
    label: Any
    n_training: int
    skipped: dict[int, Skipped]


class Skipped(NamedTuple):
    """A row to ask about later."""

    n_training: int  # rows to learn from when it was skipped
    mark: str


class Answers:
    """The answers to a session's questions.

    Attributes
    ----------
    labels : dict
        The label of each row that has one, UNKNOWN included.
    classes : list
        Classes in the order in which they appeared.
    training : list of int
        Rows to learn from, in order. The other labeled rows are audited: no model has seen them.
    skipped : dict
        Rows to ask about later, the one that was skipped first at the front.
    codes : ndarray of shape (n_rows,)
        The position of each row's class in `classes`, NO_ANSWER, or NO_CLASS if it is unknown.
    actions : list of Action
        Everything that happened.
    n_choices : int
        How often the person, not a question, decided what models learn: a row of one's own, a
        correction, or a row that is skipped. An answer that is taken back is asked for again, and
        does not count.
    """

    def __init__(self, n_rows: int, seed: int, classes=()):
        self.labels: dict[int, Any] = {}
        self.classes: list = list(classes)
        self.training: list[int] = []
        self.skipped: dict[int, Skipped] = {}
        self.codes = np.full(n_rows, NO_ANSWER)
        self.actions: list[Action] = []
        self.n_choices = 0
        self._used: set[int] = set()
        self._undo: list[Undo] = []
        self._seed = seed

    @property
    def can_undo(self) -> bool:
        """Return whether there is an answer to take back."""
        return bool(self._undo)

    def is_training(self, row: int) -> bool:
        """Return whether a model may have seen the row's label."""
        return row in self._used

    def in_training(self) -> np.ndarray:
        """Return for all rows whether a model may have seen their label."""
        mask = np.zeros(len(self.codes), dtype=bool)
        mask[self.training] = True
        return mask

    def is_open(self, row: int) -> bool:
        """Return whether nothing was said about a row."""
        return row not in self.labels and row not in self.skipped

    def mark(self, row: int, audit: bool) -> str:
        """Return a word that says whether a question was an audit, but not to a person."""
        text = f"{self._seed} {row} {audit}".encode()
        return hashlib.blake2b(text, digest_size=4).hexdigest()

    def tell(self, row: int, label, mark: str = "") -> None:
        """Store an answer. Only rows that were asked about as an audit are not learned from.

        A correction does not change that: what a model learns from must not depend on audits.
        """
        self._remember(row, mark)
        is_asked = bool(mark) and row not in self.labels
        is_audit = mark == self.mark(row, True) or row in self.labels
        self._set(row, label)
        self.skipped.pop(row, None)
        self.actions.append(Action("label", row, label, mark))
        if not is_audit and not self.is_training(row):
            self._learn(row)
        if not is_asked and self.is_training(row):
            self.n_choices += 1

    def skip(self, row: int, mark: str = "") -> None:
        """Ask about a row later."""
        self._remember(row, mark)
        self.skipped.pop(row, None)
        self.skipped[row] = Skipped(len(self.training), mark)
        self.n_choices += 1
        self.actions.append(Action("skip", row, None, mark))

    def use(self, row: int) -> None:
        """Learn from a row that was audited: a question about it would be the most useful."""
        self._learn(row)
        self.actions.append(Action("use", row))

    def undo(self) -> tuple[int, str]:
        """Take back the last answer, and return its row and mark."""
        if not self._undo:
            raise ValueError("There is no answer to take back.")
        last = self._undo.pop()
        if self.is_training(last.row) and (last.had_label or not last.mark):
            self.n_choices += 1
        if last.had_label:
            self._set(last.row, last.label)
        else:
            self.labels.pop(last.row, None)
            self.codes[last.row] = NO_ANSWER
        del self.training[last.n_training :]
        self._used = set(self.training)
        self.skipped = last.skipped
        self.actions.append(Action("undo", last.row))
        return last.row, last.mark

    def replay(self, action: Action) -> None:
        """Do again what an earlier session did."""
        if action.verb == "label":
            self.tell(action.row, action.label, action.mark)
        elif action.verb == "skip":
            self.skip(action.row, action.mark)
        elif action.verb == "use":
            self.use(action.row)
        elif action.verb == "undo":
            self.undo()
        else:
            raise ValueError(
                f'An action should be "label", "skip", "use" or "undo", but is {action.verb!r}.'
            )

    def taught(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows to learn from that have a class, and the codes of their classes."""
        rows = np.array(self.training, dtype=int)
        rows = rows[self.codes[rows] >= 0]
        return rows, self.codes[rows]

    def classes_of(self, codes: np.ndarray) -> np.ndarray:
        """Return the classes with these codes; the first class where there is none."""
        return np.array([self.classes[c] for c in np.maximum(codes, 0)])

    def forget_history(self) -> None:
        """Make what was told so far the beginning, which cannot be taken back."""
        self.actions.clear()
        self._undo.clear()
        self.n_choices = 0

    def _set(self, row: int, label) -> None:
        self.labels[row] = label
        if label is UNKNOWN:
            self.codes[row] = NO_CLASS
            return
        if label not in self.classes:
            self.classes.append(label)
        self.codes[row] = self.classes.index(label)

    def _learn(self, row: int) -> None:
        self.training.append(row)
        self._used.add(row)

    def _remember(self, row: int, mark: str) -> None:
        had, old = row in self.labels, self.labels.get(row)
        change = Undo(row, mark, had, old, len(self.training), dict(self.skipped))
        self._undo.append(change)
