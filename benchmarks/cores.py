"""Time of small and middle fits: against an older version, with threads, and how much they share.

    python benchmarks/cores.py [--before FOLDER] [--data FOLDER] [--rounds 7] [CASE ...]
    python benchmarks/cores.py --inverse

FOLDER of `--before` is a checkout of another version (`git worktree add FOLDER f0c6b60`), and that
of `--data` has `pendigits.npz` with arrays X and y. Every measurement is a process of its own, and
versions and numbers of threads take turns. On a busy machine look at the time of a core, and at
what two free threads would take by the pieces of work: one thread does them all, and each piece
is timed and counted for the thread that would have been free for it. `--inverse` measures the
inverse of a matrix alone: by LAPACK as a whole, and as fits do it, in one and two threads.
"""
# ruff: noqa: T201

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits, load_iris, make_classification
from sklearn.svm import SVC

SOURCE = Path(__file__).parents[1] / "src"
# Each process fits once to warm up, then until it has taken this many seconds, but not more often.
SECONDS, MAX_FITS = 1.0, 20
# Sizes of inverses, and operations after which each has been repeated often enough.
INVERSE_POINTS, INVERSE_OPERATIONS = (150, 400, 500, 1000, 2000), 2 * 10**9
CASES = {
    "iris": {},
    "digits": {},
    "pendigits": {},
    "binary": {},
    "iris_ep": {"kernel": "rbf"},
    "digits_ep": {"kernel": "rbf"},
    "binary_ep": {"kernel": "rbf"},
}


def load(case: str, folder: str | None) -> tuple[np.ndarray, np.ndarray]:
    """Return up to 1,000 rows (2,000 of two classes)."""
    name = case.removesuffix("_ep")
    if name == "iris":
        return load_iris(return_X_y=True)
    if name == "binary":
        return make_classification(2000, 20, n_informative=8, flip_y=0.1, random_state=0)
    if name == "digits":
        X, y = load_digits(return_X_y=True)
    else:
        arrays = np.load(Path(folder or ".") / f"{name}.npz", allow_pickle=True)
        X, y = arrays["X"], arrays["y"]
    some = np.random.default_rng(0).permutation(len(y))[:1000]
    return X[some], y[some]


class Pieces:
    """Does shared work in this thread, and counts what a second thread would have taken over."""

    saved = 0.0

    def run(self, function, items) -> list:
        """Replace `ThreadMap.run`."""
        results, of_thread = [], [0.0, 0.0]
        for item in items:
            began = time.thread_time()
            results.append(function(item))
            of_thread[of_thread.index(min(of_thread))] += time.thread_time() - began
        Pieces.saved += min(of_thread)
        return results


def measure(case: str, machine: str, folder: str | None) -> None:
    """Print what a fit takes in this process: by the clock, of all cores, of two free threads."""
    from bayespoint import BayesPointClassifier

    if machine == "pieces":
        from bayespoint._runtime.threads import ThreadMap

        machine, ThreadMap.run = "2", Pieces.run
    X, y = load(case, folder)

    def fit():
        if machine == "SVC":
            return SVC().fit(X, y)
        model = BayesPointClassifier(**CASES[case], n_jobs=int(machine), random_state=0)
        return model.fit(X, y)

    model = fit()
    taken = []
    end = time.perf_counter() + SECONDS
    while len(taken) < 2 or (time.perf_counter() < end and len(taken) < MAX_FITS):
        Pieces.saved = 0.0
        before = time.perf_counter(), time.process_time(), time.process_time()
        fit()
        after = time.perf_counter(), time.process_time(), time.process_time() - Pieces.saved
        taken.append(np.subtract(after, before))
    bits = hashlib.sha256(np.ascontiguousarray(model.dual_coef_).tobytes()).hexdigest()[:12]
    print(json.dumps([*np.median(taken, axis=0), bits]))


