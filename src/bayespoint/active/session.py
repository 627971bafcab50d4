"""A conversation with a person who labels rows: questions, answers, and a promise."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from ..classifiers.bayes_point import BayesPointClassifier
from ..classifiers.reject.option import RejectOptionClassifier
from .answers import Action, Answers
from .learner import Learner, with_seed
from .outcome import Predictions, predictions, reject_option
from .promise import Certificate, Progress, Promise
from .questions import Question, Questions
from .schedule import Schedule
from .summary import Summary, describe, summarize

__all__ = ["Session"]

# The first model has learned from two classes and at least this many rows.
MIN_LEARNED_ROWS = 4


class Session:
    """Ask for the labels that matter most, and promise an error at any time.

    Once there is a model that is worth it, two thirds of the questions are blind audits: random
    rows that no model learns from. The others are rows about which the model is most undecided.

    Parameters
    ----------
    estimator : classifier, default=None
        Any scikit-learn classifier; by default `BayesPointClassifier()`.
    X_pool : array-like or data frame of shape (n_rows, n_features)
        The rows, most of them without a label.
    classes : list, default=()
        Classes that are known beforehand. Others may come up in answers.
    labels : dict, default=None
        Labels that some rows have already; they are learned from.
    max_error : float, default=None
        The error to promise among the rows that the model answers. Without it there are no
        audits, and no promise.
    confidence_level : float, default=0.95
        The probability that the promise holds at every moment of the session.
    random_state : int, RandomState instance or None, default=None
        Seed of the order of audits.

    Attributes
    ----------
    labels : dict
        All answers so far, by row; UNKNOWN where the person does not know.
    classes : list
        Classes in the order in which they appeared.
    actions : list of Action
        Everything that happened. `replay` does it again in a new session with the same pool and
        `seed`. An answer is not lost if its actions are written down before the next question.
    seed : int
        The seed that was used.

    Notes
    -----
    The promise is about the rows of this pool that have no label yet: with probability
    `confidence_level`, at every moment at which `certificate().holds`, at most `max_error` of
    those that the model answers are wrong. A label is taken to be right, and to depend on the
    row alone, not on when it is asked about; so is "unknown". A row whose label the person does
    not know counts as wrong if the model answers it. Nothing is promised about rows from elsewhere.

    Questions, answers and corrections are deterministic: the same answers give the same session.
    `work` does slow steps early, in another thread if you like; it does not change the result.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from bayespoint import active
    >>> X, y = load_iris(return_X_y=True)
    >>> session = active.Session(None, X, random_state=0)
    >>> for _ in range(30):
    ...     row = session.ask()
    ...     session.tell(row, int(y[row]))
    >>> float((session.predict().label == y).mean()) > 0.9
    True
    """

    def __init__(
        self,
        estimator=None,
        X_pool=None,
        *,
        classes=(),
        labels=None,
        max_error=None,
        confidence_level=0.95,
        random_state=None,
    ):
        n_rows = np.shape(X_pool)[0] if np.ndim(X_pool) == 2 else 0
        if not n_rows:
            raise ValueError(
                f"X_pool should be a table with rows, but its shape is {np.shape(X_pool)}."
            )
        for name, value in (("max_error", max_error), ("confidence_level", confidence_level)):
            if not (value is None or 0 < value < 1):
                raise ValueError(f"{name} should be between 0 and 1, but is {value!r}.")
        self.X_pool = X_pool
        self.n_rows = n_rows
        self.max_error = max_error
        self.confidence_level = confidence_level
        self.seed = int(check_random_state(random_state).randint(2**31 - 1))
        self._answers = Answers(n_rows, self.seed, classes or ())
        estimator = BayesPointClassifier() if estimator is None else estimator
        self._learner = Learner(with_seed(estimator, self.seed), X_pool)
        self._promise = None
        if max_error is not None:
            self._promise = Promise(n_rows, self.seed, max_error, 1 - confidence_level)
        self._asked: Question | None = None
        self._schedule = Schedule(self._learner, self._answers, X_pool)
        self._questions = Questions(self._answers, self._learner, self._promise, self.seed)
        self._history: list[tuple[int, float, float, float, float]] = []
        self._lock = threading.RLock()
        for row, label in (labels or {}).items():
            self._answers.tell(self._check_row(row), label)
        self._answers.forget_history()

    @property
    def labels(self) -> dict[int, Any]:
        """All answers so far."""
        return self._answers.labels

    @property
    def classes(self) -> list:
        """Classes in the order in which they appeared."""
        return self._answers.classes

    @property
    def actions(self) -> list[Action]:
        """Everything that happened."""
        return self._answers.actions

    @property
    def model(self):
        """The model that is promised something about, else the newest; None before the first."""
        certified = self._certified()
        return self._learner.model if certified is None else certified.sample.checkpoint.model

    def ask(self) -> int | None:
        """Return the row to ask about, the same until there is an answer.

        Returns
        -------
        int or None
            A position in the pool; None if every row has a label.
        """
        with self._lock:
            if self._asked is None:
                self._update()
                self._asked = self._next_question()
            return None if self._asked is None else self._asked.row

    def tell(self, row: int, label) -> None:
        """Give the label of a row: the answer to a question, a correction, or a row of one's own.

        Parameters
        ----------
        row : int
            Position in the pool.
        label : class or UNKNOWN
            A class that is not known yet becomes one.
        """
        with self._lock:
            self._answers.tell(self._check_row(row), label, self.mark(row))
            self._went_on(row)

    def skip(self, row: int) -> None:
        """Ask about a row later.

        Parameters
        ----------
        row : int
            The row that is asked about now.
        """
        with self._lock:
            if self._asked is None or self._asked.row != self._check_row(row):
                raise ValueError(f"Row {row} is not asked about, so it cannot be skipped.")
            self._answers.skip(row, self.mark(row))
            self._went_on(row)

    def mark(self, row: int) -> str:
        """Return the mark that an answer about a row has now in `actions`.

        Parameters
        ----------
        row : int
            Position in the pool.

        Returns
        -------
        str
            It says, to the session alone, why the row was asked about; empty if it was not.
        """
        if self._asked is None or self._asked.row != row:
            skipped = self._answers.skipped.get(row)
            return "" if skipped is None else skipped.mark
        return self._answers.mark(row, self._asked.audit)

    def undo(self) -> int:
        """Take back the last answer.

        Returns
        -------
        int
            The row concerned, about which `ask` asks next.
        """
        with self._lock:
            row, mark = self._answers.undo()
            audit = mark == self._answers.mark(row, True)
            self._asked = Question(row, audit) if self._answers.is_open(row) else None
            self._update(at_once=False)
            return row

    def replay(self, actions) -> None:
        """Do again what an earlier session with the same pool and seed did.

        Parameters
        ----------
        actions : iterable of Action
            The actions of that session, in order.
        """
        with self._lock:
            for action in actions:
                self._check_row(action.row)
                self._answers.replay(action)
                self._schedule.note()
                self._update(at_once=False)
            self._asked = None

    def upcoming(self, n: int = 1) -> list[int]:
        """Return rows that will probably be asked about next.

        Parameters
        ----------
        n : int, default=1
            How many.

        Returns
        -------
        list of int
        """
        with self._lock:
            if self._learner.model is None:
                rows = self._questions.random_order
            else:
                rows = np.argsort(-self._learner.usefulness(), kind="stable")
            found = [
                int(r) for r in rows[: n + len(self.labels) + 1] if self._answers.is_open(int(r))
            ]
            return [r for r in found if self._asked is None or r != self._asked.row][:n]

    def work(self) -> bool:
        """Do a slow step that is due, so that `ask` does not have to wait for it.

        Returns
        -------
        bool
            Whether there was anything to do.
        """
        with self._lock:
            due = self._schedule.due
            if due is None or due.checkpoint is not None:
                return False
        self._schedule.compute(due)
        return True

    def certificate(self) -> Certificate:
        """Return what is promised now.

        Returns
        -------
        Certificate
        """
        with self._lock:
            certified, in_work = self._certified(), None
            if self._promise is not None and certified is None:
                in_work = self._promise.in_work(self._answers)
            return describe(self, self._promise, self._answers, certified, in_work)

    def summary(self) -> Summary:
        """Return what a person wants to know at a glance.

        Returns
        -------
        Summary
        """
        with self._lock:
            return summarize(self, self._promise, self._answers, self._learner, self._history)

    def predict(self) -> Predictions:
        """Return the label of every row, where it comes from, and what is promised.

        Returns
        -------
        Predictions
            Rows that the promise does not cover are "refused"; their label is the model's best
            guess.
        """
        with self._lock:
            self._update()
            return predictions(self.X_pool, self._answers, self.model, self._certified())

    def reject_option(self) -> RejectOptionClassifier | None:
        """Return the certified model as a classifier that refuses; None if nothing is certified.

        Returns
        -------
        RejectOptionClassifier
            Its threshold is the certified one. The promise is about this pool.
        """
        with self._lock:
            certified = self._certified()
            if certified is None:
                return None
            assert self.max_error is not None
            return reject_option(
                self.X_pool, self._answers, certified, self.max_error, self.confidence_level
            )

    def _check_row(self, row) -> int:
        if not 0 <= int(row) < self.n_rows:
            raise ValueError(f"row should be between 0 and {self.n_rows - 1}, but is {row!r}.")
        return int(row)

    def _went_on(self, row: int) -> None:
        """Prepare for the next question."""
        if self._asked is not None and self._asked.row == row:
            self._asked = None
        self._schedule.note()
        self._update(at_once=False)

    def _next_question(self) -> Question | None:
        """Return what to ask next; learn from audited rows that the model wants to know."""
        while True:
            question = self._questions.choose()
            if question is None or self._answers.is_open(question.row) or question.again:
                return question
            self._answers.use(question.row)
            self._schedule.note()
            self._update()

    def _update(self, at_once: bool = True) -> None:
        """Learn what was told, or only what would be another model if it were learned later."""
        self._finish_checkpoint()
        rows, codes = self._answers.taught()
        if len(rows) >= MIN_LEARNED_ROWS and len(np.unique(codes)) > 1:
            labels = self._answers.classes_of(codes).tolist()
            if at_once or not self._learner.can_wait(labels):
                self._learner.update(rows, labels)

    def _finish_checkpoint(self) -> None:
        checkpoint = self._schedule.finish()
        if checkpoint is not None and self._promise is not None:
            self._promise.add(checkpoint, self._answers)

    def _certified(self) -> Progress | None:
        return None if self._promise is None else self._promise.best(self._answers)
