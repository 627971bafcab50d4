import numpy as np
import pyarrow as pa
import pytest

from bayespoint.io.tables import look as module
from bayespoint.io.tables.look import describe_finding, find_used_columns, look
from bayespoint.io.tables.wishes import Wishes

N = 300
RNG = np.random.default_rng(0)
KIND = np.sort(RNG.integers(0, 3, N))


def table(**more):
    columns = {
        "age": RNG.integers(18, 80, N).astype(str),
        "price": [f"{v:.2f} €".replace(".", ",") for v in RNG.random(N) * 99 + KIND],
        "town": RNG.choice(["Ulm", "Bonn"], N),
        "kind": np.array(["01", "1", "2"])[KIND],
    }
    return pa.table({name: pa.array(list(v), pa.string()) for name, v in (columns | more).items()})


def kinds(found):
    return {finding.name: finding.kind for finding in found.findings}


def test_a_clean_table_has_no_questions():
    found = look(table(), "kind")
    assert kinds(found) == {"age": "number", "price": "number", "town": "category"}
    assert not found.questions
    assert not found.left_out
    columns = find_used_columns(found, table(), "kind")
    assert (columns.numbers, columns.categories) == (["age", "price"], ["town"])
    assert columns.formats["price"].decimal == ","
    assert not columns.integers
    assert describe_finding(found.findings[0])["kind"] == "number"


def test_copies_duplicates_and_leaks():
    first = table()
    near = np.where(np.arange(N) % 100 == 7, 0, KIND)
    traps = first.append_column("age2", first["age"])
    for name, values in {
        "copy": np.array(["x", "y", "z"])[KIND],
        "near": near,
        "closed": [f"{2000 + k}-0{1 + i % 9}-01" for i, k in enumerate(KIND)],
        "row": np.arange(N),
    }.items():
        traps = traps.append_column(name, pa.array([str(v) for v in values]))
    found = look(traps, "kind")
    assert kinds(found)["age2"] == "duplicate"
    assert kinds(found)["copy"] == "copy"
    assert kinds(found)["row"] == "index"
    assert sorted(suspect.name for suspect in found.suspects) == ["closed", "near"]
    assert any("column 'near' alone predicts the target in 99." in q for q in found.questions)
    # Without a target there is nothing to copy.
    assert kinds(look(traps, None))["copy"] == "category"


def test_a_class_of_one_row_does_not_hide_a_copy():
    kind = np.array(["01", "1", "2"])[KIND]
    kind[7] = "9"
    assert kinds(look(table(copy=KIND.astype(str), kind=kind), "kind"))["copy"] == "copy"


def test_the_user_decides():
    more = table(id=[f"k{i}" for i in range(N)], when=["03/04/2024", "05/06/2024"] * (N // 2))
    wishes = Wishes({"id": "keep", "age": "drop", "town": "text", "when": "date %d/%m/%Y"})
    found = look(more, "kind", wishes)
    assert {f.name: f.use_as for f in found.findings} == {
        "age": "drop",
        "price": "number",
        "town": "text",
        "id": "category",
        "when": "date",
    }
    assert not found.questions
    columns = find_used_columns(found, more, "kind")
    assert columns.dates["when"].format == "%d/%m/%Y"
    assert columns.texts == ["town"]
    assert columns.left_out == ["age"]
    only = look(more, "kind", Wishes(only=("id",)))
    assert [f.name for f in only.findings if f.use_as != "drop"] == ["id"]
    assert look(more, "kind", Wishes({"age": "category"})).findings[0].use_as == "category"


def test_wishes_that_cannot_be_fulfilled():
    with pytest.raises(ValueError, match="'town' should hold numbers, but holds"):
        look(table(), "kind", Wishes({"town": "number"}))
    with pytest.raises(ValueError, match=r"'town' should hold dates.*--date 'town=%d.%m.%Y'"):
        look(table(), "kind", Wishes({"town": "date"}))


def test_if_nothing_is_left_something_is_kept():
    few = table(copy=KIND.astype(str)).select(["copy", "kind"])
    found = look(few, "kind")
    assert found.findings[0].use_as == "number"
    assert "is all there is" in found.questions[0]
    empty = table(empty=[""] * N).select(["empty", "kind"])
    with pytest.raises(ValueError, match="column with values besides the target 'kind'"):
        find_used_columns(look(empty, "kind"), empty, "kind")


def test_a_sample_is_confirmed_by_all_rows(monkeypatch):
    """A value in one of many rows must not be overlooked when a column is left out."""
    monkeypatch.setattr(module, "MAX_ROWS", 50)
    flag = ["0"] * N
    flag[1] = "1"
    empty = [""] * N
    empty[1] = "x"
    copy = list(np.array(["a", "b", "c"])[KIND])
    copy[1] = "c"
    found = kinds(look(table(flag=flag, empty=empty, copy=copy, row=map(str, range(N))), "kind"))
    assert found["flag"] == "number"
    assert found["empty"] == "category"
    assert found["copy"] == "category"
    assert found["row"] == "index"
