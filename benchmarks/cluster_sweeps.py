"""Sweeps of the linear classifier when W portions of the rows learn at the same time.

    python benchmarks/cluster_sweeps.py by_portions|by_rows|many_classes --data FOLDER --out FILE

No cluster: the portions of a cluster's threads take turns in this process, each beginning with the
same belief, as `distributed.ClusterRows` lets them. FOLDER has large/covtype.npz.
"""
# ruff: noqa: T201

from __future__ import annotations

import argparse
import json
import warnings
from functools import reduce
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from cluster_kernel import covtype
from sklearn.datasets import make_classification

from bayespoint.fitting import weights_fit
from bayespoint.fitting.weights_fit import Settings, Table, learn_all
from bayespoint.solvers.watch import watching
from bayespoint.solvers.weights.belief import Belief
from bayespoint.solvers.weights.full_rows import FullRows
from bayespoint.solvers.weights.rows import Rows

PORTIONS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
ROWS = (20_000, 63_000, 200_000, 581_012, 2_000_000)
# Portions, share of an update that is applied (None: that of a cluster), share of rows in a pilot.
VARIANTS = {
    "one portion": (1, None, 0.0),
    "64 portions": (64, None, 0.0),
    "64 portions, half steps": (64, 0.5, 0.0),
    "64 portions, pilot of a tenth": (64, None, 0.1),
    "64 portions, half steps, pilot of a tenth": (64, 0.5, 0.1),
}
MAX_SWEEPS = 100


class Portions(Rows):
    """Rows in portions that learn from the same belief."""

    damping = FullRows.damping

    def __init__(self, portions: list[Rows], damping: float | None):
        self.portions = portions
        self.damping = damping or self.damping

    @property
    def mixable_sweeps(self) -> int:
        """How many of the latest sweeps all portions can mix."""
        return min(portion.mixable_sweeps for portion in self.portions)

    def mix(self, weights: np.ndarray) -> None:
        """Mix the sites of all portions."""
        for portion in self.portions:
            portion.mix(weights)

    def sweep(self, belief: Belief, share: float) -> Belief:
        """Let all portions apply a share of their updates, and return their product."""
        share = min(share, self.damping)
        return reduce(Belief.times, [portion.sweep(belief, share) for portion in self.portions])

    def log_constant(self, belief: Belief) -> float:
        """Return the part of the log evidence that comes from these rows."""
        return sum(portion.log_constant(belief) for portion in self.portions)


class DividedTable(Table):
    """Training rows of which all together are in portions."""

    n_portions = 1
    step: float | None = None  # share of an update that is applied; by default that of a cluster

    def with_sites(self, model, n: int) -> Rows:
        """Return n of the rows with their sites; a pilot is on one worker."""
        if n < self.n_rows:
            return super().with_sites(model, n)
        places = np.array_split(np.arange(n), self.n_portions)
        parts = [Table(*(values[here] for values in self)) for here in places]
        return Portions([model.rows(*part) for part in parts], self.step)


def count_sweeps(X, y, n_portions: int, tol: float, step: float | None = None) -> int | None:
    """Return the sweeps over all rows that a fit takes, or None if it does not end."""
    classes, labels = np.unique(y, return_inverse=True)
    n_classes = len(classes)
    table = DividedTable(X, 2.0 * labels - 1 if n_classes == 2 else labels, np.ones(len(y)))
    table.n_portions, table.step = n_portions, step
    settings = Settings(n_classes, "auto", 1.0, "full", True, MAX_SWEEPS, tol, 1, "auto")
    with warnings.catch_warnings(), watching(np.inf, None) as watch:
        warnings.simplefilter("ignore")
        try:
            fit = learn_all(settings, table, watch).fit
        except np.linalg.LinAlgError:
            return None
    return fit.n_iter if fit.change <= tol else None


def by_portions(folder: Path) -> dict[str, Any]:
    """Return sweeps by portions: rare features of covtype, and twenty that all rows have."""
    X, y = covtype(folder / "large" / "covtype.npz")
    easy = make_classification(20_000, 20, n_informative=8, flip_y=0.1, random_state=0)
    few = slice(20_000)
    problems = {
        "easy": (*easy, 0.05),
        "easy, tol 1e-8": (*easy, 1e-8),
        "covtype": (X[few], y[few] == 2, 0.05),
        "covtype, tol 1e-8": (X[few], y[few] == 2, 1e-8),
        "covtype, 7 classes": (X[few], y[few], 0.05),
    }
    found: dict[str, Any] = {"portions": PORTIONS}
    for name, (points, labels, tol) in problems.items():
        found[name] = [count_sweeps(points, labels, n, tol) for n in PORTIONS]
        print(f"{name:20} {found[name]}", flush=True)
    return {"by_portions": found}


def by_rows(folder: Path) -> dict[str, Any]:
    """Return sweeps by rows of covtype; beyond its 581,012, rows are drawn from them again."""
    X, y = covtype(folder / "large" / "covtype.npz")
    y = y == 2
    found: dict[str, Any] = {"rows": ROWS}
    for n in ROWS:
        if n > len(y):
            drawn = np.random.default_rng(0).integers(0, len(y), n)
            X, y = X[drawn], y[drawn]
        for name, (n_portions, step, pilot) in VARIANTS.items():
            n_pilot = max(weights_fit.PILOT_ROWS, int(pilot * n))
            with patch.object(weights_fit, "PILOT_ROWS", n_pilot):
                found.setdefault(name, []).append(
                    count_sweeps(X[:n], y[:n], n_portions, 0.05, step)
                )
            print(f"{n:10} rows, {name:40} {found[name][-1]}", flush=True)
    return {"by_rows": found}


def many_classes(folder: Path) -> dict[str, Any]:
    """Return sweeps of seven classes, 100,000 rows, in 64 portions, with steps; four minutes."""
    X, y = covtype(folder / "large" / "covtype.npz")
    n, steps = 100_000, (FullRows.damping, 0.5)
    return {"many_classes": [[s, count_sweeps(X[:n], y[:n], 64, 0.05, s)] for s in steps]}


def main() -> None:
    """Count, print, and add to a file."""
    parts = {"by_portions": by_portions, "by_rows": by_rows, "many_classes": many_classes}
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=parts)
    parser.add_argument("--data", type=Path, required=True, help="folder with large/covtype.npz")
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    known = json.loads(given.out.read_text()) if given.out.exists() else {}
    known |= parts[given.what](given.data)
    given.out.write_text(json.dumps(known) + "\n")
    print(json.dumps(known[given.what]))


if __name__ == "__main__":
    main()
