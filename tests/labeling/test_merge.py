import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from bayespoint.labeling.entries import Answer
from bayespoint.labeling.merge import merge
from bayespoint.labeling.rows import Rows


def rows_of(texts):
    return Rows(pa.table({"a": pa.array(texts, pa.string())}), ["a"])


def answers_of(rows, labels):
    return [Answer(row, rows.key(row), label, "t") for row, label in labels.items()]


@given(st.lists(st.sampled_from("abcdef"), min_size=1, max_size=12), st.data())
def test_answers_follow_their_rows(texts, data):
    rows = rows_of(texts)
    chosen = data.draw(st.lists(st.integers(0, len(texts) - 1), unique=True))
    order = data.draw(st.permutations(range(len(texts))))
    turned = rows_of([texts[i] for i in order])
    # The label of a row is its content, so equal rows have equal labels.
    found = merge(answers_of(rows, {row: texts[row] for row in chosen}), turned, {})
    assert found.n_lost == found.n_same == len(found.conflicts) == 0
    assert len({answer.row for answer in found.new}) == len(chosen)
    assert all(turned.cell(answer.row, "a") == answer.label for answer in found.new)


def test_what_becomes_of_each_answer():
    here, there = rows_of(["a", "b", "c", "d"]), rows_of(["b", "c", "d", "gone"])
    answers = answers_of(there, {0: "yes", 1: "no", 2: None, 3: "yes"})
    found = merge(answers, here, {1: "yes", 2: "yes"})
    assert [(answer.row, answer.label) for answer in found.new] == [(3, None)]
    assert [answer.row for answer in found.conflicts] == [2]
    assert (found.n_same, found.n_lost) == (1, 1)
