import pyarrow as pa
import pytest

from bayespoint.labeling.rows import MAX_CELL_CHARACTERS, MAX_CELLS, MAX_FOUND, Rows


@pytest.fixture
def rows():
    table = pa.table(
        {
            "text": ["a mail about tea", "x" * 5000, None],
            "size": ["1,5", " ", "3"],
            "photo": ["a.png", "", "c.png"],
        }
    )
    return Rows(table, ["size", "text"], texts=["text"], image="photo")


def test_texts_first_and_empty_cells_marked(rows):
    shown = rows.show(1)
    assert [cell["name"] for cell in shown["cells"]] == ["text", "size"]
    assert [cell["kind"] for cell in shown["cells"]] == ["text", "empty"]
    assert not shown["image"]
    assert rows.show(0)["image"]
    assert rows.show(0)["cells"][1]["text"] == "1,5"


def test_long_cells_are_cut_until_all_is_wanted(rows):
    cell = rows.show(1)["cells"][0]
    assert len(cell["text"]) == MAX_CELL_CHARACTERS
    assert cell["n_characters"] == 5000
    whole = rows.show(1, whole=True)["cells"][0]
    assert len(whole["text"]) == 5000
    assert "n_characters" not in whole


def test_very_wide_rows_say_how_much_is_left_out():
    table = pa.table({f"c{i}": ["1"] for i in range(MAX_CELLS + 7)})
    shown = Rows(table, table.column_names).show(0)
    assert len(shown["cells"]) == MAX_CELLS
    assert shown["n_more_cells"] == 7


def test_keys_know_content_and_not_order(rows):
    table = rows.table
    turned = Rows(table.take([2, 0, 1]).select(["photo", "text", "size"]), ["size"])
    assert [turned.key(i) for i in (1, 2, 0)] == [rows.key(i) for i in range(3)]
    assert len({rows.key(i) for i in range(3)}) == 3
    # A cell that moves to the next column is another row.
    one, other = (Rows(pa.table({"a": [a], "b": [b]}), []) for a, b in (("xy", "z"), ("x", "yz")))
    assert one.key(0) != other.key(0)


def test_search_by_text_number_and_case(rows):
    assert rows.search("TEA") == [0]
    assert rows.search("c.PNG") == [2]
    assert rows.search("#2") == [1]
    assert rows.search("3") == [2]
    assert rows.search("(") == []
    assert rows.search("  ") == []
    assert rows.search("9" * 40) == []


def test_search_ends():
    table = pa.table({"a": ["same"] * 1000})
    assert len(Rows(table, ["a"]).search("same")) == MAX_FOUND


def test_previews_are_short_lines():
    table = pa.table({"a": ["one\ntwo " * 50], "b": [None], "c": ["3"]})
    line = Rows(table, ["a", "b", "c"]).preview(0)
    assert "\n" not in line
    assert len(line) <= 80


def test_numbers_of_parquet_are_shown():
    table = pa.table({"a": [1.5, None], "b": [1, 2]})
    rows = Rows(table, ["a", "b"])
    assert [cell["text"] for cell in rows.show(0)["cells"]] == ["1.5", "1"]
    assert rows.search("1.5") == [0]
