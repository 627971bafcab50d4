"""Leaks that are planted into clean data are found, and clean data cause no alarm."""

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))

from leakage import alarms, clean_table, data_sets, examine, main

QUICK = ("iris", "moons", "rare")


def test_traps_are_found_and_nothing_else():
    for name, X, y in data_sets():
        if name in QUICK:
            false, found = examine(X, y)
            assert not false, name
            assert all(found.values()), (name, found)


@pytest.mark.slow
def test_all_ten_data_sets(capsys):
    assert main([]) == 0
    assert "10 data sets: 0 leaks missed, 0 false alarms" in capsys.readouterr().out


def test_a_trap_that_is_none_is_not_found():
    _, X, y = next(data_sets())
    columns = clean_table(X, y)
    assert alarms(columns | {"other": columns["x1"][::-1]}) == set()
