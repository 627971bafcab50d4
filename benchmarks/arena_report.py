"""Tables of `arena.py`: means over sets, mean ranks, paired differences, wins and losses."""
# ruff: noqa: T201

from __future__ import annotations

import argparse
import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from arena_machines import LIMITED, MACHINES
from arena_measures import COSTS, QUALITIES
from arena_picture import draw
from scipy import stats

LEVEL = 0.05
IN_PERCENT = ("error", "error_rejecting")
KEYS = ("set", "split", "machine")
SHAPE = ("n_train", "n_test", "n_features", "n_classes")
COLUMNS = (*KEYS, *SHAPE, *QUALITIES, *COSTS, "failed")
# Split means that differ by less are ties: the order of a sum changes the last digits.
TIE = 1e-12
TABLE_WIDTH = 160

Results = dict[tuple[str, int, str], dict[str, Any]]


class Comparison(NamedTuple):
    """Means over the splits that all machines have, for the sets that all have."""

    machines: list[str]
    sets: list[str]
    n_splits: list[int]
    values: dict[str, np.ndarray]  # one row per set, one column per machine


class Ranks(NamedTuple):
    """Mean ranks by one measure, of the machines that have it."""

    machines: list[str]
    mean: np.ndarray
    critical_difference: float
    p_value: float


def number(text: str) -> float:
    """Read a number of a kept file; an empty field is NaN."""
    return float(text) if text else np.nan


def read_results(files: Sequence[Path]) -> Results:
    """Read .jsonl and .csv files; what a later file has replaces the same of an earlier one."""
    found: Results = {}
    for file in files:
        with file.open(encoding="utf-8", newline="") as lines:
            if file.suffix == ".csv":
                rows: list[dict[str, Any]] = list(csv.DictReader(lines))
                for row in rows:
                    row |= {key: number(row[key]) for key in (*QUALITIES, *COSTS)}
                    row |= {key: int(row[key]) for key in ("split", *SHAPE)}
            else:
                rows = [json.loads(line) for line in lines if line.endswith("\n")]
        found |= {(row["set"], row["split"], row["machine"]): row for row in rows}
    return found


def keep(results: Results, file: Path) -> None:
    """Write results with five digits to a .csv file."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w", encoding="utf-8", newline="") as out:
        writer = csv.DictWriter(out, COLUMNS, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        for _, row in sorted(results.items()):
            short = {k: f"{v:.5g}" for k, v in row.items() if isinstance(v, float) and v == v}
            writer.writerow({k: v for k, v in row.items() if v == v} | short)


def compare(results: Results, machines: Sequence[str]) -> Comparison:
    """Average over splits; only sets that all machines have."""
    valid = {key for key, row in results.items() if not row.get("failed")}
    present = [m for m in machines if any(key[2] == m for key in valid)]
    splits: dict[str, list[int]] = {}
    for name, split, _ in sorted(valid):
        common = splits.setdefault(name, [])
        if split not in common and all((name, split, m) in valid for m in present):
            common.append(split)
    splits = {name: common for name, common in splits.items() if common}

    def average(name: str, machine: str, measure: str) -> float:
        return float(np.mean([results[name, s, machine][measure] for s in splits[name]]))

    values = {
        measure: np.array([[average(n, m, measure) for m in present] for n in splits])
        for measure in (*QUALITIES, *COSTS)
    }
    return Comparison(present, list(splits), [len(s) for s in splits.values()], values)


def critical_difference(n_machines: int, n_sets: int, level: float = LEVEL) -> float:
    """Return the smallest difference of mean ranks that Nemenyi's test finds significant."""
    quantile = stats.studentized_range.ppf(1 - level, n_machines, np.inf) / np.sqrt(2)
    return float(quantile * np.sqrt(n_machines * (n_machines + 1) / (6 * n_sets)))


def rank(comparison: Comparison, measure: str) -> Ranks:
    """Return mean ranks over sets, and Friedman's test of whether all are the same."""
    values = comparison.values[measure]
    has = ~np.isnan(values).any(axis=0)
    names = [m for m, h in zip(comparison.machines, has, strict=True) if h]
    values = np.round(values[:, has] / TIE) * TIE
    mean = stats.rankdata(values, axis=1).mean(axis=0) if len(names) else np.empty(0)
    testable = len(names) > 2 and len(values) > 1  # Friedman's test needs three
    p_value = stats.friedmanchisquare(*values.T).pvalue if testable else np.nan
    width = critical_difference(len(names), len(values)) if len(names) > 1 else np.nan
    return Ranks(names, mean, width, float(p_value))


def difference(ours: np.ndarray, theirs: np.ndarray) -> tuple[float, float, int, int, int]:
    """Return mean difference, its standard error, and wins, ties and losses of ours."""
    off = theirs - ours
    error = off.std(ddof=1) / np.sqrt(len(off)) if len(off) > 1 else np.nan
    wins, losses = int((off > TIE).sum()), int((off < -TIE).sum())
    return float(off.mean()), float(error), wins, len(off) - wins - losses, losses


