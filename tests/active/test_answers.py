"""Labels, undo and replay: whatever is done, the state follows from the actions."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayespoint.active import UNKNOWN, Action
from bayespoint.active.answers import NO_ANSWER, NO_CLASS, Answers

N_ROWS = 6
steps = st.lists(
    st.tuples(
        st.sampled_from(["train", "audit", "unknown", "skip", "undo"]),
        st.integers(0, N_ROWS - 1),
        st.sampled_from(["a", "b", "c"]),
    ),
    max_size=25,
)


def do(answers, step):
    kind, row, label = step
    if kind == "undo":
        if answers.can_undo:
            answers.undo()
    elif kind == "skip":
        answers.skip(row)
    else:
        mark = answers.mark(row, True) if kind == "audit" else ""
        answers.tell(row, UNKNOWN if kind == "unknown" else label, mark)


def state(answers):
    return (
        dict(answers.labels),
        list(answers.training),
        dict(answers.skipped),
        answers.codes.tolist(),
    )


@given(steps)
def test_replay_gives_the_same_state(given_steps):
    first = Answers(N_ROWS, 3)
    for step in given_steps:
        do(first, step)
    second = Answers(N_ROWS, 3)
    for action in first.actions:
        second.replay(action)
    assert state(first) == state(second)
    assert first.actions == second.actions


@given(steps)
def test_undo_takes_back_everything(given_steps):
    answers = Answers(N_ROWS, 3, ["a", "b", "c"])
    states = [state(answers)]
    for step in given_steps:
        if step[0] != "undo":
            do(answers, step)
            states.append(state(answers))
    while answers.can_undo:
        assert state(answers) == states.pop()
        answers.undo()
    assert state(answers) == states[0]


@given(steps)
def test_codes_follow_labels(given_steps):
    answers = Answers(N_ROWS, 3)
    for step in given_steps:
        do(answers, step)
    for row in range(N_ROWS):
        label = answers.labels.get(row, None)
        code = answers.codes[row]
        if row not in answers.labels:
            assert code == NO_ANSWER
        elif label is UNKNOWN:
            assert code == NO_CLASS
        else:
            assert answers.classes[code] == label


def test_audited_rows_are_learned_from_only_when_used():
    answers = Answers(N_ROWS, 3)
    answers.tell(0, "a", answers.mark(0, True))
    answers.tell(1, "b", answers.mark(1, False))
    assert answers.taught()[0].tolist() == [1]
    answers.tell(0, "b", "")  # a correction
    assert answers.taught()[0].tolist() == [1]
    answers.use(0)
    assert answers.taught()[0].tolist() == [1, 0]
    assert answers.undo() == (0, "")
    assert answers.training == [1]
    assert answers.labels[0] == "a"


def test_the_mark_of_another_row_or_seed_is_no_audit():
    answers = Answers(N_ROWS, 3)
    answers.tell(0, "a", Answers(N_ROWS, 4).mark(0, True))
    answers.tell(1, "a", answers.mark(2, True))
    assert answers.training == [0, 1]


def test_unknown_is_one_object():
    assert pickle.loads(pickle.dumps(UNKNOWN)) is UNKNOWN
    assert repr(UNKNOWN) == "UNKNOWN"


def test_unknown_rows_teach_nothing():
    answers = Answers(N_ROWS, 3)
    answers.tell(0, UNKNOWN)
    answers.tell(1, "a")
    rows, codes = answers.taught()
    assert (rows.tolist(), codes.tolist()) == ([1], [0])
    assert np.sum(answers.codes == NO_CLASS) == 1


def test_clear_errors():
    answers = Answers(N_ROWS, 3)
    with pytest.raises(ValueError, match="no answer to take back"):
        answers.undo()
    with pytest.raises(ValueError, match="An action should be"):
        answers.replay(Action("erase", 0))
