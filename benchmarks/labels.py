"""Fewer labels: error against the number of labels, for several ways to choose them.

    python benchmarks/labels.py run --data FOLDER --out results.csv [--sets NAME ...]
        [--repeats 20] [--jobs 2]
    python benchmarks/labels.py report results.csv [--picture curves.png]

Each repeat divides a set at random into a pool of at most 1,500 rows and a test set of at most
1,000. Five random rows (drawn until there are two classes) are labeled first, then five at a time,
as each machine wants them, up to 250. Random choice with our default goes on, a fifth more labels
a step, until it has come within one point of its error with the whole pool: others are compared
with the labels that it needs. `run` writes the test error after every step, and the error with the
whole pool; it goes on where it stopped. FOLDER is the data folder with `uci121`.

`report` prints, for every set and machine, the labels that it needs to come within one point of
the error of our default with the whole pool, the mean error over the steps up to 250 labels, and
the ratio of labels to random choice with our default. A machine that does not get there with 250
labels counts 251 in the table, and as no better than random choice in the ratio. Peers come with
`pip install "bayespoint[bench]"`. The kept run is `benchmarks/results/labels.csv.gz`.
"""
# ruff: noqa: T201

from __future__ import annotations

import argparse
import csv
import gzip
import warnings
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from bayespoint import BayesPointClassifier
from bayespoint.active import query
from bayespoint.displays import use_style

SETS = (
    "digits",
    "annealing",
    "breast-cancer-wisc-diag",
    "cardiotocography-10clases",
    "image-segmentation",
    "molec-biol-splice",
    "musk-1",
    "oocytes_merluccius_states_2f",
    "oocytes_trisopterus_states_5b",
    "pendigits",
    "statlog-landsat",
    "wine-quality-red",
)
MAX_POOL, MAX_TEST = 1500, 1000
BATCH, MAX_LABELS = 5, 250
MARGIN, RANDOM = "ours, margin", "ours, random"
# Within this much of the error with the whole pool.
TOLERANCE = 0.01
# How much random choice grows beyond MAX_LABELS, a step.
GROWTH = 0.2
FIELDS = ("set", "repeat", "machine", "n_labels", "error")


def forest():
    return RandomForestClassifier(random_state=0)


def logistic():
    return make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))


def by(method):
    """Return a chooser with one of our methods."""

    def choose(model, X, y, rows, rng):
        n = BATCH if len(rows) < MAX_LABELS else int(GROWTH * len(rows))
        return query(model, X, n, method=method, random_state=rng)

    return choose


def activeml(model, X, y, rows, rng):
    """Return the rows that scikit-activeml's uncertainty sampling chooses."""
    from skactiveml.classifier import SklearnClassifier
    from skactiveml.pool import UncertaintySampling

    wrapped = SklearnClassifier(model, classes=model.classes_, missing_label=-1)
    sampling = UncertaintySampling(missing_label=-1, random_state=rng.randint(2**31 - 1))
    known = np.full(len(X), -1)
    known[rows] = y[rows]
    return sampling.query(X, known, wrapped.fit(X[rows], y[rows]), batch_size=BATCH)


def modal(model, X, y, rows, rng):
    """Return the rows that modAL's uncertainty sampling chooses."""
    from modAL.models import ActiveLearner
    from modAL.uncertainty import uncertainty_sampling

    found = uncertainty_sampling(ActiveLearner(model), X, n_instances=BATCH)
    return found[0] if isinstance(found, tuple) else found


# The classifier, how it chooses, and whether it chooses among rows without a label only.
MACHINES = {
    MARGIN: (BayesPointClassifier, by("margin"), True),
    RANDOM: (BayesPointClassifier, by("random"), True),
    "logistic, margin": (logistic, by("margin"), True),
    "forest, margin": (forest, by("margin"), True),
    "logistic, scikit-activeml": (logistic, activeml, False),
    "forest, modAL": (forest, modal, True),
}


