import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayespoint.labeling.entries import (
    ACTIONS,
    COLUMNS,
    HEADER,
    LABEL,
    SKIP,
    UNDO,
    UNKNOWN,
    USE,
    Entry,
    final_answers,
    from_lines,
    now,
    to_line,
)

LABELS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=8).filter(str.isprintable)
ENTRIES = st.builds(
    Entry,
    st.just("2026-01-02T03:04:05.678Z"),
    st.sampled_from(ACTIONS),
    st.integers(0, 10**9),
    st.just("0123456789abcdef"),
    LABELS,
    st.sampled_from(["", "1ea5c1c2"]),
)


@given(st.lists(ENTRIES, max_size=6))
def test_what_is_written_is_read_by_us_and_by_others(entries):
    content = HEADER.encode() + b"".join(map(to_line, entries))
    assert list(from_lines(content, "j")) == entries
    header, *rows = csv.reader(io.StringIO(content.decode(), newline=""))
    assert header == list(COLUMNS)
    assert [row[4] for row in rows] == [entry.label for entry in entries]
    assert [int(row[2]) - 1 for row in rows] == [entry.row for entry in entries]


@given(st.lists(ENTRIES, max_size=6), st.data())
def test_a_cut_at_any_byte_leaves_the_lines_before_it(entries, data):
    lines = [HEADER.encode(), *map(to_line, entries)]
    content = b"".join(lines)
    cut = data.draw(st.integers(0, len(content)))
    n_whole = sum(sum(map(len, lines[:i])) <= cut for i in range(2, len(lines) + 1))
    assert list(from_lines(content[:cut], "j")) == entries[:n_whole]


def test_line_ends_and_marks_of_windows_are_read():
    content = "\ufeff" + HEADER.strip() + "\r\n2026,label,3,ab,yes,\r\n"
    assert list(from_lines(content.encode(), "j")) == [Entry("2026", LABEL, 2, "ab", "yes")]


@pytest.mark.parametrize(
    "line",
    ["nonsense", "t,label,0,k,yes,", "t,label,x,k,yes,", "t,fly,1,k,yes,", 't,label,1,k,"a,'],
)
def test_a_damaged_line_is_named(line):
    content = f"{HEADER}t,skip,1,k,,\n{line}\nt,skip,1,k,,\n"
    with pytest.raises(ValueError, match="Line 3 of j is damaged"):
        list(from_lines(content.encode(), "j"))


def test_another_file_is_not_a_journal():
    with pytest.raises(ValueError, match="not a journal"):
        list(from_lines(b"a,b\n1,2\n", "data.csv"))


def slow_answers(actions):
    """Keep a copy of everything before each action, to go back to."""
    states = [{}]
    for action, row, label in actions:
        if action == UNDO:
            states = states[:-1] or states
        elif action != USE:
            now_ = dict(states[-1])
            if action != SKIP:
                now_[row] = None if action == UNKNOWN else label
            states.append(now_)
    return states[-1]


@given(
    st.lists(
        st.tuples(st.sampled_from(ACTIONS), st.integers(0, 3), st.sampled_from(["a", "b"])),
        max_size=20,
    )
)
def test_final_answers_equal_a_slow_twin(actions):
    entries = [Entry("t", action, row, "", label) for action, row, label in actions]
    found = {row: answer.label for row, answer in final_answers(entries).items()}
    assert found == slow_answers(actions)


def test_times_can_be_sorted():
    first, second = now(), now()
    assert first <= second
    assert first.endswith("Z")
    assert len(first) == len("2026-01-02T03:04:05.678Z")
