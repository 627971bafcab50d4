"""Exports of pandas, R, Excel and databases: columns come back right, or something is said."""

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))

import messy_exports
from messy_exports import KINDS, Export, exports, judge, main, run, truth, write


def test_each_program_is_read_right():
    chosen = {export.program: export for export in exports()}  # the last one of each program
    assert len(chosen) >= 10
    _, wrong, refused = run(chosen.values())
    assert wrong == []
    assert refused == []


@pytest.mark.slow
def test_all_exports_are_read_right(capsys):
    assert len(exports()) >= 50
    assert main([]) == 0
    assert "100.00 % right, 0 exports refused, 0 columns ruined silently" in capsys.readouterr().out


def test_the_judge_notices_what_is_wrong(tmp_path, monkeypatch):
    """Values of another table, and a column of another kind, are found."""
    export, path = Export("pandas", ","), tmp_path / "t.csv"
    write(path, truth(), export)
    assert judge(path, truth(), export) == []
    wrong = {name for name, *_ in judge(path, truth(seed=1), export)}
    assert wrong == {*KINDS} - {"code", "country"}
    monkeypatch.setitem(messy_exports.KINDS, "zip", "number")
    assert judge(path, truth(), export) == [("zip", "is category, used as category", False)]
