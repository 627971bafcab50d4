"""Learning one row at a time: how long it takes, and when to choose parameters anew.

    python benchmarks/incremental.py speed
    python benchmarks/incremental.py labeling
    python benchmarks/incremental.py choice --data FOLDER [--sets NAME ...] [--rows 500] [--sorted]

speed: CPU milliseconds of partial_fit and forget of one row at m rows, their growth with m, and the
ratios to a fit on all rows with the same parameters and to a plain fit.
labeling: one label learned and 10,000 rows of a pool predicted again, at 500 labels.
choice: rows come one by one, from 20 on; error and log loss at checkpoints under several rules for
a new choice of parameters, beside fresh fits on the same rows. Data: digits, and files NAME.npz
(X, y) with enough rows. With --sorted the rows come in the order of their first principal
component, so that later rows differ from those of the last choice; the test rows are random.

All run on one core; times are medians.
"""
# ruff: noqa: T201

from __future__ import annotations

import argparse
import copy
import time
import warnings
from pathlib import Path
from unittest.mock import patch

import numpy as np
from sklearn.datasets import load_digits, make_classification
from threadpoolctl import threadpool_limits

from bayespoint import BayesPointClassifier
from bayespoint._runtime.progress import Progress
from bayespoint.classifiers._pool import PoolKernel
from bayespoint.fitting import choice_rule
from bayespoint.fitting.dispatch import solve_task

SIZES = (100, 200, 500, 1000, 2000)
N_POOL = 10_000
CHECKPOINTS = (30, 50, 80, 120, 200, 300, 400, 500)
MIN_TEST_ROWS = 200
NEVER = 1e9
# Growth that makes a choice due, and growth that is enough if left-out labels got less probable.
RULES = {
    "never": (NEVER, NEVER),
    "worse": (NEVER, 1.15),
    "2": (2.0, NEVER),
    "2, worse": (2.0, 1.15),
    "1.5": (1.5, NEVER),
    "1.5, worse": (1.5, 1.15),
    "1.25": (1.25, NEVER),
}


def cpu_time(function, *arguments, **options) -> float:
    """Return the CPU seconds of a call."""
    began = time.process_time()
    function(*arguments, **options)
    return time.process_time() - began


def rows_to_learn(n_classes: int, n: int):
    """Return points of 20 columns."""
    return make_classification(
        n, 20, n_informative=8, n_classes=n_classes, flip_y=0.1, random_state=0
    )


def refit(model) -> None:
    """Fit all rows with the same parameters."""
    twin = copy.deepcopy(model)
    solve_task(twin._learned_task(twin._used_rows()), lambda n: Progress(twin, n, 0))


def speed() -> None:
    """Print a table for each solver and number of classes."""
    for solver, n_classes in (("regression", 2), ("regression", 10), ("ep", 2)):
        X, y = rows_to_learn(n_classes, SIZES[-1] + 40)
        print(f"\n{solver}, {n_classes} classes: CPU milliseconds")
        print("|     m | partial_fit | forget | same parameters | plain fit | ratios |")
        print("|---|---|---|---|---|---|")
        learned = []
        for m in SIZES:
            m = min(m, SIZES[-1] - 15)  # up to 2000 rows grow
            model = BayesPointClassifier(solver=solver, random_state=0)
            plain = cpu_time(model.fit, X[:m], y[:m])
            model.partial_fit(X[m : m + 1], y[m : m + 1], choose=False)
            add, drop = [], []
            for i in range(m + 1, m + 12):
                add.append(cpu_time(model.partial_fit, X[[i]], y[[i]], choose=False))
            for i in range(5):
                drop.append(cpu_time(model.forget, i, choose=False))
            same = min(cpu_time(refit, model) for _ in range(2))
            each = float(np.median(add))
            learned.append((m, each))
            times = (1e3 * t for t in (each, np.median(drop), same, plain))
            cells = [f"{m:5d}", *(f"{t:8.1f}" for t in times)]
            print(f"| {' | '.join(cells)} | {same / each:.0f}, {plain / each:.0f} |")
        sizes, seconds = np.log(learned).T
        print(f"growth: m^{np.polyfit(sizes, seconds, 1)[0]:.2f}", end="; ")
        print(f"from {learned[-2][0]} rows on m^{np.diff(seconds)[-1] / np.diff(sizes)[-1]:.2f}")


def labeling() -> None:
    """Print the time of one label and new probabilities of the pool."""
    X, y = load_digits(return_X_y=True)
    rng = np.random.default_rng(0)
    pool_rows = X[rng.integers(len(X), size=N_POOL)] + rng.integers(0, 2, (N_POOL, X.shape[1]))
    for options in ({}, {"solver": "ep"}, {"kernel": "rbf"}):
        model = BayesPointClassifier(random_state=0, **options).fit(X[:500], y[:500])
        pool = PoolKernel(pool_rows)
        first = cpu_time(pool.proba, model)
        model.partial_fit(X[500:501], y[500:501], choose=False)
        learn, ask = [], []
        for i in range(501, 521):
            learn.append(cpu_time(model.partial_fit, X[[i]], y[[i]], choose=False))
            ask.append(cpu_time(pool.proba, model))
        whole = cpu_time(model.predict_proba, pool_rows)
        off = np.abs(pool.proba(model) - model.predict_proba(pool_rows)).max()
        print(
            f"digits, 500 labels, {options}: partial_fit {1e3 * np.median(learn):.1f} ms, pool of "
            f"{N_POOL}: {1e3 * np.median(ask):.1f} ms (first {1e3 * first:.0f}, predict_proba "
            f"{1e3 * whole:.0f}); largest difference {off:.1e}"
        )


