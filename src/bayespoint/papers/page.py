"""A page with the tables and pictures of a folder, our numbers beside the published ones."""

from __future__ import annotations

import csv
import json
import os
from fnmatch import fnmatchcase
from importlib.resources import files
from pathlib import Path
from textwrap import fill
from typing import Any

from .published import AGREEMENT_LIMIT, PAPERS
from .registry import EXPERIMENTS, Experiment

MAX_LINE_LENGTH = 120
HEAD = """# The papers, reproduced

Every table and figure of the papers is an experiment: `bayespoint papers list` names them,
`bayespoint papers run NAME` runs one, and `bayespoint papers page` wrote this page from their
results. Our numbers are means over n repetitions, with standard errors. *distance* is the
difference from the published number in standard errors, which include the paper's error and
its rounding. Numbers agree if the distance is at most 2. With few repetitions the standard
error itself is uncertain, so the limit is larger: 4.5 for n = 3, 2.9 for n = 5, 2.3 for n = 10
(Student's t exceeds this limit as rarely as a normal variable exceeds 2). *not compared* means
that the paper does not publish the data of its example, so ours is another example.
"""


def write_page(source: Path, output: Path) -> None:
    """Write a page about the experiments in a folder.

    Parameters
    ----------
    source : Path
        Folder that `bayespoint papers run` wrote to.
    output : Path
        Markdown file to write.
    """
    kept = [e for e in EXPERIMENTS.values() if (source / f"{e.name}.json").is_file()]
    if not kept:
        raise FileNotFoundError(
            f"There is no experiment in {source}. Run one first: "
            f"`bayespoint papers run NAME --output {source}`."
        )
    link = os.path.relpath(source, output.parent)
    sections = [_section(experiment, source, link) for experiment in kept]
    missing = [e.name for e in EXPERIMENTS.values() if e not in kept]
    end = f"\nNot run for this page: {', '.join(missing)}.\n" if missing else ""
    text = "\n".join([HEAD, _summary(kept, source), *sections]) + end
    output.write_text("\n".join(map(_fill, text.split("\n"))), "utf-8")


def _fill(line: str) -> str:
    """Break a long line of text. Tables and pictures stay as they are."""
    if line.startswith(("|", "!")):
        return line
    indent = "  " if line.startswith("- ") else ""
    return fill(line, MAX_LINE_LENGTH, subsequent_indent=indent, break_on_hyphens=False)


def _summary(kept: list[Experiment], source: Path) -> str:
    """Return how many published numbers agree, and which do not."""
    judged = [
        (e, line)
        for e in kept
        for line in read_lines(source / f"{e.name}.csv")
        if line["far"] and not _circumstances(e, source)["quick"]
    ]
    differ = [(e, line) for e, line in judged if line["verdict"] != "agrees"]
    # Numbers that agree only because the limit is larger for few repetitions.
    loose = sum(
        line["verdict"] == "agrees" and abs(float(line["far"])) > AGREEMENT_LIMIT
        for _, line in judged
    )
    counts = {e.name: [line["verdict"] == "agrees" for f, line in judged if f is e] for e in kept}
    lines = [
        f"{len(judged)} published numbers can be compared; {len(judged) - len(differ)} agree, "
        f"{loose} of them only because there are few repetitions (distance above "
        f"{AGREEMENT_LIMIT:g}). They are not independent: the numbers of one experiment share "
        "data, above all the entries of table_18_1. Numbers that agree, by experiment: "
        + ", ".join(f"{name} {sum(ok)} of {len(ok)}" for name, ok in counts.items() if ok)
        + ". These do not agree:\n"
    ]
    lines += [
        f"- [{e.name}](#{e.name}) {line['quantity']}: {_ours(line)}, published "
        f"{line['published']} ({float(line['far']):+.1f})"
        for e, line in differ
    ]
    return "\n".join(lines) + "\n"


def _section(experiment: Experiment, source: Path, link: str) -> str:
    lines = read_lines(source / f"{experiment.name}.csv")
    known = _circumstances(experiment, source)
    form = "reduced form (`--quick`)" if known["quick"] else "full form"
    parts = [
        f"## {experiment.name}\n",
        f"{experiment.shows[0].upper()}{experiment.shows[1:]}. {PAPERS[experiment.paper]}.\n",
        f"![{experiment.shows}]({link}/{experiment.name}.png)\n",
        "| | ours | n | published | distance | |\n|---|---|---|---|---|---|",
        *(_row(line) for line in lines),
        "",
        *(f"- {reason}" for reason in _reasons(experiment.name, lines, known["quick"])),
        *(f"- {note}" for note in known["notes"]),
        f"- Run with seed {known['seed']} in {form}, {known['seconds']:.0f} seconds.\n",
    ]
    return "\n".join(parts)


def _row(line: dict[str, str]) -> str:
    distance = f"{float(line['far']):+.1f}" if line["far"] else ""
    cells = line["quantity"], _ours(line), line["n"], line["published"], distance, line["verdict"]
    return f"| {' | '.join(cells)} |"


def _ours(line: dict[str, str]) -> str:
    text = f"{float(line['ours']):.4g}"
    return f"{text} ± {float(line['error']):.2g}" if line["error"] else text


def _reasons(name: str, lines: list[dict[str, str]], quick: bool) -> list[str]:
    """Return our explanations of the differences, each once."""
    differ = [line for line in lines if line["far"] and line["verdict"] != "agrees"]
    if quick:
        return ["Too few repetitions to judge differences."] if differ else []
    found: dict[str, list[str]] = {}
    for line in differ:
        found.setdefault(reason_for(name, line["quantity"]), []).append(line["quantity"])
    general = [line["reason"] for line in _remarks(name) if not line["quantity"]]
    return general + [
        f"Differs by more than two standard errors: {'; '.join(quantities)}. {reason}"
        for reason, quantities in found.items()
    ]


def reason_for(name: str, quantity: str) -> str:
    """Return our explanation of a difference."""
    for line in _remarks(name):
        if line["quantity"] and fnmatchcase(quantity, line["quantity"]):
            return line["reason"]
    return "We do not know why."


def _remarks(name: str) -> list[dict[str, str]]:
    """Return the remarks on an experiment; without a quantity they concern all of it."""
    text = (files(__package__) / "reasons.csv").read_text(encoding="utf-8")
    return [line for line in csv.DictReader(text.splitlines()) if line["experiment"] == name]


def read_lines(path: Path) -> list[dict[str, str]]:
    """Return the lines of a CSV file."""
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _circumstances(experiment: Experiment, source: Path) -> dict[str, Any]:
    return json.loads((source / f"{experiment.name}.json").read_text("utf-8"))
