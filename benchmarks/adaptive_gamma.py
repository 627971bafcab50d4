"""Can the leave-one-out machine choose its own kernel width, as 004 suggests (sec. 2.6.2)?

    python benchmarks/adaptive_gamma.py --data FOLDER

Test errors in percent on the sets of table 2.1, where gamma is chosen among fifteen widths on
each training set: by the bound (the share of points whose margin is at most their own share in
it, then by the slacks), by the sum of slacks, by five folds, or not at all ("scale"); and with the
best of the widths, which only the test points know. Ten splits take five minutes.
"""

# ruff: noqa: T201

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np

from bayespoint import AdaptiveMarginSVC
from bayespoint.papers.raetsch import SIGMAS, cross_validate, load_benchmark, machine

SETS = ("banana", "breast-cancer", "diabetes", "heart", "thyroid", "titanic")


def measures(X: np.ndarray, y: np.ndarray, sigma: float) -> tuple[AdaptiveMarginSVC, float, float]:
    """Return the machine with this width, its bound, and its slacks."""
    model = machine(sigma).fit(X, y)
    own = np.zeros(len(y))
    own[model.support_] = np.abs(model.dual_coef_[0])  # times k(x, x) = 1
    return model, float(np.mean(y * model.decision_function(X) <= own)), float(model.objective_[0])


def choose(X: np.ndarray, y: np.ndarray) -> tuple[dict[str, int], dict[str, float], list]:
    """Return the number of the width that each criterion chooses, its seconds, and all machines."""
    began = time.process_time()
    tried = [measures(X, y, sigma) for sigma in SIGMAS]
    once = time.process_time() - began
    folds = [cross_validate(X, y, sigma) for sigma in SIGMAS]
    seconds = {"bound": once, "slacks": once, "five folds": time.process_time() - began - once}
    numbers = range(len(SIGMAS))
    chosen = {
        "bound": min(numbers, key=lambda k: tried[k][1:]),
        "slacks": min(numbers, key=lambda k: tried[k][2]),
        "five folds": min(numbers, key=lambda k: (folds[k], -k)),
    }
    return chosen, seconds, [model for model, *_ in tried]


def main() -> None:
    """Print a line of Markdown for each data set."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", help="folder with raetsch/NAME.npz")
    parser.add_argument("--splits", type=int, default=10)
    given = parser.parse_args()
    warnings.simplefilter("ignore")  # at extreme widths the programs are nearly unsolvable
    columns = ("bound", "slacks", "five folds", "scale", "best width")
    print(f"| | {' | '.join(columns)} | seconds: bound, five folds |")
    print("|---" * (len(columns) + 2) + "|")
    means = []
    for name in SETS:
        data = load_benchmark(name, given.data, given.splits)
        errors, spent = [], []
        for train, test in data.splits:
            X, y = data.X[train], data.y[train]
            chosen, seconds, models = choose(X, y)
            models.append(AdaptiveMarginSVC(gamma="scale").fit(X, y))
            wrong = [100 * np.mean(m.predict(data.X[test]) != data.y[test]) for m in models]
            errors.append([*(wrong[k] for k in chosen.values()), wrong[-1], min(wrong[:-1])])
            spent.append((seconds["bound"], seconds["five folds"]))
        mean, cost = np.mean(errors, axis=0), np.mean(spent, axis=0)
        means.append(mean)
        print(f"| {name} | {' | '.join(f'{e:.1f}' for e in mean)} | {cost[0]:.1f}, {cost[1]:.1f} |")
    print(f"| mean | {' | '.join(f'{e:.1f}' for e in np.mean(means, axis=0))} | |")


if __name__ == "__main__":
    main()
