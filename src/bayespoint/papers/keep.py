"""Run an experiment and write its numbers, runs, picture and circumstances to files."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .. import __version__
from .._runtime.atomic import in_place_of
from .experiment import Measured, Outcome, Plan
from .kept import read_lines
from .picture import need_matplotlib, write
from .published import judge, published
from .registry import Experiment

COLUMNS = ("quantity", "ours", "error", "n", "published", "place", "far", "verdict")


def run_and_keep(experiment: Experiment, plan: Plan, folder: Path) -> Outcome:
    """Run an experiment and write NAME.csv, NAME_runs.csv, NAME.json and NAME.png."""
    need_matplotlib()
    folder.mkdir(parents=True, exist_ok=True)
    if not os.access(folder, os.W_OK):
        raise PermissionError(
            f"You may not write to the folder {str(folder)!r}. Write to another one, or ask its "
            "owner."
        )
    began = time.perf_counter()
    outcome = experiment.load()(plan)
    seconds = time.perf_counter() - began
    write_csv(folder / f"{experiment.name}.csv", lines_of(experiment.name, outcome))
    write_csv(folder / f"{experiment.name}_runs.csv", outcome.runs)
    circumstances = {
        "seed": plan.seed,
        "quick": plan.quick,
        "seconds": round(seconds, 1),
        "version": __version__,
        "notes": list(outcome.notes),
    }
    write(outcome.draw, folder / f"{experiment.name}.png")
    # The page shows experiments that have this file, so it comes last.
    with in_place_of(folder / f"{experiment.name}.json") as file:
        file.write((json.dumps(circumstances, indent=1, ensure_ascii=False) + "\n").encode())
    return outcome


def draw_again(experiment: Experiment, folder: Path) -> None:
    """Write NAME.png from the kept NAME.csv and NAME_runs.csv."""
    need_matplotlib()
    redraw = experiment.load_redraw()
    if redraw is None:
        raise ValueError(
            f"The picture of {experiment.name} needs more than the results that are kept. Run it "
            f"again: `bayespoint papers run {experiment.name} --output {folder}`."
        )
    numbers = {
        line["quantity"]: Measured(
            float(line["ours"]), float(line["error"] or "nan"), int(line["n"])
        )
        for line in read_lines(folder / f"{experiment.name}.csv")
    }
    runs = read_lines(folder / f"{experiment.name}_runs.csv")
    write(lambda: redraw(numbers, runs), folder / f"{experiment.name}.png")


def lines_of(name: str, outcome: Outcome) -> list[dict[str, Any]]:
    """Return our numbers beside the published ones, with a verdict where there are both."""
    theirs, lines = published(name), []
    for quantity, ours in outcome.numbers.items():
        line = {"quantity": quantity, "ours": ours.mean, "error": ours.error, "n": ours.n}
        if quantity in theirs:
            verdict = judge(ours, theirs[quantity])
            line["published"] = theirs[quantity].text
            line["place"] = f"{theirs[quantity].paper}, {theirs[quantity].place}"
            line["far"], line["verdict"] = verdict
        lines.append({column: _short(line.get(column, "")) for column in COLUMNS})
    return lines


def write_csv(path: Path, lines: Iterable[dict[str, Any]]) -> None:
    """Write dictionaries as lines, with a column for each key that occurs."""
    lines = list(lines)
    columns = list(dict.fromkeys(key for line in lines for key in line))
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows({key: _short(value) for key, value in line.items()} for line in lines)
    with in_place_of(path) as file:
        file.write(text.getvalue().encode())


def _short(value: Any) -> Any:
    """Return a number with six digits, and an empty text for NaN."""
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float):
        return "" if math.isnan(value) else f"{value:.6g}"
    return value
