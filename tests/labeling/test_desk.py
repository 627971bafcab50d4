import errno

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayespoint import active
from bayespoint.labeling.desk import Refused
from bayespoint.labeling.entries import Answer
from bayespoint.labeling.journal import read
from bayespoint.labeling.labels import LabelError
from labeling_helpers import label, make_desk, two_groups


@pytest.fixture
def world(tmp_path):
    X, y = two_groups()
    desk = make_desk(tmp_path, X, max_error=0.2)
    yield desk, y
    desk.stop()
    desk.journal.close()


def answer_questions(desk, y, n):
    for _ in range(n):
        row = desk.session.ask()
        desk.act(label(row, y[row]))


def summary_of(desk):
    """Return everything that a resumed session must have in common with the first."""
    state = desk.state()
    return {k: state[k] for k in ("classes", "recent", "certificate")} | {
        "labels": {row: str(answer) for row, answer in desk.session.labels.items()},
        "training": desk.session._answers.training,
    }


def test_an_answer_is_on_the_disk_before_the_next_question(world, tmp_path):
    desk, y = world
    answer_questions(desk, y, 3)
    entries = read(desk.journal.path)[1]
    assert [entry.row for entry in entries] == list(desk.session.labels)
    assert [entry.label for entry in entries] == [y[entry.row] for entry in entries]
    assert [entry.key for entry in entries] == [desk.rows.key(entry.row) for entry in entries]


def test_the_same_request_twice_is_done_once(world):
    desk, _ = world
    desk.act(label(5, "yes", id="a"))
    desk.act(label(5, "yes", id="a"))
    desk.act(label(6, "no", id="b"))
    desk.act({"action": "undo", "id": "c"})
    desk.act({"action": "undo", "id": "c"})
    assert list(desk.session.labels) == [5]
    assert len(desk.journal.entries) == 3


def test_an_answer_that_another_window_gave_before(world):
    desk, _ = world
    desk.act(label(5, "yes"))
    desk.act(label(5, "yes"))  # the same: nothing to say
    assert len(desk.journal.entries) == 1
    with pytest.raises(Refused, match="Row 6 was changed in another window: it is “yes” now") as e:
        desk.act(label(5, "no"))
    assert e.value.kind == "stale"
    assert desk.session.labels == {5: "yes"}
    desk.act(label(5, "no", before={"label": "yes"}))
    assert desk.session.labels == {5: "no"}
    desk.act({"action": "undo"})
    desk.act({"action": "undo"})
    with pytest.raises(Refused, match="there is no answer any more"):
        desk.act(label(5, "no", before={"label": "yes"}))


def test_do_not_know_is_an_answer(world):
    desk, _ = world
    desk.act({"action": "unknown", "row": 5, "before": None})
    assert desk.session.labels[5] is active.UNKNOWN
    assert desk.answer(5) == {"label": None}
    assert desk.journal.entries[-1].action == "unknown"
    desk.act(label(5, "yes", before={"label": None}))
    assert desk.answer(5) == {"label": "yes"}


def test_skip_is_for_the_question_only(world):
    desk, _ = world
    row = desk.session.ask()
    desk.act({"action": "skip", "row": (row + 1) % 200})  # from a window that is behind
    assert desk.session.ask() == row
    assert desk.journal.entries == []
    desk.act({"action": "skip", "row": row})
    assert desk.session.ask() != row
    assert desk.state()["recent"][0]["action"] == "skip"


@pytest.mark.parametrize(
    "request_",
    [
        {},
        {"action": "fly", "row": 1},
        {"action": "label", "row": 200, "label": "yes"},
        {"action": "label", "row": -1, "label": "yes"},
        {"action": "label", "row": True, "label": "yes"},
        {"action": "label", "row": 1.5, "label": "yes"},
        {"action": "label", "row": None, "label": "yes"},
        {"action": "label", "row": 1, "label": ["yes"]},
        {"action": "label", "row": 1, "label": "yes", "id": 7},
        {"action": "undo"},
    ],
)
def test_nonsense_is_refused(world, request_):
    desk, _ = world
    with pytest.raises(Refused) as refused:
        desk.act(request_)
    assert refused.value.kind == "invalid"
    assert desk.journal.entries == []


def test_a_label_that_is_none_is_refused(world):
    desk, _ = world
    with pytest.raises(LabelError):
        desk.act(label(1, "NA"))
    assert desk.journal.entries == []


class FullDisk:
    def __init__(self, file):
        self._file = file

    def __getattr__(self, name):
        return getattr(self._file, name)

    def write(self, content):
        raise OSError(errno.ENOSPC, "No space left on device")


def test_a_full_disk_changes_nothing(world):
    desk, y = world
    answer_questions(desk, y, 30)
    before, row, file = summary_of(desk), desk.session.ask(), desk.journal._file
    desk.journal._file = FullDisk(file)
    for request_ in (label(row, y[row]), {"action": "skip", "row": row}, {"action": "undo"}):
        with pytest.raises(Refused, match="disk is full") as refused:
            desk.act(request_)
        assert refused.value.kind == "disk"
        assert summary_of(desk) == before
    desk.journal._file = file
    answer_questions(desk, y, 5)
    assert len(desk.session.labels) == 35


