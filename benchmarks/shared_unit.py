"""What it gains to ask whether columns share a unit: the default with and without this candidate.

    python benchmarks/shared_unit.py --data FOLDER [--rows 1000] [--splits 2]

The sets are scikit-learn's digits and breast cancer, letter, pendigits, USPS, MNIST, and the two
noisy kinds of MNIST of `noisy_images.py`, as they are.
"""
# ruff: noqa: T201

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
from middle_data import read_numbers
from noisy_images import load
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.metrics import log_loss

from bayespoint import BayesPointClassifier
from bayespoint.fitting import task
from bayespoint.fitting.shared_unit import shared_unit_scales

MAX_TEST_ROWS = 4000
IMAGES = ("clean", "flipped", "blurred")
N_IMAGES = 10_000


def tables(folder: str):
    """Yield names, rows and labels."""
    yield "digits", *load_digits(return_X_y=True)
    yield "breast cancer", *load_breast_cancer(return_X_y=True)
    for name in ("letter", "pendigits", "usps"):
        yield name, *read_numbers(Path(folder), name)
    for name in IMAGES:
        data = load(name, str(Path(folder)), N_IMAGES)
        yield f"MNIST, {name}", data.X_train, data.y_train


def judge(X, y, n_rows: int, seed: int) -> tuple[float, float, float]:
    """Return error in percent, log loss and seconds of a core of a fit."""
    order = np.random.default_rng(seed).permutation(len(y))
    train, test = order[:n_rows], order[n_rows : n_rows + MAX_TEST_ROWS]
    began = time.process_time()
    model = BayesPointClassifier(random_state=0).fit(X[train], y[train])
    seconds = time.process_time() - began
    probabilities = model.predict_proba(X[test])
    error = 100 * np.mean(model.classes_[probabilities.argmax(axis=1)] != y[test])
    return error, log_loss(y[test], probabilities, labels=model.classes_), seconds


def main() -> None:
    """Print a table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True, help="folder with the data of middle.py")
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--splits", type=int, default=2)
    options = parser.parse_args()
    print("| set | without: error, log loss, s | with: error, log loss, s |")
    print("|---|---|---|")
    for name, X, y in tables(options.data):
        rows = min(options.rows, len(y) * 7 // 10)
        found = []
        for ask in (lambda columns: None, shared_unit_scales):
            task.shared_unit_scales = ask
            each = [judge(X, y, rows, seed) for seed in range(options.splits)]
            found.append(np.mean(each, axis=0))
        cells = [f"{e:.2f} %, {loss:.4f}, {s:.2f}" for e, loss, s in found]
        print(f"| {name} | {cells[0]} | {cells[1]} |", flush=True)


if __name__ == "__main__":
    main()
