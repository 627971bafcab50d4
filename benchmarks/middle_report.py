"""Tables of `middle.py`: all results, means over sets, differences to ours, what it recovers."""
# ruff: noqa: T201

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from arena_measures import COSTS, QUALITIES
from arena_report import SHAPE, difference, show
from middle_machines import EVERY, FRONT, MACHINES
from middle_picture import draw

KEYS = ("set", "rows", "split", "machine")
MEASURES = {**QUALITIES, "fit_clock": "fit, s", **COSTS}
COLUMNS = [*KEYS, *SHAPE, "jobs", *MEASURES, "failed"]
OURS, BEFORE, EXACT = "bayespoint", "bayespoint-rbf", "exact"
COMPARED = ("error", "log_loss")
NO_VALUE = "–"


def read_results(files: Sequence[Path]) -> pd.DataFrame:
    """Read .jsonl and .csv files; what a later file has replaces the same of an earlier one."""
    rows = []
    for file in files:
        if file.suffix == ".csv":
            rows += pd.read_csv(file).to_dict("records")
            continue
        with file.open(encoding="utf-8") as lines:  # a run may be writing the last line
            rows += [json.loads(line) for line in lines if line.endswith("\n")]
    found = pd.DataFrame(rows, columns=COLUMNS)
    return found.drop_duplicates(list(KEYS), keep="last").sort_values(list(KEYS))


def keep(results: pd.DataFrame, file: Path) -> None:
    """Write results with five digits to a .csv file."""
    file.parent.mkdir(parents=True, exist_ok=True)
    results.to_csv(file, index=False, float_format="%.5g", lineterminator="\n")


def average(results: pd.DataFrame, machines: Sequence[str]) -> dict[str, pd.DataFrame]:
    """Return a table set x machine per measure: means over the splits that all machines have."""
    valid = results[results["failed"].isna() & results["machine"].isin(machines)]
    keys = {"index": ["set", "split"], "columns": "machine"}
    wide = {measure: valid.pivot(values=measure, **keys) for measure in MEASURES}
    common = wide["error"].dropna().index
    present = [m for m in machines if m in wide["error"]]
    return {m: table.loc[common, present].groupby(level="set").mean() for m, table in wide.items()}


