"""`bayespoint train` on large generated files: are the limits kept, is the better machine chosen?

    python benchmarks/large_files.py [skin] [sleep] [kddcup] [--max-time 30] [--max-memory 2G]

Each file is trained in a process of its own. Prints wall time, CPU time and peak memory of the
process, the machine that was chosen, and the errors of both machines.
"""

# ruff: noqa: T201
from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from large_data import N_ROWS, make_table

from bayespoint.cli.limits import parse_size

HEADER = (
    "| file | rows | wall s | CPU s | peak MB | chosen | rows used | test error | linear | kernel |"
)


def main() -> None:
    """Generate files, train, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=list(N_ROWS))
    parser.add_argument("--rows", type=int, default=None, help="rows of each file")
    parser.add_argument("--max-time", type=float, default=30.0)
    parser.add_argument("--max-memory", default="2G")
    given = parser.parse_args()
    print(HEADER)
    print("|" + "---|" * 10)
    with tempfile.TemporaryDirectory() as folder:
        for name in given.names:
            path = Path(folder) / f"{name}.csv"
            table = make_table(name, given.rows)
            table.to_csv(path, index=False)
            run(name, len(table), path, given.max_time, given.max_memory)


def run(name: str, n_rows: int, path: Path, max_time: float, max_memory: str) -> None:
    """Train with a file, and print a row of the table."""
    command = [sys.executable, "-m", "bayespoint", "train", str(path), "--target", "target"]
    command += ["--model", str(path.with_suffix(".bayespoint")), "--json"]
    command += ["--max-time", str(max_time), "--max-memory", max_memory]
    began = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    result = json.loads(process.stdout.read())
    usage = os.wait4(process.pid, 0)[2]
    wall = time.perf_counter() - began
    contest = result["contest"]
    errors = [f"{100 * contest[kind]['error']:.1f} %" for kind in ("linear", "kernel")]
    cells = [name, f"{n_rows:,}", f"{wall:.1f}", f"{usage.ru_utime + usage.ru_stime:.1f}"]
    cells += [f"{usage.ru_maxrss / 1024:.0f}", contest["winner"], f"{result['n_rows']:,}"]
    print("|", " | ".join([*cells, f"{100 * result['error']:.1f} %", *errors]), "|", flush=True)
    if wall > 1.2 * max_time or 1024 * usage.ru_maxrss > 1.2 * parse_size(max_memory):
        print(f"{name}: a limit was exceeded by more than a fifth", file=sys.stderr)


if __name__ == "__main__":
    main()
