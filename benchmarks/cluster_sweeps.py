"""Sweeps of the linear classifier when W portions of the rows learn at the same time.

    python benchmarks/cluster_sweeps.py --data FOLDER [--out FILE]

No cluster: the portions of a cluster's threads take turns in this process, each beginning with the
same belief, as `distributed.ClusterRows` lets them. FOLDER has large/covtype.npz.
"""
# ruff: noqa: T201

from __future__ import annotations

import argparse
import json
import time
import warnings
from functools import reduce
from pathlib import Path

import numpy as np
from cluster_kernel import covtype
from sklearn.datasets import make_classification

from bayespoint.fitting.weights_fit import Settings, Table, learn_all
from bayespoint.solvers.watch import watching
from bayespoint.solvers.weights.belief import Belief
from bayespoint.solvers.weights.full_rows import FullRows
from bayespoint.solvers.weights.rows import Rows

PORTIONS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
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


def problems(folder: Path) -> dict[str, tuple]:
    """Return data and tolerances: rare features of covtype, and twenty that all rows have."""
    X, y = covtype(folder / "large" / "covtype.npz")
    easy = make_classification(20_000, 20, n_informative=8, flip_y=0.1, random_state=0)
    few, many = slice(20_000), slice(200_000)
    return {
        "easy, 20,000 rows": (*easy, 0.05),
        "easy, 20,000 rows, 1e-8": (*easy, 1e-8),
        "covtype, 20,000 rows": (X[few], y[few] == 2, 0.05),
        "covtype, 20,000 rows, 1e-8": (X[few], y[few] == 2, 1e-8),
        "covtype, 200,000 rows": (X[many], y[many] == 2, 0.05),
        "covtype, 7 classes, 20,000 rows": (X[few], y[few], 0.05),
    }


def main() -> None:
    """Print a line for each problem."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with large/covtype.npz")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--only", default="", help="problems whose name contains this")
    parser.add_argument("--portions", type=int, nargs="+", default=PORTIONS)
    parser.add_argument("--step", type=float)
    given = parser.parse_args()
    found = {}
    for name, (X, y, tol) in problems(given.data).items():
        if given.only not in name:
            continue
        began = time.process_time()
        found[name] = [count_sweeps(X, y, n, tol, given.step) for n in given.portions]
        print(f"{name:32} {found[name]}  {time.process_time() - began:.0f} s", flush=True)
    if given.out:
        record = {"portions": given.portions, "sweeps": found}
        given.out.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
