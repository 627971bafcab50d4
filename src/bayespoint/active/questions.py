"""What to ask next: a skipped row again, a blind audit, a random row, or the most useful one."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .answers import Answers
from .learner import Learner
from .promise import Promise

# After n rows to learn from, the next one is random with probability RANDOM_ROWS / n: a class that
# no answer had so far is often far from all boundaries, where nobody would look for it.
RANDOM_ROWS = 4
# The share of questions that are blind audits, once there is a model worth an audit.
AUDIT_SHARE = 2 / 3
# A skipped row is asked about again after this many more rows to learn from. Audits do not count:
# what is learned must not depend on them.
ROWS_UNTIL_ASKED_AGAIN = 10


class Question(NamedTuple):
    """A row to ask about."""

    row: int
    audit: bool
    again: bool = False  # it was skipped before


class Questions:
    """Choose the next question.

    The rows to learn from depend on labels and the seed alone, never on audits.

    Parameters
    ----------
    answers : Answers
        What the person said.
    learner : Learner
        Its model says which rows would teach most.
    promise : Promise or None
        It says which row to audit.
    seed : int
        Of random rows, and of the choice between audits and rows to learn from.
    """

    def __init__(self, answers: Answers, learner: Learner, promise: Promise | None, seed: int):
        self._answers = answers
        self._learner = learner
        self._promise = promise
        self._seed = seed
        # Audits have orders of their own: nothing depends on both.
        self.random_order = np.random.default_rng(seed).permutation(len(answers.codes))

    def choose(self) -> Question | None:
        """Return the next question; None if every row has a label.

        It may be about a row with a label, which was audited: its label is to be learned then.
        """
        again = self._skipped_before(ROWS_UNTIL_ASKED_AGAIN)
        if again is not None:
            return again
        audit = self._audit()
        if audit is not None:
            return Question(audit, True)
        row = self._lesson()
        if row is not None:
            return Question(row, False)
        # All that is left was skipped.
        return self._skipped_before(0)

    def _skipped_before(self, n_rows: int) -> Question | None:
        """Return the row that was skipped first, if that is long ago."""
        for row, skipped in self._answers.skipped.items():
            if len(self._answers.training) - skipped.n_training >= n_rows:
                return Question(row, skipped.mark == self._answers.mark(row, True), again=True)
            break
        return None

    def _audit(self) -> int | None:
        """Return a row to audit, if it is time for one."""
        if self._promise is None:
            return None
        n_questions = sum(action.verb == "label" for action in self._answers.actions)
        if self._chance(0, n_questions) > AUDIT_SHARE:
            return None
        in_work = self._promise.in_work(self._answers)
        return None if in_work is None else in_work.next_row

    def _lesson(self) -> int | None:
        """Return the row whose label would teach most, or a random one."""
        open_ = ~self._answers.in_training()
        open_[list(self._answers.skipped)] = False
        if not open_.any():
            return None
        n_learned = len(self._answers.training)
        if self._learner.model is None or self._chance(1, n_learned) * n_learned < RANDOM_ROWS:
            return int(self.random_order[open_[self.random_order]][0])
        return int(np.argmax(np.where(open_, self._learner.usefulness(), -np.inf)))

    def _chance(self, purpose: int, number: int) -> float:
        """Return a random number that is the same when a session is replayed."""
        return float(np.random.default_rng([self._seed, purpose, number]).uniform())