def load(name: str, folder: Path) -> tuple[np.ndarray, np.ndarray]:
    if name == "digits":
        return load_digits(return_X_y=True)
    with np.load(folder / "uci121" / f"{name}.npz") as found:
        return found["X"].astype(float), np.unique(found["y"], return_inverse=True)[1]


def split(X, y, repeat: int):
    """Return pool, test set and the first rows to label."""
    rng = np.random.default_rng(repeat)
    order = rng.permutation(len(y))
    n_test = min(MAX_TEST, len(y) // 3)
    test, pool = order[:n_test], order[n_test : n_test + MAX_POOL]
    n_first = BATCH
    while len(np.unique(y[pool[:n_first]])) < 2:
        n_first += 1
    return X[pool], y[pool], X[test], y[test], list(range(n_first))


def curve(X, y, X_test, y_test, first, machine: str, seed: int):
    """Yield the number of labels and the test error; zero labels stand for the whole pool."""
    make, choose, is_open_only = MACHINES[machine]
    whole = np.mean(make().fit(X, y).predict(X_test) != y_test)
    yield 0, whole
    rng, rows, is_there = np.random.RandomState(seed), list(first), False
    while len(rows) < len(y):
        model = make().fit(X[rows], y[rows])
        error = np.mean(model.predict(X_test) != y_test)
        yield len(rows), error
        is_there |= error <= whole + TOLERANCE
        if len(rows) >= MAX_LABELS and (is_there or machine != RANDOM):
            break
        rest = np.setdiff1d(np.arange(len(y)), rows)
        if is_open_only:
            rows += rest[choose(model, X[rest], y, rows, rng)].tolist()
        else:
            rows += choose(model, X, y, rows, rng).tolist()


def play(name: str, repeat: int, machine: str, folder: Path) -> list[tuple]:
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        parts = split(*load(name, folder), repeat)
        points = curve(*parts, machine, repeat)
        return [(name, repeat, machine, n, round(float(e), 5)) for n, e in points]


def run(args) -> None:
    """Run what is missing in the file, and append it."""
    done = set()
    if args.out.exists():
        done = {(r["set"], int(r["repeat"]), r["machine"]) for r in read(args.out)}
    else:
        args.out.write_text(",".join(FIELDS) + "\n")
    tasks = [
        (name, repeat, machine, args.data)
        for repeat in range(args.repeats)
        for name in args.sets
        for machine in MACHINES
        if (name, repeat, machine) not in done
    ]
    found = Parallel(args.jobs, return_as="generator_unordered")(delayed(play)(*t) for t in tasks)
    for lines in found:
        with args.out.open("a", newline="") as file:
            csv.writer(file).writerows(lines)


def read(path: Path) -> list[dict]:
    with (gzip.open if path.suffix == ".gz" else open)(path, "rt", newline="") as file:
        return list(csv.DictReader(file))


def curves_of(path: Path) -> dict:
    """Return {set: {machine: {repeat: (labels, errors, error of the whole pool)}}}."""
    found: dict = {}
    for r in read(path):
        of_machine = found.setdefault(r["set"], {}).setdefault(r["machine"], {})
        labels, errors = of_machine.setdefault(int(r["repeat"]), ([], []))
        labels.append(int(r["n_labels"]))
        errors.append(float(r["error"]))
    return found


def labels_needed(labels, errors, goal: float, otherwise: int) -> int:
    """Return how many labels bring the error to the goal for the first time."""
    reached = [n for n, error in zip(labels, errors, strict=True) if n and error <= goal]
    return min(reached, default=otherwise)


def summarize(curves: dict) -> dict:
    """Return {set: {machine: (median labels needed, mean error over the steps)}}."""
    table: dict = {}
    for name, machines in curves.items():
        goals = {k: e[n.index(0)] + TOLERANCE for k, (n, e) in machines[MARGIN].items()}
        for machine, repeats in machines.items():
            otherwise = MAX_POOL if machine == RANDOM else MAX_LABELS + 1
            needed = [labels_needed(*repeats[k], goals[k], otherwise) for k in repeats]
            area = [
                np.mean([e for n, e in zip(*c, strict=True) if 0 < n <= MAX_LABELS])
                for c in repeats.values()
            ]
            table.setdefault(name, {})[machine] = float(np.median(needed)), float(np.mean(area))
    return table


def ratio_to_random(row: dict, machine: str) -> float:
    """Return the labels needed over those of random choice; 1 if 250 were not enough."""
    needed = row[machine][0]
    return 1.0 if needed > MAX_LABELS else needed / row[RANDOM][0]


def report(args) -> None:
    curves = curves_of(args.results)
    table = summarize(curves)
    n_repeats = min(len(c) for machines in curves.values() for c in machines.values())
    print(f"Median labels needed, and mean error in %, over {n_repeats} repeats.\n")
    print("| set | " + " | ".join(MACHINES) + " |\n" + "|---" * (len(MACHINES) + 1) + "|")
    for name, row in sorted(table.items()):
        cells = [f"{row[m][0]:.0f}, {100 * row[m][1]:.1f}" for m in MACHINES]
        print(f"| {name} | " + " | ".join(cells) + " |")
    means = [100 * np.mean([row[m][1] for row in table.values()]) for m in MACHINES]
    needed = [np.mean([row[m][0] for row in table.values()]) for m in MACHINES]
    cells = [f"{n:.0f}, {e:.1f}" for n, e in zip(needed, means, strict=True)]
    print("| mean | " + " | ".join(cells) + " |")
    print("\nLabels needed over those of random choice with our default, median of the sets:")
    for machine in MACHINES:
        ratios = [ratio_to_random(row, machine) for row in table.values()]
        print(f"{machine}: {np.median(ratios):.2f}")
    if args.picture:
        draw(curves, args.picture)


def draw(curves: dict, path: Path) -> None:
    """Draw the mean error of every machine against the number of labels, a panel for each set."""
    import matplotlib.pyplot as plt

    with use_style():
        names = sorted(curves)
        figure, axes = plt.subplots(3, 4, figsize=(10, 7.8), sharex=True, layout="constrained")
        styles = ["#0072B2", "#999999", "#D55E00", "#009E73", "#E69F00", "#CC79A7"]
        for axis, name in zip(axes.flat, names, strict=False):
            for machine, color in zip(MACHINES, styles, strict=True):
                points: dict = {}
                for labels, errors in curves[name][machine].values():
                    steps = [(n, e) for n, e in zip(labels, errors, strict=True) if n <= MAX_LABELS]
                    for n, e in steps:
                        points.setdefault(-(-n // BATCH) * BATCH, []).append(100 * e)
                points.pop(0, None)
                x = sorted(points)
                wide = 2.2 if machine.startswith("ours") else 1.2
                axis.plot(x, [np.mean(points[n]) for n in x], color=color, lw=wide, label=machine)
            axis.set_title(name, fontsize=9)
            axis.set_ylim(bottom=0)
        figure.supxlabel("labels")
        figure.supylabel("test error in %")
        lines = axes.flat[0].get_legend_handles_labels()
        figure.legend(*lines, loc="outside upper center", ncols=3)
        figure.savefig(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    verbs = parser.add_subparsers(required=True)
    play_all = verbs.add_parser("run")
    play_all.add_argument("--data", type=Path, required=True)
    play_all.add_argument("--out", type=Path, required=True)
    play_all.add_argument("--sets", nargs="+", default=SETS)
    play_all.add_argument("--repeats", type=int, default=20)
    play_all.add_argument("--jobs", type=int, default=2)
    play_all.set_defaults(do=run)
    show = verbs.add_parser("report")
    show.add_argument("results", type=Path)
    show.add_argument("--picture", type=Path)
    show.set_defaults(do=report)
    args = parser.parse_args()
    args.do(args)


if __name__ == "__main__":
    main()