def markdown(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table."""
    rule = ["---"] + ["---:"] * (len(head) - 1)
    return "\n".join("| " + " | ".join(line) + " |" for line in [head, rule, *lines]) + "\n"


def seconds(value: float) -> str:
    """Format seconds; a tenth of a second matters only below ten."""
    return f"{value:.1f}" if value < 10 else f"{value:.0f}"


def result_table(results: pd.DataFrame, machines: Sequence[str]) -> str:
    """Return error, log loss and seconds of machines on every set, means over splits."""
    machines = [m for m in machines if m in set(results["machine"])]
    lines = []
    for name, of_set in results.groupby("set"):
        line = [f"{name} ({of_set['n_train'].max():,}; {of_set['n_classes'].max()})"]
        for machine in machines:
            rows = of_set[of_set["machine"] == machine]
            mean = rows[list(MEASURES)].mean()
            shown = [*(show(m, mean[m]) for m in COMPARED), seconds(mean["fit_clock"])]
            failed = "failed" if len(rows) else NO_VALUE
            line.append(failed if np.isnan(mean["error"]) else " / ".join(shown))
        lines.append(line)
    return markdown(["set (rows; classes)", *machines], lines)


def mean_table(means: dict[str, pd.DataFrame]) -> str:
    """Return means over sets, best error first."""
    order = means["error"].mean().sort_values(kind="stable").index
    lines = [[m, *(show(key, means[key][m].mean()) for key in MEASURES)] for m in order]
    return markdown(["machine", *MEASURES.values()], lines)


def difference_table(results: pd.DataFrame) -> str:
    """Return differences to ours on the sets that both have, and wins, ties and losses of ours."""
    lines = []
    for machine in [m for m in MACHINES if m in set(results["machine"]) and m != OURS]:
        means = average(results, [OURS, machine])
        n_sets = len(means["error"])
        line = [machine, str(n_sets)]
        for measure in COMPARED:
            values = means[measure]
            if not n_sets or values.isna().any(axis=None):
                line += [NO_VALUE, NO_VALUE]
                continue
            mean, error, *games = difference(*values[[OURS, machine]].to_numpy().T)
            line.append(f"{show(measure, mean, '+')} ± {show(measure, error)}")
            line.append("-".join(map(str, games)))
        lines.append(line)
    head = [text for m in COMPARED for text in (QUALITIES[m], "wins-ties-losses")]
    return markdown(["machine", "sets", *head], lines)


def recovered(before: float, exact: float, ours: float) -> float:
    """Return the share of the difference that ours recovers; NaN if exact is not better."""
    return (before - ours) / (before - exact) if exact < before else np.nan


def recovery_table(means: dict[str, pd.DataFrame]) -> str:
    """Return what ours recovers of the difference between the former default and exact."""
    names = [BEFORE, EXACT, OURS]
    with_mean = {m: pd.concat([means[m], means[m].mean().to_frame("mean").T]) for m in COMPARED}
    lines = []
    for name in with_mean["error"].index:
        line = [name]
        for measure in COMPARED:
            values = with_mean[measure].loc[name, names]
            share = recovered(*values)
            line += [show(measure, value) for value in values]
            line.append(NO_VALUE if np.isnan(share) else f"{100 * share:.0f} %")
        lines.append(line)
    head = [f"{QUALITIES[m]}: {names[0]}" for m in COMPARED]
    return markdown(["set", *(t for h in head for t in (h, *names[1:], "recovered"))], lines)


def print_missing(results: pd.DataFrame, machines: Sequence[str]) -> None:
    """Say which machines failed, and which lack sets."""
    every = set(results["set"])
    for row in results[results["failed"].notna()].itertuples():
        print(f"- {row.machine} failed on {row.set}, split {row.split}: {row.failed}")
    for machine in machines:
        lacks = every - set(results.loc[results["machine"] == machine, "set"])
        if lacks < every and lacks:
            print(f"- {machine} has no results for {', '.join(sorted(lacks))}.")
    print()


def print_tables(results: pd.DataFrame) -> None:
    """Print all tables for one number of rows."""
    print("Error in percent / log loss / seconds of the fit by the clock, means over splits:\n")
    for machines in (MACHINES, FRONT):
        if results["machine"].isin(list(machines)).any():
            print(result_table(results, list(machines)))
    print_missing(results, list(EVERY))
    means = average(results, list(MACHINES))
    sets = ", ".join(means["error"].index) or "none: no set has results of all machines"
    print(f"Means over the sets that all machines have ({sets}):\n\n{mean_table(means)}")
    if (results["machine"] == OURS).any():
        print(f"Difference to {OURS} ± standard error over sets, positive if {OURS} is better:\n")
        print(difference_table(results))
    means = average(results, [BEFORE, EXACT, OURS])
    if means["error"].shape[1] == 3 and len(means["error"]):
        print(f"Share of the difference between {BEFORE} and {EXACT} that {OURS} recovers:\n")
        print(recovery_table(means))


def report(arguments: argparse.Namespace) -> None:
    """Print all tables, and write what was asked for."""
    results = read_results(arguments.files)
    if arguments.keep:
        keep(results, arguments.keep)
    panels = {}
    for rows, of_rows in results.groupby("rows"):
        print(f"## At most {rows:,} training rows\n")
        print_tables(of_rows)
        means = average(of_rows, [OURS, BEFORE, EXACT, *FRONT])
        if EXACT in means["error"] and len(means["error"]):
            panels[rows] = means
    if arguments.picture:
        draw(panels, arguments.picture)
