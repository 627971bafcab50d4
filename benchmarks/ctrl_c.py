"""Press Ctrl-C at random moments of verbs that run long, and measure how long they take to end.

    python benchmarks/ctrl_c.py [--verbs train ...] [--repeats 10] [--rows 20000]

Prints for each verb how often, the longest time until the process ended, by the clock and in
seconds of a processor, how often it had finished before, and how often it left a draft or ended in
another way than with code 130. The exit code is 1 if any took over two seconds of a processor, or
left something. Needs Linux.
"""

import argparse
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from fault_injection import DRAFT, INTERRUPTED, in_child, mixed_rows

MAX_SECONDS = 2
# A verb that has not ended after so long waits for a person.
MAX_WAIT_SECONDS = 60
TRAIN = "train IN/rows.csv --target kind --model OUT/m"
VERBS = {
    "train": TRAIN,
    "train, kernel": f"{TRAIN} --classifier kernel",
    "train, linear": f"{TRAIN} --classifier linear",
    "train --compact": f"{TRAIN} --classifier kernel --compact 0.01",
    "update": "update IN/linear IN/rows.csv --output OUT/m",
    "cross-validate": "cross-validate IN/few.csv --target kind",
    "predict": "predict IN/kernel IN/rows.csv --output OUT/p.csv",
    "evaluate": "evaluate IN/kernel IN/rows.csv",
    "report": "report IN/kernel IN/rows.csv --output OUT/r.html",
    "explain": "explain IN/kernel IN/rows.csv",
    "export": "export IN/kernel --output OUT/m.onnx",
    "check": "check IN/rows.csv --target kind",
    "label": "label OUT/few.csv --target kind --classes yes,no --model OUT/m --no-browser",
    "label --finish": "label OUT/few.csv --target kind --finish --classes yes,no --model OUT/m",
}


def cpu_seconds(child: int) -> float:
    """Return the processor time of a process so far."""
    fields = Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


def make_world(folder: Path, n_rows: int) -> None:
    """Write rows with many columns, and models of them."""
    rng = np.random.default_rng(0)
    for name, n in (("rows", n_rows), ("few", n_rows // 10)):
        rows = mixed_rows(n, 0)
        for j in range(12):
            rows[f"z{j}"] = np.round(rng.normal(size=n) + 0.3 * (rows["kind"] == "yes"), 3)
        rows.to_csv(folder / f"{name}.csv", index=False)
    for kind in ("linear", "kernel"):
        text = f"train {folder}/rows.csv --target kind --classifier {kind} --model {folder}/{kind}"
        child = in_child(text.split())
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def press(arguments: list[str], after: float, log: Path) -> tuple[float, float, int | None]:
    """Run a verb, press Ctrl-C; return seconds until the end and its code, None if too early."""
    child = in_child(arguments, log=log)
    end = time.monotonic() + after
    while time.monotonic() < end:
        if os.waitpid(child, os.WNOHANG)[0]:
            return 0.0, 0.0, None
        time.sleep(0.005)
    os.kill(child, signal.SIGINT)
    before, began = cpu_seconds(child), time.monotonic()
    _, status, used = os.wait4(child, 0)
    took = time.monotonic() - began
    return took, used.ru_utime + used.ru_stime - before, os.waitstatus_to_exitcode(status)


def main(arguments: list[str] | None = None) -> int:
    """Measure verbs, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--verbs", nargs="*", default=list(VERBS), choices=list(VERBS))
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--rows", type=int, default=20_000)
    given = parser.parse_args(arguments)
    rng, world = random.Random(0), Path(tempfile.mkdtemp(prefix="ctrl_c"))
    folder, failures = world / "out", 0
    try:
        make_world(world, given.rows)
        print("| verb | presses | clock | processor | had ended | left | other code |")  # noqa: T201
        print("|---|---|---|---|---|---|---|", flush=True)  # noqa: T201
        for verb in given.verbs:
            text = VERBS[verb].replace("IN/", f"{world}/").replace("OUT", str(folder))
            clock = cpu = 0.0
            early = left = 0
            other: list[int] = []
            whole = 0.0
            for repeat in range(given.repeats + 1):
                shutil.rmtree(folder, ignore_errors=True)
                folder.mkdir()
                shutil.copy(world / "few.csv", folder)
                began = time.monotonic()
                after = rng.uniform(0, whole) if repeat else MAX_WAIT_SECONDS
                took, used, code = press(text.split(), after, world / "log")
                if not repeat:  # not disturbed, unless it waits for a person
                    whole = time.monotonic() - began
                    continue
                early += code is None
                clock, cpu = max(clock, took), max(cpu, used)
                if code not in (None, 0, INTERRUPTED):
                    other.append(code)
                    print((world / "log").read_text()[-2000:], file=sys.stderr)  # noqa: T201
                left += bool(list(folder.glob(DRAFT)))
            print(  # noqa: T201
                f"| {verb} | {given.repeats} | {clock:.2f} s | {cpu:.2f} s | {early} | {left} | "
                f"{other or 0} |",
                flush=True,
            )
            failures += left + len(other) + (cpu > MAX_SECONDS)
        return int(failures > 0)
    finally:
        shutil.rmtree(world, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
