"""The ledger of all published numbers: which agree, which differ and why, which cannot be compared.

A number counts if a paper prints it and if it does not share its data with one that counts
already. The others are listed apart.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import NamedTuple

from .kept import circumstances, ours, read_lines
from .published import AGREEMENT_LIMIT, KINDS, published
from .reasons import reason_for
from .registry import Experiment

COLUMNS = ("agree", "reason tested", "reason untested", "not reproducible")
AGREE, TESTED, UNTESTED, IMPOSSIBLE = COLUMNS
# Printed numbers without an experiment.
NOT_TRIED = """\
Not tried: seconds, minutes and hours of machines of the year 2000 (000 and 001, sec. 4); the soft
margin's best error on USPS, 4.5 % (000, sec. 4.3), whose parameter is not given; and 1.1 % on
MNIST, which 000 itself calls invalid (footnote 14). Figures 4, 8 and 10 of 000 print no numbers in
the text that we have; the experiments show what we find.
"""
# What the test of a reason shows, and what it does not.
INFLUENCES = """\
A reason is tested if an experiment shows that it changes the number. For waveform and AdaBoost the
test shows an influence, not that it is the whole difference: the papers do not say which features
and which base learners they had. The error on USPS (figure_9) is at the limit: it agrees in the
kept run, but with other seeds it is slightly more than two standard errors too high.
"""
# Agreement proves less where a setting was chosen by it.
CHOSEN_LATER = """\
Where a paper does not give a setting, we chose it after seeing which comes closest, so these
agreements are weaker evidence: standardized features of sonar (table_18_1, flipper), gray values
from -1 to 1 for support vector machines (digits_svm), natural logarithms (figure_2_7), and the
largest margin as the start of the billiard (algorithm_2). The sections show the other choices.
"""


class Entry(NamedTuple):
    """A published number with our verdict: its kind (see KINDS) and the column of the ledger."""

    experiment: str
    kind: str
    column: str
    line: dict[str, str]


def entries(kept: list[Experiment], folder: Path) -> list[Entry]:
    """Return all published numbers of experiments that were run in full."""
    found = []
    for experiment in kept:
        if circumstances(experiment, folder)["quick"]:
            continue
        theirs = published(experiment.name)
        for line in read_lines(folder / f"{experiment.name}.csv"):
            if line["published"]:
                kind = theirs[line["quantity"]].kind if line["quantity"] in theirs else ""
                found.append(Entry(experiment.name, kind, _column(experiment.name, line), line))
    return found


def _column(name: str, line: dict[str, str]) -> str:
    if not line["far"]:
        return IMPOSSIBLE
    if line["verdict"] == "agrees":
        return AGREE
    return TESTED if reason_for(name, line["quantity"]).test else UNTESTED


def ledger(kept: list[Experiment], folder: Path) -> str:
    """Return the ledger as Markdown."""
    every = entries(kept, folder)
    counting = [entry for entry in every if not entry.kind]
    parts = [_sentence(counting), _table(counting), _differences(counting)]
    parts += [INFLUENCES, CHOSEN_LATER, NOT_TRIED]
    parts += ["### Listed apart\n", *(_apart(kind, every) for kind in KINDS)]
    return "\n".join(parts)


def _sentence(counting: list[Entry]) -> str:
    columns = Counter(entry.column for entry in counting)
    comparable = len(counting) - columns[IMPOSSIBLE]
    # Numbers that agree only because the limit is larger for few repetitions.
    loose = sum(
        entry.column == AGREE and abs(float(entry.line["far"])) > AGREEMENT_LIMIT
        for entry in counting
    )
    return (
        f"## Ledger\n\n{len(counting)} independent numbers are printed in the papers and have an "
        f"experiment; {comparable} can be compared, and {columns[AGREE]} agree"
        + (f", {loose} of them only because there are few repetitions" if loose else "")
        + f". {columns[TESTED]} differ for a reason that is tested, {columns[UNTESTED]} for one "
        f"that is not. {columns[IMPOSSIBLE]} cannot be reproduced, because the papers do not "
        "publish the points of these examples.\n"
    )


def _table(counting: list[Entry]) -> str:
    names = list(dict.fromkeys(entry.experiment for entry in counting))
    rows = [("total", Counter(entry.column for entry in counting))]
    rows[:0] = [
        (f"[{name}](#{name})", Counter(e.column for e in counting if e.experiment == name))
        for name in names
    ]
    head = f"| | {' | '.join(COLUMNS)} |\n|---|---|---|---|---|"
    return "\n".join(
        [
            head,
            *(f"| {name} | {' | '.join(str(n[c]) for c in COLUMNS)} |" for name, n in rows),
            "",
        ]
    )


def _differences(counting: list[Entry]) -> str:
    return "\n".join(
        [
            "These differ:\n",
            *(
                f"{_difference(entry)} Reason tested by {_test(entry)}."
                for entry in counting
                if entry.column == TESTED
            ),
            *(
                f"{_difference(entry)} Reason not tested."
                for entry in counting
                if entry.column == UNTESTED
            ),
            "",
        ]
    )


def _test(entry: Entry) -> str:
    return reason_for(entry.experiment, entry.line["quantity"]).test


def _difference(entry: Entry) -> str:
    line, name = entry.line, entry.experiment
    return (
        f"- [{name}](#{name}) {line['quantity']}: {ours(line)}, published "
        f"{line['published']} ({float(line['far']):+.1f})."
    )


def _apart(kind: str, every: list[Entry]) -> str:
    """Return how many numbers of a kind agree, by experiment."""
    chosen = [entry for entry in every if entry.kind == kind and entry.column != IMPOSSIBLE]
    names = dict.fromkeys(entry.experiment for entry in chosen)
    counts = [
        f"{name} {sum(e.column == AGREE for e in chosen if e.experiment == name)} of "
        f"{sum(e.experiment == name for e in chosen)}"
        for name in names
    ]
    return f"- *{KINDS[kind]}*: {', '.join(counts) or 'none'} agree.\n"
