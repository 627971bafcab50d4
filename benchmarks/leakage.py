# ruff: noqa: T201
"""Plant leaks into clean data sets, and see whether `bayespoint check` finds them and only them.

    python benchmarks/leakage.py [--data FOLDER]

Five traps for each data set, sorted by class: its row index, an identifier that counts in this
order, a copy of the target under other names, a copy with one percent changed, and a date that is
later for later classes. The clean version must cause no alarm. FOLDER may hold more data sets, as
FOLDER/*.npz with X and y.
"""

import argparse
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
from sklearn import datasets

from bayespoint.io.tables.look import look

# What `check` may say about a leak; constants and duplicates are no leaks.
LEAKS = ("index", "identifier", "copy")
CHANGED_SHARE = 0.01
MAX_ROWS = 5000


def data_sets(folder=None):
    """Yield names and clean data: four of scikit-learn, six that are generated, and files."""
    for name in ("iris", "wine", "breast_cancer", "digits"):
        yield name, *getattr(datasets, f"load_{name}")(return_X_y=True)
    yield "moons", *datasets.make_moons(500, noise=0.3, random_state=0)
    yield "circles", *datasets.make_circles(400, noise=0.1, factor=0.5, random_state=0)
    yield "blobs", *datasets.make_blobs(600, centers=5, cluster_std=3, random_state=0)
    yield "hastie", *datasets.make_hastie_10_2(1000, random_state=0)
    more = dict(n_informative=4, random_state=0)
    yield "rare", *datasets.make_classification(2000, weights=[0.9], **more)
    yield "seven classes", *datasets.make_classification(1000, n_classes=7, **more)
    for path in sorted(Path(folder).glob("*.npz")) if folder else ():
        with np.load(path) as file:
            if {"X", "y"} <= set(file.files) and file["X"].ndim == 2:
                yield path.stem, file["X"], file["y"]


def clean_table(X, y, seed=0):
    """Return shuffled rows as texts, as a CSV file has them."""
    order = np.random.default_rng(seed).permutation(len(y))[:MAX_ROWS]
    columns = {f"x{i}": [f"{value:g}" for value in column[order]] for i, column in enumerate(X.T)}
    return columns | {"kind": [f"class {label}" for label in y[order]]}


def traps(kind, seed=0):
    """Return the values of each trap, for rows that are sorted by class."""
    rng = np.random.default_rng(seed)
    n, codes = len(kind), pd.factorize(pd.Series(kind))[0]
    changed = rng.random(n) < CHANGED_SHARE
    near = np.where(changed, rng.permutation(codes), codes)
    days = pd.to_timedelta(300 * codes + rng.integers(0, 290, n), "D")
    return {
        "index": np.arange(n),
        "identifier": [f"{v:07}" for v in np.cumsum(rng.integers(1, 90, n))],
        "copy": [f"answer {v}" for v in codes],
        "near copy": [f"group {v}" for v in near],
        "future date": (pd.Timestamp("2020-01-01") + days).strftime("%Y-%m-%d"),
    }


def alarms(columns):
    """Return the columns that `check` calls leaks."""
    table = pa.table({name: pa.array(map(str, values)) for name, values in columns.items()})
    found = look(table, "kind")
    named = {finding.name for finding in found.findings if finding.kind in LEAKS}
    return named | {suspect.name for suspect in found.suspects}


def examine(X, y):
    """Return the false alarms of the clean data, and for each trap whether it was found alone."""
    clean = clean_table(X, y)
    order = np.argsort(clean["kind"], kind="stable")
    in_order = {name: np.array(values)[order] for name, values in clean.items()}
    false = alarms(clean)
    found = {}
    for name, values in traps(in_order["kind"]).items():
        found[name] = alarms(in_order | {name: values}) - false == {name}
    return false, found


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", help="folder of *.npz with X and y")
    options = parser.parse_args(arguments)
    n_sets = n_false = n_missed = 0
    for name, X, y in data_sets(options.data):
        false, found = examine(X, y)
        missed = [trap for trap, ok in found.items() if not ok]
        n_sets, n_false, n_missed = n_sets + 1, n_false + len(false), n_missed + len(missed)
        size = f"{len(y):,} x {X.shape[1]}"
        print(
            f"{name:34}{size:>14}  found {len(found) - len(missed)} of {len(found)}"
            + f"  missed: {', '.join(missed)}" * bool(missed)
            + f"  false alarms: {', '.join(sorted(false))}" * bool(false)
        )
    print(f"{n_sets} data sets: {n_missed} leaks missed, {n_false} false alarms")
    return int(bool(n_missed or n_false))


if __name__ == "__main__":
    sys.exit(main())