def test_a_disk_that_is_full_at_times_loses_nothing_of_the_session(tmp_path):
    """What the session did on its own, while nothing could be written, is written later."""
    X, y = two_groups()
    desk = make_desk(tmp_path, X, max_error=0.3)
    file = desk.journal._file
    for _ in range(100):
        desk.journal._file = FullDisk(file)
        row = desk.state()["question"]["row"]
        for request_ in (label(row, y[row]), {"action": "undo"}):
            with pytest.raises(Refused):
                desk.act(request_)
        desk.journal._file = file
        desk.act(label(row, y[row]))
    desk.state()
    done = [action for action in desk.session.actions if action.verb == "use"]
    written = [entry for entry in desk.journal.entries if entry.action == "use"]
    assert done
    assert [entry.row for entry in written] == [action.row for action in done]
    before = summary_of(desk)
    desk.journal.close()
    resumed = make_desk(tmp_path, X, max_error=0.3)
    assert summary_of(resumed) == before
    resumed.journal.close()


ACTIONS = st.lists(
    st.tuples(
        st.sampled_from(["answer", "wrong", "unknown", "skip", "undo", "other"]),
        st.integers(0, 199),
    ),
    max_size=40,
)


@settings(max_examples=15, deadline=None)
@given(ACTIONS)
def test_a_resumed_session_equals_the_one_that_was_killed(tmp_path_factory, actions):
    folder = tmp_path_factory.mktemp("desk")
    X, y = two_groups()
    other = {"yes": "no", "no": "yes"}
    desk = make_desk(folder, X, max_error=0.3)
    for action, number in actions:
        row = desk.session.ask()
        if action == "undo":
            if desk._done:
                desk.act({"action": "undo"})
            continue
        if action == "other":
            row = number
        said = other[y[row]] if action == "wrong" else y[row]
        name = action if action in ("unknown", "skip") else "label"
        desk.act({"action": name, "row": row, "label": said, "before": desk.answer(row)})
    before = summary_of(desk)
    desk.journal.close()  # nothing else is tidied up
    resumed = make_desk(folder, X, max_error=0.3)
    assert summary_of(resumed) == before
    resumed.journal.close()


def test_state_does_not_say_why_a_row_is_asked_about(world):
    """Two sessions that differ in that alone show the same, but for the row."""
    desk, y = world
    desk.start()
    seen = set()
    for _ in range(80):
        state = desk.state()
        question = desk.session._asked
        seen.add(question.audit)
        assert set(state["question"]) == {"row", "cells", "n_more_cells", "image", "answer"}
        text = repr(state)
        assert "upcoming" not in state
        assert "audit" not in text
        assert desk.session._answers.mark(question.row, question.audit) not in text
        desk.act(label(question.row, y[question.row]))
    assert seen == {True, False}


def test_answers_of_another_journal_are_taken_over(world):
    desk, y = world
    answers = [Answer(row, desk.rows.key(row), y[row], "t") for row in range(20)]
    desk.adopt([*answers, Answer(20, desk.rows.key(20), None, "t")])
    assert len(desk.session.labels) == 21
    assert desk.answer(20) == {"label": None}
    assert not any(action.mark for action in desk.session.actions)  # none is a blind test


def test_answers_are_listed_once_and_the_latest_first(world):
    desk, _ = world
    for row, name, before in ((4, "no", None), (9, "yes", None), (4, "yes", {"label": "no"})):
        desk.act(label(row, name, before))
    desk.act({"action": "unknown", "row": 2, "before": None})
    desk.act(label(7, "no"))
    desk.act({"action": "undo"})
    found = [(row["row"], row["answer"]["label"]) for row in desk.answers()]
    assert found == [(2, None), (4, "yes"), (9, "yes")]


def test_the_worker_learns_and_says_what_went_wrong(world, monkeypatch):
    desk, y = world
    answer_questions(desk, y, 10)

    def fail():
        raise ValueError("no luck")

    monkeypatch.setattr(desk.session, "work", fail)
    desk.start()
    desk.act(label(desk.session.ask(), "yes"))
    desk.stop()
    assert "no luck" in desk.state()["problem"]
    assert "Your answers are saved" in desk.state()["problem"]


def test_nothing_is_accepted_while_the_session_ends(world):
    desk, _ = world
    desk.request_finish()
    with pytest.raises(Refused, match="being finished"):
        desk.act(label(1, "yes"))
    desk.resume("no room")
    assert desk.state()["problem"] == "no room"
    desk.act(label(1, "yes"))


def test_every_row_has_an_answer(tmp_path):
    X, y = two_groups(6)
    desk = make_desk(tmp_path, X, n_rows=6)
    answer_questions(desk, y, 6)
    state = desk.state()
    assert state["question"] is None
    assert np.sum(list(state["summary"]["class_counts"].values())) == 6
    desk.journal.close()


def test_a_session_with_another_shape_of_journal_is_not_silent(tmp_path):
    """A journal about rows that the pool does not have is an error, not a guess."""
    X, y = two_groups(50)
    desk = make_desk(tmp_path, X)
    answer_questions(desk, y, 30)
    desk.journal.close()
    with pytest.raises(ValueError, match="row"):
        make_desk(tmp_path, X[:3])
