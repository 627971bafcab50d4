"""Exported models: onnxruntime against our own predictions, rows per second and largest difference.

    python benchmarks/onnx_export.py [N_ROWS]

Both use their default number of threads; a thousand rows per call, medians.
"""
# ruff: noqa: T201

from __future__ import annotations

import json
import sys
import warnings
from functools import partial

import numpy as np
import onnxruntime
import pandas as pd
from problems import seconds
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_digits, make_blobs, make_moons
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from bayespoint import BayesPointClassifier, LinearBayesPointClassifier, to_onnx

ROWS = 1000


def table(n: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Return numbers and categories, some of them missing, and labels."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.standard_normal((n, 6)), columns=list("uvwxyz"))
    for name in "abcdefgh":
        X[name] = rng.choice([f"{name}{i}" for i in range(12)], n)
    y = X.u + 2 * (X.a < "a5") + rng.standard_normal(n) > 1
    X[rng.random(X.shape) < 0.05] = None
    return X, np.where(y, ">50K", "<=50K")


def problems():
    """Yield names, fitted models and points."""
    X, y = table(5000)
    numbers = make_pipeline(SimpleImputer(strategy="median", add_indicator=True), StandardScaler())
    prepare = make_column_transformer(
        (numbers, list("uvwxyz")),
        (OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=20), list("abcdefgh")),
    )
    yield "table, linear", make_pipeline(prepare, LinearBayesPointClassifier()).fit(X, y), X
    X, y = make_moons(1000, noise=0.3, random_state=0)
    yield "moons, rbf", BayesPointClassifier(gamma=1.0, softness=0.3).fit(X, y), X
    X, y = load_digits(return_X_y=True)
    yield "digits, poly", BayesPointClassifier("poly", solver="perceptron").fit(X, y), X
    for n_classes in (3, 10):
        X, y = make_blobs(2000, 10, centers=n_classes, cluster_std=6, random_state=0)
        yield f"{n_classes} blobs, linear", LinearBayesPointClassifier().fit(X, y), X


def inputs(session: onnxruntime.InferenceSession, X) -> dict[str, np.ndarray]:
    """Return the inputs of a session."""
    if isinstance(X, np.ndarray):
        return {"X": X}
    columns = json.loads(session.get_modelmeta().custom_metadata_map["columns"])
    return {
        i.name: X[[columns[i.name]]].fillna("").to_numpy(object)
        if i.type == "tensor(string)"
        else X[[columns[i.name]]].to_numpy(float)
        for i in session.get_inputs()
    }


def main() -> None:
    n = int(sys.argv[1]) if len(sys.argv) > 1 else ROWS
    warnings.simplefilter("ignore")
    print(f"{'':20}{'Python':>12}{'ONNX':>12}{'ratio':>8}{'difference':>12}{'MB':>8}")
    for name, model, X in problems():
        X = X[:n]
        exported = to_onnx(model).SerializeToString()
        session = onnxruntime.InferenceSession(exported)
        given = inputs(session, X)
        _, found = session.run(None, given)
        difference = np.abs(found - model.predict_proba(X)).max()
        python, onnx = seconds(partial(model.predict_proba, X), partial(session.run, None, given))
        rates = f"{len(X) / python:12.0f}{len(X) / onnx:12.0f}{python / onnx:8.2f}"
        print(f"{name:20}{rates}{difference:12.1e}{len(exported) / 2**20:8.2f}")


if __name__ == "__main__":
    main()
