"""When a model with parameters chosen anew is due, which takes long, and when it is used."""

from __future__ import annotations

import copy
import threading
from typing import Any

import numpy as np

from .answers import Answers
from .learner import Learner
from .promise import Checkpoint, checkpoint_of

# The first checkpoint has learned this many answers, each further one this many times as many.
FIRST_CHECKPOINT, CHECKPOINT_RATIO = 5, 1.5
# It is used this many answers later, so that it can be computed while a person thinks.
CHECKPOINT_DELAY = 2


class Schedule:
    """Make checkpoints after fixed numbers of answers, however fast they are computed.

    Parameters
    ----------
    learner : Learner
        It goes on from each new checkpoint.
    answers : Answers
        What the person said.
    X : array-like or data frame
        The pool.
    """

    def __init__(self, learner: Learner, answers: Answers, X):
        self._learner = learner
        self._answers = answers
        self._X = X
        self._next = float(FIRST_CHECKPOINT)
        self._slow = threading.Lock()
        self.due: Due | None = None

    def note(self) -> None:
        """Remember the answers that the next checkpoint learns from, when there are enough."""
        rows, codes = self._answers.taught()
        if self.due is None and len(rows) >= self._next and len(np.unique(codes)) > 1:
            labels = self._answers.classes_of(codes)
            self.due = Due(rows, labels, np.array(self._answers.training), self._answers.n_choices)
            self._next = max(len(rows), self._next) * CHECKPOINT_RATIO

    def finish(self) -> Checkpoint | None:
        """Return the checkpoint that is to be used now, if there is one."""
        due = self.due
        if due is None or len(self._answers.taught()[0]) < len(due.rows) + CHECKPOINT_DELAY:
            return None
        self.compute(due)
        model = due.checkpoint.model
        # The learner's model learns more rows, this one must not.
        own = copy.deepcopy(model) if hasattr(model, "forget") else model
        self._learner.start_from(own, due.rows, due.labels.tolist())
        self.due = None
        return due.checkpoint

    def compute(self, due: Due) -> None:
        """Train the model that is due; another thread may call this early."""
        with self._slow:
            if due.checkpoint is None:
                model = self._learner.fit(due.rows, due.labels)
                due.checkpoint = checkpoint_of(
                    model, self._X, self._answers.classes, due.training, due.n_choices
                )


class Due:
    """A checkpoint to be computed."""

    def __init__(self, rows: np.ndarray, labels: np.ndarray, training: np.ndarray, n_choices: int):
        self.rows = rows
        self.labels = labels
        self.training = training
        self.n_choices = n_choices
        self.checkpoint: Any = None
