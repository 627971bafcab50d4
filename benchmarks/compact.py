"""Compact models: points, time, changes and sizes, before and after.

    python benchmarks/compact.py [SET ...] --data FOLDER [--tol TOL ...] [--mnist-rows 20000]
        [--models FOLDER]

Predictions of up to 10,000 rows that were not in training. Up to 5,000 of them are timed (500 by
onnxruntime), in CPU seconds of one thread, medians of three that take turns. Python and ONNX are
each compared with themselves. A row goes through the points of its cell: `points` is their mean
number.
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
from typing import Any, NamedTuple

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
# Rows whose predictions are timed, by Python and by onnxruntime.
MAX_TIMED_ROWS = 5000
MAX_ONNX_ROWS = 500
MEGABYTE = 2**20
PAPER = {"kernel": "poly", "degree": 5, "gamma": 1, "coef0": 1, "fit_intercept": False}


class Task(NamedTuple):
    """A model that is not fitted yet, and rows."""

    model: BayesPointClassifier
    X: Any
    y: Any
    X_test: Any


def adult(folder: Path, _) -> Task:
    """The default machine for the census table."""
    X, y = read_adult(folder, "adult")
    n = N_TRAIN_ADULT
    return Task(BayesPointClassifier(random_state=0, n_jobs=1), X[:n], y[:n], X[n:])


def mnist(folder: Path, n: int) -> Task:
    """The perceptrons of 001."""
    data = load_handwritten("mnist", folder)
    hard = {"softness": 0, "solver": "perceptron", "random_state": 0, "n_jobs": 1}
    model = BayesPointClassifier(**PAPER, **hard)
    return Task(model, data.X_train[:n], data.y_train[:n], data.X_test)


def mnist_default(folder: Path, n: int) -> Task:
    """The default machine for the same images, a mosaic."""
    model = BayesPointClassifier(random_state=0, n_jobs=1)
    return mnist(folder, n)._replace(model=model)


def banana(folder: Path, _) -> Task:
    """The default machine in two dimensions."""
    with np.load(folder / "raetsch/banana.npz") as file:
        X, y = file["X"], file["y"]
    n = N_TRAIN_BANANA
    return Task(BayesPointClassifier(random_state=0, n_jobs=1), X[:n], y[:n], X[n:])


def banana_rbf(folder: Path, _) -> Task:
    """One smooth kernel, by EP."""
    model = BayesPointClassifier("rbf", solver="ep", random_state=0, n_jobs=1)
    return banana(folder, _)._replace(model=model)


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


class Model(NamedTuple):
    """A fitted model, what it predicts, and its sizes."""

    model: BayesPointClassifier
    proba: np.ndarray
    megabytes: float
    session: onnxruntime.InferenceSession
    onnx_megabytes: float


def described(model, X) -> Model:
    """Return a model with its predictions and sizes."""
    return Model(model, model.predict_proba(X), megabytes(model), *onnx_of(model))


def fitted(name: str, task: Task, folder: Path | None) -> BayesPointClassifier:
    """Return the fitted model, from a file that an earlier run has kept if there is one."""
    kept = None if folder is None else folder / f"{name}.bayespoint"
    if kept is not None and kept.exists():
        return bayespoint.load(kept)
    model = task.model.fit(task.X, task.y)
    if kept is not None:
        bayespoint.save(model, kept)
    return model


def compare(name: str, before: Model, X, tol: float) -> None:
    """Print what compact does to a model."""
    clock = time.process_time
    began = clock()
    compact = before.model.compact(tol)
    took = clock() - began
    after = described(compact, X)
    n_labels = int(np.sum(before.proba.argmax(axis=1) != after.proba.argmax(axis=1)))
    change = np.abs(before.proba - after.proba).max()
    pair = before, after
    timed = X[:MAX_TIMED_ROWS]
    times = seconds(*(partial(m.model.predict_proba, timed) for m in pair), repeats=3, clock=clock)
    some = X[:MAX_ONNX_ROWS]
    runs = [partial(m.session.run, None, inputs(m.session, some)) for m in pair]
    off = np.abs(runs[1]()[1] - after.proba[: len(some)]).max()
    onnx_times = seconds(*runs, repeats=3, clock=clock)
    print(
        f"{name:13}{tol:7.3f}{points_of_a_row(before.model):8.0f}{points_of_a_row(compact):7.0f}"
        f"{times[0] / times[1]:7.1f}{1e4 * n_labels / len(X):8.1f}{change:9.4f}"
        f"{before.megabytes:8.1f}{after.megabytes:7.1f}"
        f"{before.onnx_megabytes:8.1f}{after.onnx_megabytes:7.1f}"
        f"{onnx_times[0] / onnx_times[1]:7.1f}{off:9.0e}{took:7.1f}",
        flush=True,
    )


def main() -> None:
    """Print a line for each set and tolerance."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="as in middle_data.py")
    parser.add_argument("--tol", type=float, nargs="+", default=[0.001, 0.005, 0.05])
    parser.add_argument("--mnist-rows", type=int, default=20_000, help="60000 for all")
    parser.add_argument("--models", type=Path, help="folder that keeps fitted models between runs")
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
            task = SETS[name](given.data, given.mnist_rows)
            X = task.X_test[:MAX_TEST_ROWS]
            before = described(fitted(name, task, given.models), X)
            for tol in given.tol:
                compare(name, before, X, tol)


if __name__ == "__main__":
    main()
