"""Kept results of experiments, read from a folder."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

from .registry import Experiment

# A standard error that is a smaller part of a number than this comes from rounding.
ROUNDING = 1e-12


def read_lines(path: Path) -> list[dict[str, str]]:
    """Return the lines of a CSV file."""
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def circumstances(experiment: Experiment, folder: Path) -> dict[str, Any]:
    """Return seed, form, seconds and notes of a kept run."""
    return json.loads((folder / f"{experiment.name}.json").read_text("utf-8"))


def ours(line: dict[str, str]) -> str:
    """Return our number of a line, with its standard error."""
    value = float(line["ours"])
    if not line["error"]:
        return f"{value:.4g}"
    error = float(line["error"])
    # Equal numbers have a standard error of zero, up to rounding.
    error = 0.0 if error < ROUNDING * abs(value) else error
    return f"{value:.4g} ± {error:.2g}"
