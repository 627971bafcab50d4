"""The middle: `BayesPointClassifier()` against other classifiers, on 2,000 to 100,000 rows.

    python benchmarks/middle.py run --data FOLDER --out results.jsonl [--sets NAME ...]
        [--rows 5000 10000] [--machines NAME ...] [--splits 2] [--jobs 1]
    python benchmarks/middle.py report results.jsonl [--keep results.csv] [--picture front.png]

`run` fits every machine on every set, several splits each: the given number of rows, at most 70 %
of the set, for training, and up to 5,000 others for the test. The number of the split is its seed.
It writes one line per set, number of rows, split and machine, and goes on where it stopped.
A machine that fails gets a line with its message; delete the line to try again.

`report` prints Markdown: one table of all results for each number of rows, means over sets, paired
differences to ours, and how much of the difference between the former default and the exact
machine ours recovers. The picture is the front: error and log loss of all approximations,
relative to the exact machine, against seconds.

The files of the sets are listed in `middle_data.py`, the machines in `middle_machines.py`.
"""
# ruff: noqa: T201

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy as np
from arena import read_lines
from arena_measures import Split, fit_and_judge
from middle_data import FILES, choose_sets, load_split
from middle_machines import EVERY, MACHINES, OURS, enters
from middle_report import KEYS, report
from threadpoolctl import threadpool_limits

ROWS = [10_000]
N_SPLITS = 2
N_WARM_UP = 300
# The default chooses among these: all of them must be compiled.
CHOICES = ("perceptron", "nystroem", "cells")


def warm_up(names: list[str], n_jobs: int) -> None:
    """Compile or load the loops of our machines, so that no measured fit has to."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N_WARM_UP, 3))
    chosen = [name for name in names if name in OURS]
    for name in dict.fromkeys([*chosen, *CHOICES]) if chosen else ():
        for n_classes in (2, 3):
            y = np.arange(N_WARM_UP) % n_classes
            play(name, Split(X + y[:, None], y, X, y), n_jobs)


def play(name: str, split: Split, n_jobs: int) -> dict:
    """Return what a machine achieves; one that fails loses the match, not the run."""
    try:
        found = fit_and_judge(EVERY[name](split.X, n_jobs), split)
    except Exception as error:
        message = str(error).partition("\n")[0]
        found = {"failed": f"{type(error).__name__}: {message}"}
    return {"jobs": n_jobs} | found


def play_all(split: Split, keys: list[dict], fitted: dict, n_jobs: int) -> Iterator[dict]:
    """Yield the results of the machines that take this split."""
    shape = {
        "n_train": len(split.y),
        "n_test": len(split.y_test),
        "n_features": split.X.shape[1],
        "n_classes": len(np.unique(split.y)),
    }
    for key in keys:
        name = key["machine"]
        if not enters(name, split.X):
            print(f"{name} does not enter {key['set']}: it takes no sparse data.", flush=True)
            continue
        same = (key["set"], len(split.y), key["split"], name)
        # A small set has the same rows for several numbers of rows: it is fitted once.
        if same not in fitted:
            fitted[same] = play(name, split, n_jobs)
        yield {**key, **shape, **fitted[same], "rows": key["rows"]}


def matches(arguments: argparse.Namespace, lines: list[dict]) -> Iterator[dict]:
    """Yield one result for each set, number of rows, split and machine that is not done."""
    sets = choose_sets(arguments.data, arguments.sets)
    done = {tuple(line[key] for key in KEYS) for line in lines}
    fitted = {(r["set"], r["n_train"], r["split"], r["machine"]): r for r in lines}
    warm_up(arguments.machines, arguments.jobs)
    for rows, number, name in product(arguments.rows, range(arguments.splits), sets):
        keys = [dict(zip(KEYS, (name, rows, number, m), strict=True)) for m in arguments.machines]
        keys = [key for key in keys if tuple(key.values()) not in done]
        if keys:
            split = load_split(arguments.data, name, number, rows)
            yield from play_all(split, keys, fitted, arguments.jobs)


def describe(result: dict) -> str:
    """Return a result as a line for a person."""
    outcome = result.get("failed") or (
        f"error {100 * result['error']:6.2f} %  log loss {result['log_loss']:.3f}"
        f"  fit {result['fit_clock']:.2f} s"
    )
    name = f"{result['set']:10} {result['n_train']:6} {result['split']} {result['machine']:15}"
    return f"{name} {outcome}"


def run(arguments: argparse.Namespace) -> None:
    """Fit and judge what the results file does not have yet."""
    lines = read_lines(arguments.out)
    with (
        threadpool_limits(arguments.jobs),
        arguments.out.open("a", encoding="utf-8") as out,
        warnings.catch_warnings(),
    ):
        # Rare classes, optimizers at their bounds, unknown categories: all expected here.
        warnings.simplefilter("ignore")
        for result in matches(arguments, lines):
            out.write(json.dumps(result) + "\n")
            out.flush()
            print(describe(result), flush=True)


def parse(words: list[str] | None = None) -> argparse.Namespace:
    """Return the arguments."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    verbs = parser.add_subparsers(dest="verb", required=True)
    runs = verbs.add_parser("run", help="fit and judge")
    runs.add_argument("--data", type=Path, required=True, help="folder of the sets")
    runs.add_argument("--out", type=Path, default=Path("results.jsonl"), help="results, appended")
    runs.add_argument(
        "--sets", nargs="+", choices=FILES, metavar="NAME", help=f"some of {', '.join(FILES)}"
    )
    runs.add_argument("--rows", type=int, nargs="+", default=ROWS, help="most rows for training")
    runs.add_argument(
        "--machines", nargs="+", choices=EVERY, default=list(MACHINES), metavar="NAME",
        help=f"some of {', '.join(EVERY)}; by default the first {len(MACHINES)}",
    )  # fmt: skip
    runs.add_argument("--splits", type=int, default=N_SPLITS, help="number of splits of each set")
    runs.add_argument("--jobs", type=int, default=1, help="number of threads")
    runs.set_defaults(call=run)
    reports = verbs.add_parser("report", help="print tables, draw the front")
    reports.add_argument("files", type=Path, nargs="+", help="results, .jsonl or kept .csv")
    reports.add_argument("--keep", type=Path, help="write all results to a compact .csv file")
    reports.add_argument("--picture", type=Path, help="the front, .png or .svg")
    reports.set_defaults(call=report)
    return parser.parse_args(words)


def main(words: list[str] | None = None) -> None:
    """Run or report."""
    arguments = parse(words)
    arguments.call(arguments)


if __name__ == "__main__":
    main()
