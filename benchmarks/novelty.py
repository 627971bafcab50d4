"""Novelty: how well rows of classes that were not in training, and shifted rows, are recognized.

    python benchmarks/novelty.py run --data FOLDER --out results.csv [SET ...]
    python benchmarks/novelty.py report results.csv

`run` leaves out each class in turn, trains with up to 500 rows of the others, and tells up to 300
rows of the left-out class from up to 500 others. Then it trains with all classes and tells test
rows from the same rows with noise of one standard deviation in every column ("noise"), or with
values that were exchanged between rows, column by column ("shuffled"). It writes the area under
the ROC curve of every score: one line per set, kind and class. `report` prints Markdown tables of
means.

The scores: `novelty` of the default and of the linear machine; the posterior variance of the same
kernel machine without classes, and that of the linear one; the distance from the nearest training
row, columns standardized; `IsolationForest`; one minus the largest probability of both machines.
"""
# ruff: noqa: T201

from __future__ import annotations

import argparse
import csv
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import StandardScaler

from bayespoint import BayesPointClassifier, LinearBayesPointClassifier
from bayespoint.fitting.novelty import KnownPoints, learn_surroundings

N_TRAIN, N_OTHERS, N_NOVEL = 500, 500, 300
TRAIN_SHARE = 0.7
MIN_CLASS_ROWS = 15
N_LETTERS = 10
UCI = ("seeds", "image-segmentation", "statlog-landsat", "wine-quality-red")
SHIPPED = {"iris": load_iris, "wine": load_wine, "digits": load_digits}
SETS = (*SHIPPED, *UCI, "pendigits", "letter", "usps")
KEYS = ("set", "kind", "class")


def read_set(folder: Path, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows and classes of a set."""
    if name in SHIPPED:
        return SHIPPED[name](return_X_y=True)
    folders = {**dict.fromkeys(UCI, "uci121"), "usps": "", "pendigits": "uci121"}
    with np.load(folder / folders.get(name, "large") / f"{name}.npz") as file:
        part = "_train" if name == "usps" else ""
        X, y = file["X" + part].astype(float), file["y" + part]
    if name == "letter":
        kept = np.isin(y, np.unique(y)[:N_LETTERS])
        X, y = X[kept], y[kept]
    return X, y


def scores(X: np.ndarray, y: np.ndarray, test: np.ndarray) -> dict[str, np.ndarray]:
    """Return how strange test rows are, by each of the methods."""
    model = BayesPointClassifier(random_state=0, n_jobs=1).fit(X, y)
    linear = LinearBayesPointClassifier().fit(X, y)
    points, n = model.support_vectors_, len(model.support_vectors_)
    together = KnownPoints(points, np.zeros(n, dtype=int), np.ones(n))
    whole = learn_surroundings(model._fitted_kernel(), together, model.softness_)
    units = StandardScaler().fit(X)
    near = NearestNeighbors(n_neighbors=1).fit(units.transform(X))
    spread = linear.decision_std(test)
    return {
        "novelty": model.novelty(test),
        "linear novelty": linear.novelty(test),
        "variance": whole.novelty(model._read_points(test)),
        "linear variance": spread if spread.ndim == 1 else spread.mean(axis=1),
        "neighbor": near.kneighbors(units.transform(test))[0][:, 0],
        "forest": -IsolationForest(random_state=0).fit(X).score_samples(test),
        "1 - p": 1 - model.predict_proba(test).max(axis=1),
        "linear 1 - p": 1 - linear.predict_proba(test).max(axis=1),
    }


def trials(X: np.ndarray, y: np.ndarray, rng) -> Iterator[tuple[str, str, tuple]]:
    """Yield kinds and classes, with training rows, their classes, familiar and novel rows."""
    classes, counts = np.unique(y, return_counts=True)
    for left_out in classes[counts >= MIN_CLASS_ROWS] if len(classes) > 2 else ():
        order = rng.permutation(len(y))
        known, new = order[y[order] != left_out], order[y[order] == left_out]
        n = min(N_TRAIN, int(TRAIN_SHARE * len(known)))
        others = known[n : n + N_OTHERS]
        yield "class", str(left_out), (X[known[:n]], y[known[:n]], X[others], X[new[:N_NOVEL]])
    order = rng.permutation(len(y))
    n = min(N_TRAIN, int(TRAIN_SHARE * len(y)))
    train, others = order[:n], X[order[n : n + N_OTHERS]]
    noisy = others + rng.standard_normal(others.shape) * X[train].std(axis=0)
    yield "noise", "", (X[train], y[train], others, noisy)
    shuffled = rng.permuted(others, axis=0)
    yield "shuffled", "", (X[train], y[train], others, shuffled)


def run(arguments: argparse.Namespace) -> None:
    """Measure every score on every set."""
    with arguments.out.open("w", encoding="utf-8", newline="") as file:
        writer = None
        for number, name in enumerate(SETS):
            if arguments.sets and name not in arguments.sets:
                continue
            X, y = read_set(arguments.data, name)
            for kind, left_out, (train, labels, others, new) in trials(
                X, y, np.random.default_rng(number)
            ):
                is_new = np.repeat([0, 1], [len(others), len(new)])
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # classes of few rows
                    found = scores(train, labels, np.vstack([others, new]))
                areas = {key: f"{roc_auc_score(is_new, v):.4f}" for key, v in found.items()}
                if writer is None:
                    writer = csv.writer(file, lineterminator="\n")
                    writer.writerow([*KEYS, *areas])
                writer.writerow([name, kind, left_out, *areas.values()])
                file.flush()
                print(name, kind, left_out, *areas.values(), flush=True)


def report(path: Path) -> None:
    """Print means over classes, a table for each kind."""
    with path.open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    names = [name for name in lines[0] if name not in KEYS]
    for kind in dict.fromkeys(line["kind"] for line in lines):
        print(f"\n| {kind} | {' | '.join(names)} |\n|---|{'---|' * len(names)}")
        means = {
            one: np.mean(
                [
                    [float(line[name]) for name in names]
                    for line in lines
                    if (line["set"], line["kind"]) == (one, kind)
                ],
                axis=0,
            )
            for one in dict.fromkeys(line["set"] for line in lines if line["kind"] == kind)
        }
        means["mean"] = np.mean(list(means.values()), axis=0)
        for one, values in means.items():
            print(f"| {one} | {' | '.join(f'{v:.3f}' for v in values)} |")


def main() -> None:
    """Read the arguments."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    verbs = parser.add_subparsers(required=True)
    one = verbs.add_parser("run")
    one.add_argument("--data", type=Path, required=True)
    one.add_argument("--out", type=Path, required=True)
    one.add_argument("sets", nargs="*", choices=[[], *SETS])
    one.set_defaults(call=run)
    other = verbs.add_parser("report")
    other.add_argument("results", type=Path)
    other.set_defaults(call=lambda arguments: report(arguments.results))
    arguments = parser.parse_args()
    arguments.call(arguments)


if __name__ == "__main__":
    main()
