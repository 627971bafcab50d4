"""The cost of starting: importing the package, and the first fit of a process.

Import times are measured inside new processes that take turns, with bytecode compiled before.
The yardstick is `import sklearn.svm`; "above" is the median difference between a process and its
neighbor with the yardstick. CPU time is what a process would take on a machine that is not
shared. The first fit is made twice: with an empty folder for numba's cache (compiling), and with
the folder as the first process left it. The second process should load everything and compile
nothing; the counts of numba's cache statistics and of the files in the folder show it.

Then the verbs of the command, on a table of 150 rows: CPU seconds of the whole process, user and
system, and their ratio to the yardstick in the same turn.
"""
# ruff: noqa: T201

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

REPEATS = 9
IMPORTS = {
    "import sklearn.svm": "import sklearn.svm",
    "import bayespoint": "import bayespoint",
    "from bayespoint import BayesPointClassifier": "from bayespoint import BayesPointClassifier",
}
TIMED = """
import time
wall, cpu = time.perf_counter(), time.process_time()
{code}
print(time.perf_counter() - wall, time.process_time() - cpu)
"""
FIRST_FIT = """
import importlib, json, pkgutil, time
import numpy as np
import bayespoint._jit
from bayespoint import BayesPointClassifier

rng = np.random.default_rng(0)
X = rng.standard_normal((100, 5))
y = X[:, 0] * X[:, 1] + 0.3 * rng.standard_normal(100) > 0
model = BayesPointClassifier(softness=0.1, random_state=0)
times = []
for _ in range(2):
    began = time.perf_counter()
    model.fit(X, y).predict_proba(X)
    times.append(time.perf_counter() - began)
hits = misses = 0
for module in pkgutil.iter_modules(bayespoint._jit.__path__):
    module = importlib.import_module("bayespoint._jit." + module.name)
    for loop in vars(module).values():
        if hasattr(loop, "stats"):
            hits += sum(loop.stats.cache_hits.values())
            misses += sum(loop.stats.cache_misses.values())
print(json.dumps({"first": times[0], "second": times[1], "hits": hits, "misses": misses}))
"""

N_ROWS = 150
VERBS = {
    "train": "train DATA --target class --model MODEL",
    "predict": "predict MODEL DATA --output OUT.csv",
    "evaluate": "evaluate MODEL DATA",
    "explain": "explain MODEL DATA",
    "report": "report MODEL DATA --output OUT.html",
    "diagnose": "diagnose MODEL",
    "help": "train --help",
}


def run(code: str, **environment: str) -> str:
    """Return what a new process prints."""
    command = [sys.executable, "-W", "ignore", "-c", code]
    environment = os.environ | environment
    return subprocess.run(
        command, env=environment, capture_output=True, text=True, check=True
    ).stdout


def time_imports() -> None:
    """Print import times and what is above the yardstick."""
    times = {name: [] for name in IMPORTS}
    with tempfile.TemporaryDirectory() as folder:
        settings = {"PYTHONPYCACHEPREFIX": folder, "PYTHONDONTWRITEBYTECODE": ""}
        for turn in range(REPEATS + 1):
            for name, code in IMPORTS.items():
                printed = run(TIMED.format(code=code), **settings).split()
                if turn > 0:  # the first turn writes bytecode
                    times[name].append([float(x) for x in printed])
    yardstick = np.array(times["import sklearn.svm"])
    print(f"medians of {REPEATS}, seconds{'':26}{'wall':>7}{'above':>8}{'CPU':>8}{'above':>8}")
    for name, record in times.items():
        wall, cpu = np.median(record, axis=0)
        above, cpu_above = np.median(record - yardstick, axis=0)
        print(f"{name:46}{wall:7.3f}{above:8.3f}{cpu:8.3f}{cpu_above:8.3f}")


def time_first_fit() -> None:
    """Print the time of the first fit with an empty and with a full cache."""
    print("\nnumba cache   first fit  second  loaded  compiled  files")
    with tempfile.TemporaryDirectory() as folder:
        for state in ("empty", "full", "full"):
            result = json.loads(run(FIRST_FIT, NUMBA_CACHE_DIR=folder))
            files = sum(1 for path in Path(folder).rglob("*.nb*"))
            print(
                f"{state:13}{result['first']:10.2f}{result['second']:8.3f}{result['hits']:8}"
                f"{result['misses']:10}{files:7}"
            )


def cpu_seconds(command: list[str], folder: str) -> float:
    """Return the CPU time of a process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def time_verbs() -> None:
    """Print the CPU time of each verb on a small table."""
    rng = np.random.default_rng(0)
    points = rng.standard_normal((N_ROWS, 4)).round(2)
    names = np.array(["red", "green", "blue"])[(3 * rng.random(N_ROWS)).astype(int)]
    python = [sys.executable, "-W", "ignore"]
    times: dict[str, list[float]] = {name: [] for name in ("import sklearn.svm", *VERBS)}
    with tempfile.TemporaryDirectory() as folder:
        lines = [
            ",".join(map(str, point)) + f",{name}"
            for point, name in zip(points, names, strict=True)
        ]
        Path(folder, "DATA").write_text("\n".join(["a,b,c,d,class", *lines]))
        for turn in range(REPEATS + 1):
            for name, record in times.items():
                what = ["-m", "bayespoint", *VERBS[name].split()] if name in VERBS else ["-c", name]
                seconds = cpu_seconds([*python, *what], folder)
                if turn > 0:  # the first turn fills caches
                    record.append(seconds)
    yardstick = np.array(times["import sklearn.svm"])
    print(f"\nmedians of {REPEATS}, a table of {N_ROWS} rows{'':10}CPU s  ratio")
    for name, record in times.items():
        ratio = np.median(np.array(record) / yardstick)
        print(f"{name:42}{np.median(record):8.2f}{ratio:7.2f}")


if __name__ == "__main__":
    time_imports()
    time_first_fit()
    time_verbs()