def run(source: Path, case: str, machine: str, folder: str | None) -> list:
    """Measure in a process with the given version."""
    command = [sys.executable, __file__, "--measure", machine, case]
    command += ["--data", folder] if folder else []
    environment = dict(os.environ, PYTHONPATH=str(source))
    out = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if out.returncode:
        raise SystemExit(out.stderr)
    return json.loads(out.stdout.splitlines()[-1])


def compare(case: str, before: Path | None, folder: str | None, rounds: int) -> None:
    """Measure all versions and numbers of threads in turns, and print the ratios."""
    machines = {"one": (SOURCE, "1"), "two": (SOURCE, "2"), "three": (SOURCE, "3")}
    machines["pieces"] = (SOURCE, "pieces")
    if before is not None:
        machines["before"] = (before / "src", "1")
    if case == "iris":
        machines["SVC"] = (SOURCE, "SVC")
    found: dict[str, list] = {name: [] for name in machines}
    for _ in range(rounds):
        for name, (source, machine) in machines.items():
            found[name].append(run(source, case, machine, folder))
    clock, core, free = (
        {name: np.array([row[i] for row in rows]) for name, rows in found.items()} for i in range(3)
    )
    bits = {row[3] for name in ("one", "two", "three") for row in found[name]}
    print(f"\n{case}, {rounds} rounds, load {os.getloadavg()[0]:.1f}")
    for name in (name for name in machines if name != "pieces"):
        print(f"  {name:6}  {1e3 * np.median(clock[name]):8.1f} ms by the clock", end="")
        print(f"  {1e3 * np.median(core[name]):8.1f} of a core, least {1e3 * core[name].min():.1f}")
    if before is not None:
        ratio = np.median(core["before"] / core["one"])
        print(f"  {ratio:.2f} times as fast as before, by time of a core (median of rounds)")
    gain = clock["one"] / clock["two"]
    bound = core["pieces"] / free["pieces"]
    print(f"  two threads: {np.median(gain):.2f} times as fast, best quarter", end="")
    print(f" {np.percentile(gain, 75):.2f}; free ones by pieces {np.median(bound):.2f}")
    print(f"  the same bits with one, two and three threads: {len(bits) == 1}", flush=True)


def measure_inverses() -> None:
    """Print how long inverses take, the best of a few repetitions."""
    from bayespoint._jit.triangle import mirror_lower
    from bayespoint._runtime import lapack
    from bayespoint._runtime.threads import one_blas_thread, threads
    from bayespoint.solvers.definite_inverse import invert_definite

    def by_lapack(matrix, _):
        lapack.factor_upper(matrix.T, clear=False)
        lapack.invert_upper(matrix.T)
        lapack.square_of_upper(matrix.T)
        mirror_lower(matrix)

    ways = (("LAPACK", by_lapack, 1), ("one", invert_definite, 1), ("two", invert_definite, 2))
    with one_blas_thread():
        for n in INVERSE_POINTS:
            root = np.random.default_rng(0).standard_normal((n, n))
            definite = root @ root.T + n * np.eye(n)
            matrix, line = definite.copy(), f"{n:5} points"
            for name, invert, n_threads in ways:
                with threads(n_threads) as thread_map:
                    taken = []
                    for _ in range(INVERSE_OPERATIONS // n**3 + 3):
                        matrix[:] = definite
                        began = time.perf_counter()
                        invert(matrix, thread_map)
                        taken.append(time.perf_counter() - began)
                line += f"  {name} {1e3 * min(taken):.3f} ms"
            print(line, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", nargs="*", metavar="CASE", help=", ".join(CASES))
    parser.add_argument("--before", type=Path)
    parser.add_argument("--data")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--inverse", action="store_true")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.inverse:
        measure_inverses()
        return
    if given.measure:
        measure(given.cases[0], given.measure, given.data)
        return
    cases = given.cases or [c for c in CASES if given.data or not c.startswith("pendigits")]
    for case in cases:
        compare(case, given.before, given.data, given.rounds)


if __name__ == "__main__":
    main()
