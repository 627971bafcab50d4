"""Run every experiment in its reduced version, on stand-ins for the data of the papers.

This covers what all experiments share: they run, report progress, and write numbers, runs and
a picture. The file named after an experiment tests its own computations.
"""

import csv
import json
import math

import numpy as np
import pytest
from PIL import Image

from bayespoint.papers.experiment import Plan
from bayespoint.papers.keep import draw_again, run_and_keep
from bayespoint.papers.registry import EXPERIMENTS, find
from papers_stand_ins import load_small_digits


def pixels(path):
    with Image.open(path) as picture:
        return np.asarray(picture.convert("L"), dtype=float)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_quick_version(name, data_folder, tmp_path, monkeypatch):
    """It runs, and writes numbers, runs and a small picture."""
    monkeypatch.setattr("bayespoint.digits.load_handwritten", load_small_digits)
    reports = []
    plan = Plan(quick=True, data=str(data_folder), progress=lambda *report: reports.append(report))
    outcome = run_and_keep(find(name), plan, tmp_path)
    assert all(math.isfinite(number.mean) for number in outcome.numbers.values())
    for done, total, text in reports:
        assert 0 <= done <= total
        assert isinstance(text, str)
    with open(tmp_path / f"{name}.csv", encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    assert [line["quantity"] for line in lines] == list(outcome.numbers)
    assert len((tmp_path / f"{name}_runs.csv").read_text().splitlines()) == 1 + len(outcome.runs)
    assert json.loads((tmp_path / f"{name}.json").read_text())["quick"] is True
    picture = (tmp_path / f"{name}.png").read_bytes()
    assert picture.startswith(b"\x89PNG")
    assert 2_000 < len(picture) < 120_000
    if find(name).load_redraw():
        drawn = pixels(tmp_path / f"{name}.png")
        draw_again(find(name), tmp_path)
        # Kept results have six digits.
        assert np.abs(pixels(tmp_path / f"{name}.png") - drawn).mean() < 1


def test_unknown_experiment_says_which_there_are():
    with pytest.raises(ValueError, match=r"no experiment 'table_9'.*table_1"):
        find("table_9")


def test_a_picture_that_needs_more_than_kept_results_is_not_drawn_again(tmp_path):
    with pytest.raises(ValueError, match="bayespoint papers run figure_7"):
        draw_again(find("figure_7"), tmp_path)
