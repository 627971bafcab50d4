import pytest

from bayespoint.io.tables.date_format import DateFormat
from bayespoint.io.tables.kinds import Finding
from bayespoint.io.tables.number_format import NumberFormat
from bayespoint.io.tables.wishes import Wishes, make_wishes, plan_text, read_plan

FINDINGS = [
    Finding("id", "identifier", "drop", "category", why="all values differ"),
    Finding("price", "number", "number", "number", format=NumberFormat(",")),
    Finding("age", "number", "number", "number", format=NumberFormat()),
    Finding('od"d\nname = 1', "date", "date", "date", format=DateFormat("%d.%m.%Y")),
    Finding("note", "text", "text", "text"),
]


def test_a_written_plan_is_read_again(tmp_path):
    path = tmp_path / "plan.toml"
    path.write_text(plan_text("t.csv", "kind", FINDINGS), "utf-8")
    wishes = read_plan(path)
    assert wishes.target == "kind"
    assert wishes.uses == {
        "id": "drop",
        "price": "number ,",
        "age": "number",
        'od"d\nname = 1': "date %d.%m.%Y",
        "note": "text",
    }
    assert wishes.only == tuple(list(wishes.uses)[1:])
    assert "# identifier: all values differ" in path.read_text("utf-8")


def test_options_overrule_a_plan(tmp_path):
    path = tmp_path / "plan.toml"
    path.write_text('target = "kind"\n[columns]\na = "drop"\nb = "number"\n')
    wishes = make_wishes(drop=["b"], plan=path)
    assert wishes.uses == {"a": "drop", "b": "drop"}
    assert make_wishes(columns=["a"], plan=path).only == ("a",)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a = ", "should be TOML"),
        ("colums = 1", "only .*'colums'"),
        ("columns = 1", "should be like"),
        ("[columns]\na = 1", "should be like"),
        ('[columns]\na = "nmber"', "'a' should be used as"),
        ('[columns]\na = "number ;"', "'a' should be used as"),
        ('[columns]\na = "date dd.mm"', "format of a date"),
        ("target = 1", "name of a column"),
    ],
)
def test_mistakes_in_a_plan_are_explained(tmp_path, content, message):
    path = tmp_path / "plan.toml"
    path.write_text(content)
    with pytest.raises(ValueError, match=message):
        read_plan(path)
    with pytest.raises(FileNotFoundError, match="no file"):
        read_plan(tmp_path / "other.toml")


def test_wishes_that_contradict_each_other():
    with pytest.raises(ValueError, match="'a' cannot be both: drop and keep"):
        make_wishes(drop=["a"], keep=["a"])
    assert make_wishes(drop=["a", "a"]).uses == {"a": "drop"}
    with pytest.raises(ValueError, match="decimal mark"):
        Wishes(decimal=";")
