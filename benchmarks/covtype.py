"""All rows of covtype, seven classes: the default on one machine and on a cluster, and others.

    python benchmarks/covtype.py --data FOLDER --out FOLDER [--rows 500000] [--part PART ...]

Learns from some rows at random (by default 500,000 of 581,012) and is tested on 81,012 others.
Each machine runs in a process of its own, with default arguments except for the number of
threads. Results go to files in a folder, so that parts can be run one after another; in the end
all results for this number of rows are printed. `--all` fits our machines to all rows instead,
for the time alone.

Seconds are those of the fit. Memory is the peak of the process that fits, and of the largest
worker, data included. Workers of a `LocalCluster` are processes with one thread; they read their
partitions from files, which is timed.
"""
# ruff: noqa: T201

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from cluster_kernel import covtype, timed_fit, write_parts
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.metrics import log_loss
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bayespoint import BayesPointClassifier

N_TEST = 81_012
# As many landmarks as `BayesPointClassifier(solver="nystroem")` has.
N_COMPONENTS = 500


def lightgbm(**parameters):
    """Return a classifier of LightGBM."""
    from lightgbm import LGBMClassifier

    return LGBMClassifier(n_jobs=1, verbose=-1, random_state=0, **parameters)


def nystroem(classifier):
    """Return landmarks of scikit-learn with a linear classifier."""
    features = Nystroem(n_components=N_COMPONENTS, random_state=0)
    return make_pipeline(StandardScaler(), features, classifier)


MACHINES = {
    "default": lambda: BayesPointClassifier(random_state=0),
    "default, n_jobs=2": lambda: BayesPointClassifier(random_state=0, n_jobs=2),
    "default, one worker": 1,
    "default, two workers": 2,
    "LightGBM": lightgbm,
    "LightGBM, 500 trees, 255 leaves": lambda: lightgbm(n_estimators=500, num_leaves=255),
    "HistGradientBoosting": lambda: HistGradientBoostingClassifier(random_state=0),
    "Nystroem, SGD": lambda: nystroem(SGDClassifier(loss="log_loss", random_state=0)),
    "Nystroem, LogisticRegression": lambda: nystroem(LogisticRegression(max_iter=200)),
}


def peak() -> float:
    """Return the largest memory of this process so far, in megabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def fit(machine, X: np.ndarray, y: np.ndarray):
    """Return a fitted model, and what is known about the fit."""
    if isinstance(machine, int):
        with tempfile.TemporaryDirectory() as folder:
            paths = write_parts(folder, X, y)
            model, seconds, cpu, of_worker = timed_fit(paths, "auto", machine)
        return model, {"seconds": seconds, "cpu": cpu, "MB": peak(), "MB of a worker": of_worker}
    began, cpu = time.perf_counter(), time.process_time()
    model = machine().fit(X, y)
    seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
    return model, {"seconds": seconds, "cpu": cpu, "MB": peak()}


def run_one(part: str, data: Path, out: Path, n_rows: int, use_all: bool) -> None:
    """Fit and test one machine; write a line of results."""
    X, y = covtype(data / "large" / "covtype.npz")
    if use_all:
        n_rows = len(y)
    model, result = fit(MACHINES[part], X[:n_rows], y[:n_rows])
    result = {"part": part, "rows": n_rows, **result}
    if not use_all:
        T, t = X[-N_TEST:], y[-N_TEST:]
        began = time.perf_counter()
        p = model.predict_proba(T)
        result["predict"] = time.perf_counter() - began
        result["error"] = 100 * float(np.mean(model.classes_[p.argmax(axis=1)] != t))
        result["log loss"] = float(log_loss(t, p))
        known = out / f"covtype-{n_rows}.npy"
        if part == "default":
            np.save(known, p)
        elif part.startswith("default") and known.exists():
            result["differs"] = float(np.abs(np.load(known) - p).max())
    with (out / "covtype.jsonl").open("a") as file:
        print(json.dumps(result), file=file)


def report(out: Path, n_rows: int) -> None:
    """Print a table of the latest results for a number of rows."""
    lines = (out / "covtype.jsonl").read_text().splitlines()
    found = [r for r in map(json.loads, lines) if r["rows"] == n_rows]
    latest = {result["part"]: result for result in found}
    columns = ("error", "log loss", "seconds", "cpu", "predict", "MB", "MB of a worker", "differs")
    digits = (".2f", ".4f", ".1f", ".1f", ".1f", ".0f", ".0f", ".1e")
    print(f"| {n_rows:,} rows | {' | '.join(columns)} |")
    print("|---" * (len(columns) + 1) + "|")
    for part in MACHINES:
        if part in latest:
            cells = [
                format(latest[part][c], d) if c in latest[part] else ""
                for c, d in zip(columns, digits, strict=True)
            ]
            print(f"| {part} | {' | '.join(cells)} |")


def main() -> None:
    """Run parts in processes of their own, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with large/covtype.npz")
    parser.add_argument("--out", type=Path, required=True, help="folder for results")
    parser.add_argument("--rows", type=int, default=500_000)
    parser.add_argument("--part", nargs="*", choices=list(MACHINES), default=list(MACHINES))
    parser.add_argument("--all", action="store_true", help="fit all rows, without a test")
    parser.add_argument("--one", choices=list(MACHINES), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    given = arguments.data, arguments.out, arguments.rows, arguments.all
    if arguments.one is not None:
        run_one(arguments.one, *given)
        return
    arguments.out.mkdir(parents=True, exist_ok=True)
    for part in arguments.part:
        subprocess.run([sys.executable, *sys.argv, "--one", part], check=True)
    report(arguments.out, 581_012 if arguments.all else arguments.rows)


if __name__ == "__main__":
    main()
