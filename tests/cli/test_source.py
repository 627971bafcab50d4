import numpy as np
import pytest
import typer

from bayespoint.cli import source
from bayespoint.cli.source import Plan, read_source
from bayespoint.io.tables.wishes import Wishes
from cli_helpers import mixed_table


@pytest.fixture
def path(tmp_path):
    table = mixed_table(200)
    table.loc[::10, "kind"] = None
    table["empty"] = None
    table.to_csv(tmp_path / "t.csv", index=False)
    return str(tmp_path / "t.csv")


def test_a_small_file_is_read_at_once(path, capsys):
    found = read_source(path, "kind", Plan(wishes=Wishes({"width": "drop"})))
    assert found.rest is None
    assert len(found.X) == len(found.y) == 180
    assert found.columns.numbers == ["age"]
    notes = capsys.readouterr().err
    assert "these columns are empty and not used: 'empty'" in notes
    assert "20 rows without a class in 'kind' (empty, NA or the like) are left out" in notes


def test_a_large_file_is_read_in_parts_without_losing_rows(path, monkeypatch, capsys):
    whole = read_source(path, "kind", Plan())
    monkeypatch.setattr(source, "MAX_ROWS_IN_MEMORY", 50)
    monkeypatch.setattr(source, "ROWS_PER_CHUNK", 40)
    monkeypatch.setattr("bayespoint.io.tables.csv_table.BLOCK_BYTES", 1000)
    found = read_source(path, "kind", Plan())
    rest = list(found.rest)
    assert len(rest) > 1
    assert 0 < len(found.y) < 180
    np.testing.assert_array_equal(np.concatenate([found.y, *(y for _, y in rest)]), whole.y)


def test_the_target_of_a_table_is_required(path):
    with pytest.raises(typer.BadParameter, match=r"--target\. The columns are: age, width, job"):
        read_source(path, None, Plan())


def test_a_failure_closes_the_file(path, monkeypatch):
    opened = []
    original = source.open_table

    def keep(*arguments):
        opened.append(original(*arguments))
        return opened[0]

    closed = []
    monkeypatch.setattr(source, "open_table", keep)
    monkeypatch.setattr(type(original(path)), "close", lambda table: closed.append(table))
    with pytest.raises(ValueError, match="no column 'x'"):
        read_source(path, "x", Plan())
    assert closed == opened


def test_a_part_of_a_sorted_file_is_not_taken_for_all_of_it(tmp_path, monkeypatch):
    mixed_table(200).sort_values("kind").to_csv(tmp_path / "sorted.csv", index=False)
    monkeypatch.setattr(source, "MAX_ROWS_IN_MEMORY", 20)
    monkeypatch.setattr("bayespoint.io.tables.csv_table.BLOCK_BYTES", 1000)
    with pytest.raises(ValueError, match=r"The first \d+ rows, .* but have 1, 'no'"):
        read_source(str(tmp_path / "sorted.csv"), "kind", Plan())
