"""`bayespoint train FOLDER --workers N` on a generated folder of Parquet: seconds and memory.

    python benchmarks/folders.py [--rows 2000000] [--files 20] [--workers 2] [more options of train]

Two classes, six numbers (2 % of one are missing), four towns and a date. Prints what the command
prints, then its seconds and the peak memory of each process, which is looked at every 0.3 s.
"""

# ruff: noqa: T201
from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
import psutil

SECONDS_BETWEEN_LOOKS = 0.3
FIRST_DAY, N_DAYS = pd.Timestamp("2024-01-01"), 700


def write_folder(folder: Path, n_rows: int, n_files: int) -> None:
    """Write files of the same number of rows."""
    rng = np.random.default_rng(0)
    n = n_rows // n_files
    for number in range(n_files):
        X = rng.normal(size=(n, 6))
        town = rng.choice(["Ulm", "Köln", "Bonn", "Berlin"], n)
        score = X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + 0.5 * X[:, 3] + (town == "Ulm")
        score += 0.4 * rng.logistic(size=n)
        days = FIRST_DAY + pd.to_timedelta(rng.integers(0, N_DAYS, n), "D")
        table = pd.DataFrame(X, columns=list("abcdef")).round(4)
        table = table.assign(town=town, day=days.strftime("%Y-%m-%d"))
        table["kind"] = np.where(score > 0.5, "yes", "no")
        table.loc[rng.random(n) < 0.02, "a"] = np.nan
        table.to_parquet(folder / f"part-{number:03}.parquet")


def watched(command: list[str]) -> tuple[float, list[int]]:
    """Run a command; return its seconds and the peak bytes of its processes, largest first."""
    began, process, peaks = time.perf_counter(), subprocess.Popen(command), {}
    while process.poll() is None:
        try:
            root = psutil.Process(process.pid)
            for one in [root, *root.children(recursive=True)]:
                peaks[one.pid] = max(peaks.get(one.pid, 0), one.memory_info().rss)
        except psutil.Error:
            pass  # it has just ended
        time.sleep(SECONDS_BETWEEN_LOOKS)
    return time.perf_counter() - began, sorted(peaks.values(), reverse=True)


def main() -> None:
    """Generate a folder, train, and print seconds and memory."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--files", type=int, default=20)
    parser.add_argument("--workers", type=int, default=2)
    given, more = parser.parse_known_args()
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "rows"
        data.mkdir()
        write_folder(data, given.rows, given.files)
        command = [sys.executable, "-m", "bayespoint", "train", str(data), "--target", "kind"]
        command += ["--model", f"{folder}/model.bayespoint", "--workers", str(given.workers)]
        seconds, peaks = watched([*command, *more])
    megabytes = [f"{peak / 2**20:.0f}" for peak in peaks[: given.workers + 1]]
    print(f"{seconds:.1f} s; peak of each process: {', '.join(megabytes)} MB")


if __name__ == "__main__":
    main()
