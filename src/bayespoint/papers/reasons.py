"""Our explanations of differences, whose numbers come from kept runs."""

from __future__ import annotations

import csv
import re
from fnmatch import fnmatchcase
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

from .kept import read_lines

# A number of a kept run: {experiment: quantity}.
FIELD = re.compile(r"\{(\w+): ([^{}]+)\}")
# Stands for a number of an experiment that was not run.
NOT_RUN = "(not run)"


class Reason(NamedTuple):
    """Why a number differs: the quantities (none for a remark), what tests it, and the text.

    `test` names experiments, or functions in tests/papers. It is empty for a remark, and if
    nothing tests the reason.
    """

    quantity: str
    test: str
    text: str


UNKNOWN = Reason("", "", "We do not know why.")


def reasons(name: str) -> list[Reason]:
    """Return the reasons and remarks about an experiment."""
    text = (files(__package__) / "reasons.csv").read_text(encoding="utf-8")
    return [
        Reason(line["quantity"], line["test"], line["reason"])
        for line in csv.DictReader(text.splitlines())
        if line["experiment"] == name
    ]


def reason_for(name: str, quantity: str) -> Reason:
    """Return our explanation of a difference."""
    for reason in reasons(name):
        if reason.quantity and fnmatchcase(quantity, reason.quantity):
            return reason
    return UNKNOWN


def fill_in(text: str, folder: Path) -> str:
    """Replace {experiment: quantity} by our kept number, with three digits."""

    def number(match: re.Match) -> str:
        path = folder / f"{match[1]}.csv"
        lines = read_lines(path) if path.is_file() else []
        found = {line["quantity"]: line["ours"] for line in lines}
        return f"{float(found[match[2]]):.3g}" if match[2] in found else NOT_RUN

    return FIELD.sub(number, text)