def show(measure: str, value: float, sign: str = "") -> str:
    """Format a value for a table; a dash where there is none."""
    if np.isnan(value):
        return "–"
    if measure in QUALITIES:
        return f"{100 * value:{sign}.2f}" if measure in IN_PERCENT else f"{value:{sign}.3f}"
    return f"{value:{sign}.3g}"


def mean_table(comparison: Comparison) -> list[list[str]]:
    """Return means over sets; the smallest of a column is bold. Best error first."""
    measures = [*QUALITIES, *COSTS]
    means = np.array([comparison.values[m].mean(axis=0) for m in measures])
    best = [np.nanmin(row) if not np.isnan(row).all() else np.nan for row in means]
    lines = []
    for column in np.argsort(means[0], kind="stable"):
        cells = [show(m, v) for m, v in zip(measures, means[:, column], strict=True)]
        for i, value in enumerate(means[:, column]):
            if value == best[i]:
                cells[i] = f"[bold]{cells[i]}[/bold]"
        lines.append([comparison.machines[column], *cells])
    return lines


def rank_table(comparison: Comparison) -> list[list[str]]:
    """Return mean ranks by all qualities, with the critical difference of each."""
    ranks = [rank(comparison, measure) for measure in QUALITIES]
    columns = [dict(zip(r.machines, r.mean, strict=True)) for r in ranks]
    order = sorted(comparison.machines, key=lambda m: columns[0][m])
    lines = [[m, *(f"{c[m]:.2f}" if m in c else "–" for c in columns)] for m in order]
    lines.append(["critical difference", *(f"{r.critical_difference:.2f}" for r in ranks)])
    lines.append(["p, Friedman", *(f"{r.p_value:.1g}" for r in ranks)])
    return lines


def difference_table(comparison: Comparison, against: str) -> list[list[str]]:
    """Return differences to one machine: mean, standard error over sets, wins-ties-losses."""
    base = comparison.machines.index(against)
    lines = []
    for column in np.argsort(comparison.values["error"].mean(axis=0), kind="stable"):
        if column == base:
            continue
        cells = [comparison.machines[column]]
        for measure in QUALITIES:
            values = comparison.values[measure]
            mean, error, *games = difference(values[:, base], values[:, column])
            cells.append("–")
            if not np.isnan(mean):
                score = "-".join(map(str, games))
                cells[-1] = f"{show(measure, mean, '+')} ± {show(measure, error)}  {score}"
        lines.append(cells)
    return lines


def print_table(title: str, head: Sequence[str], lines: list[list[str]]) -> None:
    """Print a table."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD)
    table.add_column(no_wrap=True)
    for name in head:
        table.add_column(name, justify="right")
    for line in lines:
        table.add_row(*line)
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = TABLE_WIDTH
    console.print(table)


def print_missing(results: Results, comparison: Comparison) -> None:
    """Say which machine keeps which sets out of the tables."""
    every = {name for name, _, _ in results}
    for machine in comparison.machines:
        has = {name for name, _, m in results if m == machine}
        if has < every:
            print(f"{machine} has no results for {', '.join(sorted(every - has))}.")
    for (name, split, machine), row in sorted(results.items()):
        if machine in comparison.machines and row.get("failed"):
            print(f"{machine} failed on {name}, split {split}: {row['failed']}")


def report(arguments: argparse.Namespace) -> None:
    """Print all tables, and write what was asked for."""
    results = read_results(arguments.files)
    if arguments.keep:
        keep(results, arguments.keep)
    chosen = [m for m in MACHINES if m in arguments.machines]
    unlimited = [m for m in chosen if m not in LIMITED]
    limited = {m for _, _, m in results} & set(LIMITED) & set(chosen)
    groups = [unlimited, chosen] if limited and unlimited else [chosen]
    for group in groups:
        comparison = compare(results, group)
        print_missing(results, comparison)
        if not comparison.sets:
            print("No set has results of all machines: name fewer with --machines.")
            continue
        few, many = min(comparison.n_splits), max(comparison.n_splits)
        splits = f"{few} to {many}" if few < many else f"{few}"
        over = f"the {len(comparison.sets)} sets that all machines have, splits of each: {splits}"
        titles = list(QUALITIES.values())
        print_table(f"Means over {over}", [*titles, *COSTS.values()], mean_table(comparison))
        print_table(f"Mean ranks over {over}", titles, rank_table(comparison))
        if arguments.against in comparison.machines:
            title = f"Difference to {arguments.against} ± standard error, its wins-ties-losses"
            print_table(title, titles, difference_table(comparison, arguments.against))
        if arguments.picture and group is groups[0]:
            ranks = {QUALITIES[m].split(",")[0]: rank(comparison, m) for m in ("error", "log_loss")}
            draw(ranks, f"{len(comparison.sets)} data sets", arguments.picture)
