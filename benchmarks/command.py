"""`bayespoint predict` compared with `predict` in Python, and its memory for many rows.

    python benchmarks/command.py [rate] [memory] [--rows 1000000] [--many 10000000]

Rows have six numbers and two texts, some of them missing. `rate`: the command reads a CSV file,
predicts and writes another one; everything counts except the start of Python. In Python the same
model predicts the same rows in a data frame, in one call and in calls of 100,000 rows, which is
about the best size. Both take turns; medians of three. `memory`: the largest resident size of
the command for a tenth of the rows and for all of them.
"""

# ruff: noqa: T201

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

import bayespoint

N_TRAIN = 20_000
PIECE = 100_000
REPEATS = 3


def table(n_rows: int, seed: int) -> pd.DataFrame:
    """Return generated rows."""
    rng = np.random.default_rng(seed)
    numbers = rng.standard_normal((n_rows, 6)).round(3)
    numbers[rng.random(numbers.shape) < 0.02] = np.nan
    rows = pd.DataFrame(numbers, columns=[f"number {i}" for i in range(6)])
    rows["color"] = rng.choice(["red", "green", "blue", "grey"], n_rows)
    rows["place"] = rng.choice([f"place {i}" for i in range(30)], n_rows)
    score = np.nansum(numbers[:, :3], axis=1) + (rows.color == "red")
    rows["class"] = np.where(score + rng.standard_normal(n_rows) > 0, "yes", "no")
    return rows


def write(path: Path, n_rows: int) -> None:
    """Write many rows, in parts."""
    for start in range(0, n_rows, PIECE):
        rows = table(min(PIECE, n_rows - start), 1 + start).drop(columns="class")
        rows.to_csv(path, mode="a", header=start == 0, index=False)


def command(*words: object) -> tuple[dict, float]:
    """Run the command; return its results and its largest resident size in megabytes."""
    code = (
        "import resource, sys; from bayespoint.cli.app import app\n"
        "try: app()\n"
        "finally: print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)"
    )
    run = subprocess.run(
        [sys.executable, "-c", code, *map(str, words), "--json"],
        check=True,
        capture_output=True,
        text=True,
    )
    return json.loads(run.stdout), int(run.stderr.split()[-1]) / 1024


def rate(folder: Path, model: Path, n_rows: int) -> None:
    """Compare the command with Python."""
    path = folder / "rows.csv"
    path.unlink(missing_ok=True)
    write(path, n_rows)
    loaded = bayespoint.load(model)
    rows = pd.read_csv(path, dtype={"color": object, "place": object})
    record = []
    for _ in range(REPEATS):
        seconds = command("predict", model, path, "--output", folder / "out.csv")[0]["seconds"]
        times = [time.perf_counter()]
        loaded.predict(rows)
        times.append(time.perf_counter())
        for start in range(0, n_rows, PIECE):
            loaded.predict(rows[start : start + PIECE])
        record.append((seconds, *np.diff([*times, time.perf_counter()])))
    ours, call, pieces = np.median(record, axis=0)
    print(
        f"  {n_rows:,} rows: command {ours:.1f} s, {n_rows / ours:,.0f} rows per second; Python "
        f"{call:.1f} s, the command has {call / ours:.2f} of its rate; in parts "
        f"{pieces:.1f} s, {pieces / ours:.2f} of its rate",
        flush=True,
    )


def memory(folder: Path, model: Path, n_rows: int) -> None:
    """Measure the memory of the command."""
    for n in (n_rows // 10, n_rows):
        path = folder / "many.csv"
        path.unlink(missing_ok=True)
        write(path, n)
        figures, megabytes = command("predict", model, path, "--output", folder / "out.csv")
        print(
            f"  {n:,} rows ({path.stat().st_size / 1e6:,.0f} MB): {figures['seconds']:.0f} s, "
            f"largest resident size {megabytes:.0f} MB",
            flush=True,
        )


def main() -> None:
    """Run the requested parts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", default=["rate", "memory"])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--many", type=int, default=10_000_000)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        table(N_TRAIN, 0).to_csv(folder / "train.csv", index=False)
        for kind in ("linear", "kernel"):
            model = folder / f"{kind}.bayespoint"
            words = "train", folder / "train.csv", "--target", "class", "--model", model
            command(*words, "--classifier", kind)
            print(f"{kind}:", flush=True)
            # A kernel machine takes longer for each row, so fewer rows are enough.
            scale = 1 if kind == "linear" else 10
            if "rate" in arguments.parts:
                rate(folder, model, arguments.rows // scale)
            if "memory" in arguments.parts and kind == "linear":
                memory(folder, model, arguments.many)


if __name__ == "__main__":
    main()
