"""Compact models: points, time, changes and sizes, before and after.

    python benchmarks/compact.py [SET ...] --data FOLDER [--tol TOL ...] [--mnist-rows 20000]

Predictions of rows that were not in training, in CPU seconds of one thread, medians of three that
take turns. Python and ONNX are each compared with themselves. A row goes through the points of
its cell: `points` is their mean number.
"""
# ruff: noqa: T201

from __future__ import annotations

import argparse
import json
import tempfile
import time
import warnings
from functools import partial
from pathlib import Path

import numpy as np
import onnxruntime
from middle_data import read_adult
from problems import seconds
from threadpoolctl import threadpool_limits

import bayespoint
from bayespoint import BayesPointClassifier, to_onnx
from bayespoint.datasets.digits import load_handwritten

N_TRAIN_ADULT = 32_561
N_TRAIN_BANANA = 2000
MAX_TEST_ROWS = 10_000
MAX_ONNX_ROWS = 2000
MEGABYTE = 2**20
PAPER = {"kernel": "poly", "degree": 5, "gamma": 1, "coef0": 1, "fit_intercept": False}


def adult(folder: Path, _):
    """The default machine for the census table."""
    X, y = read_adult(folder, "adult")
    model = BayesPointClassifier(random_state=0, n_jobs=1)
    return model.fit(X[:N_TRAIN_ADULT], y[:N_TRAIN_ADULT]), X[N_TRAIN_ADULT:]


def mnist(folder: Path, n_rows: int):
    """The perceptrons of 001."""
    data = load_handwritten("mnist", folder)
    hard = {"softness": 0, "solver": "perceptron", "random_state": 0, "n_jobs": 1}
    model = BayesPointClassifier(**PAPER, **hard)
    return model.fit(data.X_train[:n_rows], data.y_train[:n_rows]), data.X_test


def mnist_default(folder: Path, n_rows: int):
    """The default machine for the same images, a mosaic."""
    data = load_handwritten("mnist", folder)
    model = BayesPointClassifier(random_state=0, n_jobs=1)
    return model.fit(data.X_train[:n_rows], data.y_train[:n_rows]), data.X_test


def banana(folder: Path, _):
    """The default machine in two dimensions."""
    with np.load(folder / "raetsch/banana.npz") as file:
        X, y = file["X"], file["y"]
    model = BayesPointClassifier(random_state=0, n_jobs=1)
    return model.fit(X[:N_TRAIN_BANANA], y[:N_TRAIN_BANANA]), X[N_TRAIN_BANANA:]


def banana_rbf(folder: Path, _):
    """One smooth kernel, by EP."""
    with np.load(folder / "raetsch/banana.npz") as file:
        X, y = file["X"], file["y"]
    model = BayesPointClassifier("rbf", solver="ep", random_state=0, n_jobs=1)
    return model.fit(X[:N_TRAIN_BANANA], y[:N_TRAIN_BANANA]), X[N_TRAIN_BANANA:]


SETS = {
    "banana": banana,
    "banana-rbf": banana_rbf,
    "adult": adult,
    "mnist": mnist,
    "mnist-default": mnist_default,
}


def points_of_a_row(model) -> float:
    """Return the mean number of kernel values for a row, over cells by their support vectors."""
    n = len(model.support_)
    if not hasattr(model, "cell_centers_"):
        return n
    n_cells = len(model.cell_centers_)
    on_landmarks = getattr(model, "landmark_coef_", np.zeros((n_cells, 1, 0)))
    return n / n_cells + np.count_nonzero(np.any(on_landmarks != 0, axis=1)) / n_cells


def inputs(session, X) -> dict:
    """Return the inputs of a session."""
    if isinstance(X, np.ndarray):
        return {"X": np.asarray(X, dtype=float)}
    columns = json.loads(session.get_modelmeta().custom_metadata_map["columns"])
    found = {}
    for i in session.get_inputs():
        column = X[columns[i.name]]
        text = i.type == "tensor(string)"
        values = column.astype(object).where(column.notna(), "") if text else column.astype(float)
        found[i.name] = values.to_numpy(object if text else float)[:, None]
    return found


def onnx_of(model):
    """Return a session in one thread, and megabytes."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    exported = to_onnx(model).SerializeToString()
    return onnxruntime.InferenceSession(exported, options), len(exported) / MEGABYTE


def megabytes(model) -> float:
    """Return the size of a model file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.bayespoint"
        bayespoint.save(model, path)
        return path.stat().st_size / MEGABYTE


def compare(name: str, model, X, tol: float) -> None:
    """Print what compact does to a model."""
    X = X[:MAX_TEST_ROWS]
    began = time.process_time()
    small = model.compact(tol)
    took = time.process_time() - began
    before, after = model.predict_proba(X), small.predict_proba(X)
    n_labels = int(np.sum(before.argmax(axis=1) != after.argmax(axis=1)))
    clock = time.process_time
    times = seconds(*(partial(m.predict_proba, X) for m in (model, small)), repeats=3, clock=clock)
    sessions = [onnx_of(m) for m in (model, small)]
    some = X[:MAX_ONNX_ROWS]
    given = [inputs(session, some) for session, _ in sessions]
    runs = [partial(s.run, None, g) for (s, _), g in zip(sessions, given, strict=True)]
    onnx_times = seconds(*runs, repeats=3, clock=clock)
    off = np.abs(runs[1]()[1] - small.predict_proba(some)).max()
    change = np.abs(before - after).max()
    print(
        f"{name:13}{tol:7.3f}{points_of_a_row(model):8.0f}{points_of_a_row(small):7.0f}"
        f"{times[0] / times[1]:7.1f}{1e4 * n_labels / len(X):8.1f}{change:9.4f}"
        f"{megabytes(model):8.1f}{megabytes(small):7.1f}{sessions[0][1]:8.1f}{sessions[1][1]:7.1f}"
        f"{onnx_times[0] / onnx_times[1]:7.1f}{off:9.0e}{took:7.1f}",
        flush=True,
    )


def main() -> None:
    """Print a line for each set and tolerance."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="as in middle_data.py")
    parser.add_argument("--tol", type=float, nargs="+", default=[0.001, 0.005, 0.05])
    parser.add_argument("--mnist-rows", type=int, default=20_000, help="60000 for all")
    parser.add_argument("sets", nargs="*", default=list(SETS), help=", ".join(SETS))
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    print("                      points         times  labels  largest     file MB     ONNX MB")
    print(
        "set              tol  before  after faster  /10000   change  before  after  before  after",
        end="",
    )
    print(" faster  ONNX off  CPU s")
    with threadpool_limits(1):
        for name in given.sets:
            model, X = SETS[name](given.data, given.mnist_rows)
            for tol in given.tol:
                compare(name, model, X, tol)


if __name__ == "__main__":
    main()
