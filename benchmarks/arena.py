"""The arena: `BayesPointClassifier()` against other classifiers, on any folder of tables.

    python benchmarks/arena.py run --data FOLDER --out results.jsonl [--splits 2] [--sets NAME ...]
    python benchmarks/arena.py report results.jsonl [--picture ranks.png] [--keep results.csv]

`run` fits every machine on every file FOLDER/NAME.npz (X, y), several splits each: 60 % of the
rows, at most 1,000, for training, and up to 2,000 others for the test. It writes one line per
set, split and machine, and goes on where it stopped. One thread; times are CPU times.

`report` prints means over sets, mean ranks, and paired differences to ours. A table has only the
sets that all its machines have.
"""
# ruff: noqa: T201

from __future__ import annotations

import os

if __name__ == "__main__":  # before NumPy is imported: BLAS libraries read it once
    for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[variable] = "1"

import argparse
import json
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from arena_machines import MACHINES, OPTIONAL, OURS, enters, is_installed
from arena_measures import fit_and_judge, load_split
from arena_report import report
from threadpoolctl import threadpool_limits

MAX_TRAIN = 1000
N_SPLITS = 2
N_WARM_UP = 90


def read_lines(file: Path) -> list[dict]:
    """Return the lines of a results file; a last line that a killed run left is removed."""
    if not file.exists():
        return []
    text = file.read_text("utf-8")
    whole = text[: text.rfind("\n") + 1]
    if whole != text:
        file.write_text(whole, "utf-8")
    return [json.loads(line) for line in whole.splitlines()]


def warm_up(names: list[str]) -> None:
    """Compile or load the loops of our machines, so that no measured fit has to."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N_WARM_UP, 3))
    for name in set(OURS) & set(names):
        for n_classes in (2, 3):
            y = np.arange(N_WARM_UP) % n_classes
            model = MACHINES[name](X, y).fit(X + y[:, None], y)
            model.predict_proba(X)


def choose_machines(names: list[str]) -> list[str]:
    """Return the machines that can run; say how to install the others."""
    for name in names:
        if not is_installed(name):
            print(f"{name} is left out: install it with `pip install {name}`.", flush=True)
    return [name for name in names if is_installed(name)]


def choose_sets(folder: Path, names: list[str] | None) -> list[Path]:
    """Return the files of the sets."""
    files = sorted(folder.glob("*.npz"))
    unknown = set(names or ()) - {file.stem for file in files}
    if unknown or not files:
        wanted = ", ".join(sorted(unknown)) or "at least one .npz file"
        raise SystemExit(f"Expected {wanted} in {folder}; it has {len(files)} files NAME.npz.")
    return [file for file in files if names is None or file.stem in names]


def matches(arguments: argparse.Namespace, done: set) -> Iterator[dict]:
    """Yield one result for each set, split and machine that is not done."""
    machines = choose_machines(arguments.machines)
    warm_up(machines)
    for number in range(arguments.splits):
        for file in choose_sets(arguments.data, arguments.sets):
            split = load_split(file, number, arguments.max_train)
            n_classes = len(np.unique(split.y))
            for name in machines:
                key = {"set": file.stem, "split": number, "machine": name}
                if tuple(key.values()) in done or not enters(name, len(split.y), n_classes):
                    continue
                shape = {
                    "n_train": len(split.y),
                    "n_test": len(split.y_test),
                    "n_features": split.X.shape[1],
                    "n_classes": n_classes,
                }
                try:
                    found = fit_and_judge(MACHINES[name](split.X, split.y), split)
                except Exception as error:  # a machine that fails loses this set, not the arena
                    message = str(error).partition("\n")[0]
                    found = {"failed": f"{type(error).__name__}: {message}"}
                yield key | shape | found


def run(arguments: argparse.Namespace) -> None:
    """Fit and judge what the results file does not have yet."""
    done = {(r["set"], r["split"], r["machine"]) for r in read_lines(arguments.out)}
    with (
        threadpool_limits(1),
        arguments.out.open("a", encoding="utf-8") as out,
        warnings.catch_warnings(),
    ):
        # Rare classes, optimizers at their bounds, features without names: all expected here.
        warnings.simplefilter("ignore")
        for result in matches(arguments, done):
            out.write(json.dumps(result) + "\n")
            out.flush()
            outcome = result.get("failed") or (
                f"error {100 * result['error']:6.2f} %  log loss {result['log_loss']:.3f}"
                f"  fit {result['fit_cpu']:.2f} s"
            )
            name = f"{result['set']:32} {result['split']} {result['machine']:15}"
            print(f"{name} {outcome}", flush=True)


def parse(words: list[str] | None = None) -> argparse.Namespace:
    """Return the arguments."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    verbs = parser.add_subparsers(dest="verb", required=True)
    runs = verbs.add_parser("run", help="fit and judge")
    runs.add_argument("--data", type=Path, required=True, help="folder of .npz files with X and y")
    runs.add_argument("--out", type=Path, default=Path("results.jsonl"), help="results, appended")
    runs.add_argument("--splits", type=int, default=N_SPLITS, help="number of splits of each set")
    runs.add_argument("--max-train", type=int, default=MAX_TRAIN, help="most rows for training")
    runs.add_argument("--sets", nargs="+", metavar="NAME", help="some sets only")
    runs.set_defaults(call=run)
    reports = verbs.add_parser("report", help="print tables, draw ranks")
    reports.add_argument("files", type=Path, nargs="+", help="results, .jsonl or kept .csv")
    reports.add_argument("--against", default=OURS[0], choices=MACHINES, help="compare with it")
    reports.add_argument("--picture", type=Path, help="critical-difference picture, .png or .svg")
    reports.add_argument("--keep", type=Path, help="write all results to a compact .csv file")
    reports.set_defaults(call=report)
    for verb in (runs, reports):
        verb.add_argument(
            "--machines", nargs="+", choices=MACHINES, default=list(MACHINES), metavar="NAME",
            help=f"some of {', '.join(MACHINES)}; {' and '.join(OPTIONAL)} are optional packages",
        )  # fmt: skip
    return parser.parse_args(words)


def main(words: list[str] | None = None) -> None:
    """Run or report."""
    arguments = parse(words)
    arguments.call(arguments)


if __name__ == "__main__":
    main()
