"""What to ask next, without a session around it."""

import numpy as np
import pytest

from bayespoint.active.answers import Answers
from bayespoint.active.questions import RANDOM_ROWS, ROWS_UNTIL_ASKED_AGAIN, Question, Questions


class Learner:
    """Row 7 would teach most, then row 8, and so on."""

    model = None

    def usefulness(self):
        return -np.abs(np.arange(2000) - 7.0) - 0.1 * (np.arange(2000) < 7)


@pytest.fixture
def desk():
    answers, learner = Answers(2000, 0, [0, 1]), Learner()
    return answers, learner, Questions(answers, learner, None, 0)


def answer(answers, question):
    answers.tell(question.row, 0, answers.mark(question.row, question.audit))


def test_without_a_model_rows_are_random(desk):
    answers, _, questions = desk
    rows = []
    for _ in range(5):
        rows.append(questions.choose().row)
        answer(answers, questions.choose())
    assert rows == questions.random_order[:5].tolist()


def test_random_rows_become_rare_and_never_end(desk):
    answers, learner, questions = desk
    learner.model = object()
    is_random = []
    while len(is_random) < 1000:
        question = questions.choose()
        useful = np.where(answers.in_training(), -np.inf, learner.usefulness()).argmax()
        is_random.append(question.row != useful)
        answer(answers, question)
    # A sum of independent draws of probability RANDOM_ROWS / n, within four deviations.
    chance = np.minimum(1, RANDOM_ROWS / np.arange(1, 1000))
    deviation = np.sqrt(np.sum(chance * (1 - chance)))
    assert abs(sum(is_random) - 1 - chance.sum()) < 4 * deviation
    assert any(is_random[100:])


def test_a_skipped_row_comes_back_after_some_rows_to_learn_from(desk):
    answers, _, questions = desk
    skipped = questions.choose()
    answers.skip(skipped.row, answers.mark(skipped.row, False))
    for _ in range(ROWS_UNTIL_ASKED_AGAIN):
        assert questions.choose().row != skipped.row
        answer(answers, questions.choose())
    assert questions.choose() == Question(skipped.row, False, again=True)


def test_an_audited_row_can_be_a_lesson(desk):
    answers, learner, questions = desk
    learner.model = object()
    for row in range(1000, 1100):
        answers.tell(row, 0, answers.mark(row, False))
    answers.tell(7, 1, answers.mark(7, True))
    rows = {questions._lesson()}
    while 7 not in rows:  # unless this one is random
        answers.tell(max(rows) + 1100, 0, answers.mark(max(rows) + 1100, False))
        rows = {questions._lesson()}
    assert rows == {7}
