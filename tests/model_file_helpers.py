"""Models to save, files to load, and ways to make bad ones."""

import io
import json
import os
import subprocess
import sys
import tempfile
import textwrap
import tracemalloc
import warnings
import zipfile
from collections import UserList
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold

from bayespoint import (
    AdaptiveMarginSVC,
    BayesPointClassifier,
    LinearBayesPointClassifier,
    LinearMarginSVC,
    LinearProgramSVC,
    OnionClassifier,
    solvers,
)
from bayespoint.classifiers._learned_rows import LearnedRows
from bayespoint.geometry.columns import Columns
from bayespoint.geometry.mixture import Mixture, Views
from bayespoint.io.models.model_file import ModelFileError, load, save
from helpers import processor_time_below

X3, y3 = load_iris(return_X_y=True)
X3, y3 = X3[::2], y3[::2]
X2, y2 = X3[y3 > 0], np.array(["no", "no", "yes"])[y3[y3 > 0]]
DATA = {"two": (X2, y2), "three": (X3, y3), "sparse": (sparse.csr_matrix(X3), y3)}
METHODS = "predict", "predict_proba", "decision_function", "predict_vote", "decision_std"


def kernel_machine(solver, **parameters):
    given = {"gamma": 0.3, "softness": 0.1, "random_state": 0, **parameters}
    return BayesPointClassifier(solver=solver, **given)


ESTIMATORS = {
    "ep": kernel_machine("ep"),
    "ep auto": kernel_machine(solvers.EP(n_draws=9), gamma="auto", softness="auto"),
    "billiard": kernel_machine(solvers.Billiard(n_bounces=500)),
    "gibbs": kernel_machine(solvers.Gibbs(n_samples=200), label_noise=0.1),
    "corners": kernel_machine("corners"),
    "perceptron": kernel_machine("perceptron"),
    "perceptron warm": kernel_machine("perceptron", warm_start=True),
    "nystroem": kernel_machine(solvers.Nystroem(20)),
    "cells": kernel_machine(solvers.Cells(20)),
    "mosaic": kernel_machine(solvers.Mosaic(10, 20)),
    "poly": kernel_machine("ep", kernel="poly", normalize=True, fit_intercept=False),
    "linear full": LinearBayesPointClassifier(covariance="full"),
    "linear factorized": LinearBayesPointClassifier(covariance="factorized", prior_variance=2.0),
    "adaptive margin": AdaptiveMarginSVC(gamma=0.3),
    "linear program": LinearProgramSVC(gamma=0.3),
    "hyperplane": LinearMarginSVC(),
    "onion": OnionClassifier(gamma=0.3, softness=0.1, max_errors=2, random_state=0),
}


def fit(model, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # few samples
        return model.fit(X, y)


def fitted(name, data):
    return fit(clone(ESTIMATORS[name]), *DATA[data])


def assert_same(a, b, where="model"):
    """Compare everything that objects hold, bit for bit and with the same memory layout."""
    if isinstance(a, UserList):  # scikit-learn 1.6; a model file holds a list
        a = list(a.data)
    assert type(a) is type(b), where
    if isinstance(a, np.ndarray):
        assert (a.dtype, a.shape) == (b.dtype, b.shape), where
        long = [axis for axis, n in enumerate(a.shape) if n > 1]
        order = [sorted(long, key=lambda axis: -array.strides[axis]) for array in (a, b)]
        assert order[0] == order[1] or not a.size, where
    if isinstance(a, np.ndarray) and a.dtype != object:
        assert a.tobytes() == b.tobytes(), where
    elif isinstance(a, np.ndarray | list | tuple):
        assert len(a) == len(b), where
        for i, pair in enumerate(zip(a, b, strict=True)):
            assert_same(*pair, f"{where}[{i}]")
    elif isinstance(a, dict):
        assert list(a) == list(b), where
        for key in a:
            assert_same(a[key], b[key], f"{where}[{key!r}]")
    elif sparse.issparse(a):
        assert a.shape == b.shape, where
        for name in ("data", "indices", "indptr"):
            assert_same(getattr(a, name), getattr(b, name), f"{where}.{name}")
    elif isinstance(a, BaseEstimator | StratifiedKFold | Columns | Mixture | Views | LearnedRows):
        # What `partial_fit` can compute again is not in a file.
        kept = [{k: v for k, v in vars(x).items() if k[:9] != "_session_"} for x in (a, b)]
        assert_same(*kept, where)
    elif isinstance(a, np.random.RandomState):
        assert_same(a.get_state(), b.get_state())
    else:
        assert a == b or (a != a and b != b), where


def assert_predicts_the_same(a, b, X):
    for method in METHODS:
        if hasattr(a, method):
            np.testing.assert_array_equal(getattr(a, method)(X), getattr(b, method)(X))


def round_trip(model, path):
    save(model, path)
    assert os.listdir(path.parent) == [path.name]
    return load(path)


def assert_refused(path, match=".", seconds=5.0, megabytes=50.0):
    """Assert that loading fails with one line, soon and in little memory."""
    tracemalloc.start()
    try:
        with (
            processor_time_below(seconds),
            pytest.raises(ModelFileError, match=match) as caught,
        ):
            load(path)
        assert tracemalloc.get_traced_memory()[1] < megabytes * 2**20
    finally:
        tracemalloc.stop()
    message = str(caught.value)
    assert "\n" not in message
    assert str(path) in message
    assert len(message) < 500 + len(str(path))


class Payload:
    """An object that makes a file when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


SMALL_MODEL = LinearBayesPointClassifier().fit(X2[:, :2], y2)


def members_of(model) -> dict[str, bytes]:
    """Return the members of the file that `save` writes, by name."""
    with zipfile.ZipFile(written(model)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def written(model) -> io.BytesIO:
    with tempfile.TemporaryDirectory() as folder:
        save(model, Path(folder) / "model")
        return io.BytesIO((Path(folder) / "model").read_bytes())


def zip_of(members, compression=zipfile.ZIP_STORED) -> bytes:
    file = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(file, "w", compression) as archive:
        warnings.simplefilter("ignore")  # about equal names
        for name, content in members:
            archive.writestr(zipfile.ZipInfo(name), content, compression)
    return file.getvalue()


def with_text(change, model=SMALL_MODEL) -> bytes:
    """Return a file whose text was changed, with correct checksums."""
    members = members_of(model)
    text = json.loads(members["model.json"])
    changed = change(text)
    members["model.json"] = json.dumps(text if changed is None else changed).encode()
    return zip_of(members.items())


def state(text):
    return text["model"]["state"]


def put(*where, value):
    """Return a function that puts a value into the text."""

    def change(text):
        for key in where[:-1]:
            text = text[key]
        text[where[-1]] = value

    return change


STATE = ("model", "state")


def run(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