def path_of(X, y, rule: tuple[float, float], n_rows: int, test) -> tuple[list, int, float]:
    """Return error and log loss at checkpoints, the number of choices, and CPU seconds."""
    measured, n_choices, began = [], 0, time.process_time()
    spent_on_tests = 0.0
    classes = np.unique(y)
    with (
        patch.object(choice_rule, "GROWTH", rule[0]),
        patch.object(choice_rule, "GROWTH_IF_WORSE", rule[1]),
    ):
        model = BayesPointClassifier(random_state=0).partial_fit(X[:20], y[:20], classes=classes)
        for i in range(20, n_rows):
            model.partial_fit(X[[i]], y[[i]], choose=False)
            if model.choice_due_:
                model.choose_again()
                n_choices += 1
            if i + 1 in CHECKPOINTS:
                spent_on_tests += cpu_time(lambda: measured.append(judge(model, *test)))
    return measured, n_choices, time.process_time() - began - spent_on_tests


def fresh_fits(X, y, n_rows: int, test) -> tuple[list, int, float]:
    """Return the same for fresh fits at the checkpoints."""
    measured = []
    for n in CHECKPOINTS:
        if n <= n_rows:
            model = BayesPointClassifier(random_state=0)
            model._fit(X[:n], y[:n], classes=np.unique(y))
            measured.append(judge(model, *test))
    return measured, len(measured), 0.0


def judge(model, X, y) -> tuple[float, float]:
    """Return error in percent and log loss."""
    probability = model.predict_proba(X)
    target = np.searchsorted(model.classes_, y)
    error = 100 * np.mean(np.argmax(probability, axis=1) != target)
    return float(error), float(-np.mean(np.log(probability[np.arange(len(y)), target])))


def sorted_first(X, y, n_rows: int):
    """Return the first rows in the order of their first principal component."""
    Z = (X[:n_rows] - X[:n_rows].mean(axis=0)) / (X[:n_rows].std(axis=0) + 1e-9)
    order = np.argsort(Z @ np.linalg.svd(Z, full_matrices=False)[2][0], kind="stable")
    order = np.concatenate([order, np.arange(n_rows, len(y))])
    return X[order], y[order]


def choice(folder: Path | None, names: list[str] | None, n_rows: int, in_order: bool) -> None:
    """Print means over sets for each rule, as differences from fresh fits."""
    sets = {"digits": load_digits(return_X_y=True)}
    for file in sorted(folder.glob("*.npz")) if folder else []:
        with np.load(file, allow_pickle=False) as data:
            X, y = np.asarray(data["X"], dtype=float), np.asarray(data["y"])
        if len(y) >= n_rows + MIN_TEST_ROWS and (not names or file.stem in names):
            sets[file.stem] = X, y
    means: dict[str, list] = {name: [] for name in RULES}
    for name, (X, y) in sets.items():
        order = np.random.default_rng(0).permutation(len(y))
        X, y = X[order], y[order]
        X, y = sorted_first(X, y, n_rows) if in_order else (X, y)
        test = X[n_rows : n_rows + 2000], y[n_rows : n_rows + 2000]
        fresh = np.array(fresh_fits(X, y, n_rows, test)[0])
        print(f"{name}: fresh {fresh.mean(axis=0).round(3)}", flush=True)
        for rule, constants in RULES.items():
            measured, n_choices, seconds = path_of(X, y, constants, n_rows, test)
            off = np.array(measured) - fresh
            means[rule].append([*off.mean(axis=0), *off[-1], n_choices, seconds])
            print(f"  {rule:12s} {off.mean(axis=0).round(3)} {n_choices} {seconds:.1f}", flush=True)
    print(f"\n{len(sets)} sets: differences from fresh fits on the same rows, means over sets")
    print("| rule | error | ± | log loss | ± | at the end | choices | CPU s |")
    print("|---|---|---|---|---|---|---|---|")
    for rule, found in means.items():
        mean, se = np.mean(found, axis=0), np.std(found, axis=0) / np.sqrt(max(len(found) - 1, 1))
        print(
            f"| {rule} | {mean[0]:+.2f} | {se[0]:.2f} | {mean[1]:+.4f} | {se[1]:.4f} | "
            f"{mean[2]:+.2f}, {mean[3]:+.4f} | {mean[4]:.1f} | {mean[5]:.1f} |"
        )


def main() -> None:
    """Run a part."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("part", choices=["speed", "labeling", "choice"])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--sets", nargs="*")
    parser.add_argument("--rows", type=int, default=500)
    parser.add_argument("--sorted", action="store_true")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    with threadpool_limits(1):
        if given.part == "choice":
            choice(given.data, given.sets, given.rows, given.sorted)
        else:
            {"speed": speed, "labeling": labeling}[given.part]()


if __name__ == "__main__":
    main()
