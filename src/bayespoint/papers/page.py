"""A page with the tables and pictures of a folder, our numbers beside the published ones."""

from __future__ import annotations

import os
from pathlib import Path
from textwrap import fill

from .._runtime.atomic import in_place_of
from .kept import circumstances, ours, read_lines
from .ledger import ledger
from .published import PAPERS, published
from .reasons import Reason, fill_in, reason_for, reasons
from .registry import EXPERIMENTS, Experiment

MAX_LINE_LENGTH = 120
# More parts of one result than this are folded.
MAX_PARTS_SHOWN = 15
TABLE_HEAD = "| | ours | n | published | distance | |\n|---|---|---|---|---|---|"
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
    text = "\n".join([HEAD, ledger(kept, source), *sections]) + end
    with in_place_of(output) as file:
        file.write("\n".join(map(_fill, text.split("\n"))).encode())


def _fill(line: str) -> str:
    """Break a long line of text. Tables and pictures stay as they are."""
    if line.startswith(("|", "!")):
        return line
    indent = "  " if line.startswith("- ") else ""
    return fill(line, MAX_LINE_LENGTH, subsequent_indent=indent, break_on_hyphens=False)


def _section(experiment: Experiment, source: Path, link: str) -> str:
    lines = read_lines(source / f"{experiment.name}.csv")
    known = circumstances(experiment, source)
    form = "reduced form (`--quick`)" if known["quick"] else "full form"
    parts = [
        f"## {experiment.name}\n",
        f"{experiment.shows[0].upper()}{experiment.shows[1:]}. {PAPERS[experiment.paper]}.\n",
        f"![{experiment.shows}]({link}/{experiment.name}.png)\n",
        *_tables(experiment.name, lines),
        *(f"- {reason}" for reason in _reasons(experiment.name, lines, known["quick"], source)),
        *(f"- {note}" for note in known["notes"]),
        f"- Run with seed {known['seed']} in {form}, {known['seconds']:.0f} seconds.\n",
    ]
    return "\n".join(parts)


def _tables(name: str, lines: list[dict[str, str]]) -> list[str]:
    """Return the table of an experiment; parts of one result are folded if there are many."""
    theirs = published(name)
    parts = [q for line in lines if (q := line["quantity"]) in theirs and theirs[q].kind == "part"]
    folded = set(parts if len(parts) > MAX_PARTS_SHOWN else ())
    shown = [_row(line) for line in lines if line["quantity"] not in folded]
    hidden = [_row(line) for line in lines if line["quantity"] in folded]
    if not hidden:
        return [TABLE_HEAD, *shown, ""]
    summary = f"<details><summary>{len(hidden)} parts of this result</summary>\n"
    return [TABLE_HEAD, *shown, "", summary, TABLE_HEAD, *hidden, "\n</details>\n"]


def _row(line: dict[str, str]) -> str:
    distance = f"{float(line['far']):+.1f}" if line["far"] else ""
    cells = line["quantity"], ours(line), line["n"], line["published"], distance, line["verdict"]
    return f"| {' | '.join(cells)} |"


def _reasons(name: str, lines: list[dict[str, str]], quick: bool, source: Path) -> list[str]:
    """Return our explanations of the differences, each once."""
    differ = [line for line in lines if line["far"] and line["verdict"] != "agrees"]
    if quick:
        return ["Too few repetitions to judge differences."] if differ else []
    found: dict[Reason, list[str]] = {}
    for line in differ:
        found.setdefault(reason_for(name, line["quantity"]), []).append(line["quantity"])
    remarks = [f"{fill_in(r.text, source)}{_tests(r)}" for r in reasons(name) if not r.quantity]
    return remarks + [
        f"Differs by more than two standard errors: {'; '.join(quantities)}. "
        f"{fill_in(reason.text, source)}{_tests(reason)}"
        for reason, quantities in found.items()
    ]


def _tests(reason: Reason) -> str:
    """Return where a reason is tested."""
    return f" Test: {reason.test}." if reason.test else ""
