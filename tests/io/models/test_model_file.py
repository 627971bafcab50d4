import errno
import io
import json
import os
import pickle
import stat
import struct
import subprocess
import sys
import tempfile
import textwrap
import time
import tracemalloc
import warnings
import zipfile
from functools import cache
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline as chain
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    RobustScaler,
    StandardScaler,
)
from sklearn.utils import Bunch

import bayespoint
from bayespoint import (
    AdaptiveMarginSVC,
    BayesPointClassifier,
    LinearBayesPointClassifier,
    LinearMarginSVC,
    LinearProgramSVC,
    OnionClassifier,
    solvers,
)
from bayespoint.classifiers.reject import option as reject
from bayespoint.io.models import allowed_types as _plain
from bayespoint.io.models import archive as _archive
from bayespoint.io.models.model_file import ModelFileError, load, read, save
from files.make_model import labels_of, make_pipeline, make_table

FILES = Path(__file__).parents[2] / "files"
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
    "poly": kernel_machine("ep", kernel="poly", normalize=True, fit_intercept=False),
    "linear full": LinearBayesPointClassifier(covariance="full"),
    "linear factorized": LinearBayesPointClassifier(covariance="factorized", prior_variance=2.0),
    "adaptive margin": AdaptiveMarginSVC(gamma=0.3),
    "linear program": LinearProgramSVC(gamma=0.3),
    "hyperplane": LinearMarginSVC(),
    "onion": OnionClassifier(gamma=0.3, softness=0.1, max_errors=2, random_state=0),
}
ONLY_DENSE = ["cells", "hyperplane"]
CASES = [
    (name, data)
    for name in ESTIMATORS
    for data in DATA
    if not (name == "onion" and data != "two") and not (name in ONLY_DENSE and data == "sparse")
]


def fit(model, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # few samples
        return model.fit(X, y)


def fitted(name, data):
    return fit(clone(ESTIMATORS[name]), *DATA[data])


def assert_same(a, b, where="model"):
    """Compare everything that objects hold, to the last bit and in the same order of memory."""
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
    elif isinstance(a, BaseEstimator | StratifiedKFold):
        assert_same(vars(a), vars(b), where)
    elif isinstance(a, np.random.RandomState):
        assert_same(a.get_state(), b.get_state())
    else:
        assert a == b or (a != a and b != b), where


def assert_predicts_the_same(a, b, X):
    for method in METHODS:
        if hasattr(a, method):
            np.testing.assert_array_equal(getattr(a, method)(X), getattr(b, method)(X))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "some.bayespoint"


def again(model, path):
    save(model, path)
    assert os.listdir(path.parent) == [path.name]
    return load(path)


# What was saved comes back.


@pytest.mark.parametrize(("name", "data"), CASES)
def test_round_trip_of_every_estimator(name, data, path):
    model = fitted(name, data)
    loaded = again(model, path)
    assert_same(model, loaded)
    assert_predicts_the_same(model, loaded, DATA[data][0])
    if hasattr(model, "sample_decision"):
        X = DATA[data][0]
        draws = [m.sample_decision(X, 3) for m in (model, loaded)]
        np.testing.assert_array_equal(*draws)
        np.testing.assert_array_equal(model.hardest_examples(), loaded.hardest_examples())


@pytest.mark.parametrize("name", ESTIMATORS)
def test_estimators_that_are_not_fitted(name, path):
    loaded = again(ESTIMATORS[name], path)
    assert repr(loaded) == repr(ESTIMATORS[name])
    assert_same(fit(loaded, X2, y2).classes_, np.array(["no", "yes"]))


def test_precomputed_kernel(path):
    model = kernel_machine("ep", kernel="precomputed").fit(X2 @ X2.T, y2)
    assert_predicts_the_same(model, again(model, path), X2 @ X2.T)


@pytest.mark.parametrize("name", ["linear full", "linear factorized"])
@pytest.mark.parametrize("data", DATA)
def test_streams_go_on(name, data, path):
    X, y = DATA[data]
    model = fitted(name, data)
    loaded = again(model, path)
    merged = [a.merge(a) for a in (model, loaded)] if "factorized" in name else []
    for a in (model, loaded):
        a.partial_fit(X[::3], y[::3])
    assert_same(model, loaded)
    assert not merged or assert_same(*merged) is None


def test_perceptrons_go_on(path):
    model = fitted("perceptron warm", "three")
    loaded = again(model, path)
    assert loaded.chain_coef_ is loaded.draw_coef_  # written once
    for a in (model, loaded):
        a.set_params(solver=solvers.Perceptron(n_members=15)).fit(X3, y3)
        a.diagnostics_.seconds = None
    assert_same(model, loaded)


@pytest.mark.parametrize("sparse_output", [False, True])
@pytest.mark.parametrize("classes", [["no", "yes"], [3, 5, 7], [False, True]])
@pytest.mark.parametrize(
    "classifier", [kernel_machine("ep"), LinearBayesPointClassifier()], ids=["kernel", "linear"]
)
def test_round_trip_of_the_pipeline_of_the_command(classifier, classes, sparse_output, path):
    table = make_table(80, seed=0)
    model = make_pipeline(clone(classifier), sparse_output).fit(table, labels_of(table, classes))
    loaded = again(model, path)
    assert_same(model, loaded)
    new = make_table(50, seed=1)
    new.loc[7, "color"] = "never seen"
    assert_predicts_the_same(model, loaded, new)
    np.testing.assert_array_equal(loaded.feature_names_in_, list(table))
    names = [m[:-1].get_feature_names_out() for m in (model, loaded)]
    np.testing.assert_array_equal(*names)
    with pytest.raises(ValueError, match="missing"):
        loaded.predict(new.drop(columns="width"))


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"reject_rate": 0.3, "reject_label": "ask"},
        {"max_error": 0.4, "confidence_level": 0.6, "random_state": np.random.RandomState(5)},
        {"reject_rate": 0.2, "cv": StratifiedKFold(3)},
    ],
    ids=["nothing", "rate", "error", "cv"],
)
def test_round_trip_of_what_the_command_makes(parameters, path):
    table, new = make_table(90, seed=0), make_table(50, seed=1)
    inner = make_pipeline(LinearBayesPointClassifier())
    model = reject.RejectOptionClassifier(inner, **parameters).fit(
        table, labels_of(table, ["a", "b"])
    )
    loaded = again(model, path)
    assert_same(model, loaded)
    assert_predicts_the_same(model, loaded, new)
    np.testing.assert_array_equal(model.accept(new), loaded.accept(new))
    assert_same(model.at(reject_rate=0.5), loaded.at(reject_rate=0.5))


def test_a_frozen_classifier(path):
    frozen = FrozenEstimator(fitted("linear full", "two"))
    model = reject.RejectOptionClassifier(frozen, reject_rate=0.1).fit(X2, y2)
    assert_same(model, again(model, path))


@pytest.mark.parametrize(
    "scaler",
    [MaxAbsScaler(), Normalizer(), RobustScaler(with_centering=False), MinMaxScaler()],
    ids=repr,
)
def test_round_trip_of_scalers(scaler, path):
    X = X3 if isinstance(scaler, MinMaxScaler) else sparse.csr_matrix(X3)
    model = chain(scaler, LinearBayesPointClassifier()).fit(X, y3)
    loaded = again(model, path)
    assert_same(model, loaded)
    assert_predicts_the_same(model, loaded, X)


def test_output_of_pandas_is_kept(path):
    model = StandardScaler().set_output(transform="pandas").fit(pd.DataFrame(X3))
    assert isinstance(again(model, path).transform(pd.DataFrame(X3)), pd.DataFrame)


ODD = {
    "numbers": [True, 3, -0.0, 1e-320, 2**70, float("inf"), float("-inf"), float("nan")],
    "scalars": [np.float32(0.1), np.float64("nan"), np.int8(-3), np.bool_(True), np.str_("")],
    "text": ["", "ä\0\ud800\U0001f600", {"type": "array"}, {1: (2, (3,)), None: [[]], (1,): 2}],
    "empty": [np.empty((0, 3)), np.empty((3, 0), order="F"), (), [], {}, Bunch(), np.array(0.5)],
    "order": [np.arange(24.0).reshape(2, 3, 4).transpose(order) for order in np.ndindex(3, 3, 3)
              if len(set(order)) == 3],
    "strided": [np.arange(10)[::-2], np.broadcast_to(1.5, 5), np.eye(5)[1:3, 2:4]],
    "types": [np.float64, float, np.dtype("f4"), np.dtype(object), slice(1, None, -1)],
    "arrays": [np.array(["ab", ""]), np.array([1, 2], ">i4"), np.array([1, 2], np.float16)],
    "objects": [np.array([["a", None], [1.5, float("nan")]], dtype=object)],
    "random": [np.random.RandomState(3)],
    "sparse": [kind(np.eye(4)[:3]) for kind in _plain.SPARSE.values()],
}  # fmt: skip


@pytest.mark.parametrize("kind", ODD)
def test_all_that_attributes_can_be(kind, path):
    model = LinearMarginSVC(C=ODD[kind])
    assert_same(list(model.C), again(model, path).C)


def test_an_object_array_keeps_lists_as_they_are(path):
    items = np.empty(2, dtype=object)
    items[:] = [[1, 2], (3, 4)]
    loaded = again(LinearMarginSVC(C=items), path).C
    assert loaded.tolist() == [[1, 2], (3, 4)]


def test_arrays_of_a_memory_map_are_arrays(path, tmp_path):
    np.save(tmp_path.parent / "map.npy", np.arange(5.0))
    mapped = np.load(tmp_path.parent / "map.npy", mmap_mode="r")
    assert_same(again(LinearMarginSVC(C=mapped), path).C, np.arange(5.0))


def test_a_loaded_model_is_like_any_other(path):
    loaded = again(fitted("ep", "two"), path)
    assert_same(pickle.loads(pickle.dumps(loaded)), loaded)
    assert repr(clone(loaded)) == repr(ESTIMATORS["ep"])
    assert loaded.fit(X3, y3).score(X3, y3) > 0.9


def test_callbacks_are_not_kept(path):
    callback = pytest.importorskip("sklearn.callback", reason="scikit-learn 1.9 brought callbacks")
    model = kernel_machine("ep").set_callbacks(callback.ProgressBar())
    assert "_skl_callbacks" in vars(model)
    assert_same(again(model, path), kernel_machine("ep"))


# What is in the file.


def test_metadata(path):
    given = {"target": "price", "error": 0.25, "columns": ["a", "b"], "none": None, "d": {"e": 1}}
    save(LinearMarginSVC(), path, given)
    model, metadata = read(path)
    assert isinstance(model, LinearMarginSVC)
    own = {"format_version": metadata.pop("format_version"), "libraries": metadata.pop("libraries")}
    assert metadata == given
    assert own["format_version"] == 1
    assert own["libraries"]["bayespoint"] == bayespoint.__version__
    assert own["libraries"].keys() == {"python", "bayespoint", "numpy", "scipy", "scikit-learn"}
    save(model, path, {**given, "libraries": "of before", **own})
    assert read(path)[1] == {**given, **own}


@pytest.mark.parametrize(
    "metadata", [{"a": float("nan")}, {1: 2}, {"a": object()}, [1], {"a": (1,)}, "text"]
)
def test_metadata_that_json_would_change(metadata, path):
    with pytest.raises(ModelFileError, match="metadata should be a dict"):
        save(LinearMarginSVC(), path, metadata)
    assert not path.exists()


def test_metadata_that_hold_themselves(path):
    metadata: dict = {}
    metadata["a"] = metadata
    with pytest.raises(ModelFileError, match="metadata should be a dict"):
        save(LinearMarginSVC(), path, metadata)


def test_equal_models_are_equal_files(path, tmp_path):
    model = fitted("ep", "three")
    save(model, path)
    save(load(path), tmp_path / "other")
    assert path.read_bytes() == (tmp_path / "other").read_bytes()


def test_people_can_look_inside(path):
    model = fitted("linear full", "three")
    save(model, path)
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        text = json.loads(archive.read("model.json"))
    at = text["model"]["state"]["_shift"]["index"]
    np.testing.assert_array_equal(np.load(path)[f"arrays/{at}"], model._shift)


def test_arrays_are_written_once_and_as_they_are(path):
    big = np.random.default_rng(0).random((4000, 1000))
    model = LinearMarginSVC(C=[big, big, {"again": big}])
    tracemalloc.start()
    save(model, path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert path.stat().st_size < big.nbytes + 5000
    assert peak < 0.7 * big.nbytes  # numpy writes 16 MB at a time
    C = load(path).C
    assert C[0] is C[1] is C[2]["again"]


@pytest.mark.parametrize("old", sorted(FILES.glob("*.bayespoint")), ids=lambda p: p.name)
def test_old_files(old):
    expected = json.loads(old.with_suffix(".json").read_text())
    table = pd.DataFrame(**expected["table"])
    table["color"] = table["color"].astype(object).where(table["color"].notna(), np.nan)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*was written with scikit-learn")
        model, metadata = read(old)
    assert metadata["made_by"] == "tests/files/make_model.py"
    # Sums of some hundred products of double precision.
    np.testing.assert_allclose(model.predict_proba(table), expected["predict_proba"], rtol=1e-9)
    assert model.predict(table).tolist() == expected["predict"]


def test_there_is_an_old_file_of_every_version():
    names = {f"model_v{n}.bayespoint" for n in range(1, bayespoint.model_file.VERSION + 1)}
    assert names == {p.name for p in FILES.glob("*.bayespoint")}


# What is refused.


class Own(LinearMarginSVC):
    """A type of the user."""


def own_kernel(X, Y):
    return X @ Y.T


REFUSED = {
    "function": (kernel_machine("ep", kernel=own_kernel), r"model\.kernel is the function 'own_k"),
    "lambda": (kernel_machine("ep", kernel=lambda X, Y: X @ Y.T), "holds no code"),
    "other model": (LogisticRegression(), "skops"),
    "in a pipeline": (chain(FunctionTransformer(), LinearMarginSVC()), r"steps\[0\]\[1\] is of"),
    "subclass": (Own(), "is of type .*Own"),
    "cache": (chain(StandardScaler(), memory="somewhere"), "memory should be None"),
    "module": (LinearMarginSVC(C=os), "is of type builtins.module"),
    "class": (LinearMarginSVC(C=dict), "is of type builtins.type"),
    "bytes": (LinearMarginSVC(C=b"x"), r"model\.C is of type builtins\.bytes"),
    "structured": (LinearMarginSVC(C=np.zeros(2, "i4,f8")), "array of numbers|numbers, bools"),
    "generator": (LinearMarginSVC(C=np.random.default_rng()), "Generator"),
    "masked": (LinearMarginSVC(C=np.ma.array([1.0])), "MaskedArray"),
    "set": (LinearMarginSVC(C={1}), "builtins.set"),
    "named tuple": (LinearMarginSVC(C=solvers.Posterior(1, 2, 3, 4)), "Posterior"),
    "not a model": (open, "function 'open'"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_a_file_cannot_hold(case, path):
    model, message = REFUSED[case]
    path.write_text("old")
    with pytest.raises(ModelFileError, match=message) as caught:
        save(model, path)
    assert "\n" not in str(caught.value)
    assert path.read_text() == "old"
    assert os.listdir(path.parent) == [path.name]


def test_a_model_that_holds_itself(path):
    model = LinearMarginSVC()
    model.C = [model]
    with pytest.raises(ModelFileError, match="holds itself"):
        save(model, path)


def test_too_many_arrays(path, monkeypatch):
    monkeypatch.setattr(_archive, "MAX_ARRAYS", 3)
    save(LinearMarginSVC(C=[np.zeros(1) for _ in range(3)]), path)
    load(path)
    with pytest.raises(ModelFileError, match="at most 3 arrays"):
        save(LinearMarginSVC(C=[np.zeros(1) for _ in range(4)]), path)


def test_too_much_text(path, monkeypatch):
    monkeypatch.setattr(_archive, "MAX_TEXT", 5000)
    with pytest.raises(ModelFileError, match="5000 bytes of names"):
        save(LinearMarginSVC(C="x" * 5000), path)


def test_parameters_that_no_longer_fit(path):
    model = fitted("linear factorized", "two").set_params(fit_intercept=False)
    with pytest.raises(ModelFileError, match="changed after fit"):
        save(model, path)


# How it is written.


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "full"), KeyboardInterrupt()], ids=repr)
def test_the_old_file_stays_if_writing_fails(error, path, monkeypatch):
    save(LinearMarginSVC(C=1.0), path)
    calls = []

    def fail(member, array, **options):
        calls.append(os.listdir(path.parent))
        member.write(b"some of it")
        raise error

    monkeypatch.setattr(np.lib.format, "write_array", fail)
    with pytest.raises(type(error)):
        save(LinearMarginSVC(C=np.zeros(3)), path)
    assert len(calls) == 1
    assert len(calls[0]) == 2
    assert os.listdir(path.parent) == [path.name]
    assert load(path).C == 1.0


@pytest.mark.parametrize("name", ["replace", "fsync"])
def test_nothing_is_left_if_the_end_fails(name, path, monkeypatch):
    def fail(*_):
        raise OSError(errno.EIO, "broken")

    monkeypatch.setattr(os, name, fail)
    with pytest.raises(OSError, match="broken"):
        save(LinearMarginSVC(), path)
    assert os.listdir(path.parent) == []


def test_a_disk_that_is_really_full():
    if not os.access("/dev/full", os.W_OK):
        pytest.skip("needs a device that is always full")
    with pytest.raises(IsADirectoryError, match="directory or a device"):
        save(LinearMarginSVC(), "/dev/full")
    assert stat.S_ISCHR(os.stat("/dev/full").st_mode)


def test_the_process_may_not_write_more_than_so_much(path):
    code = f"""
        import resource, signal, numpy as np
        from bayespoint import LinearMarginSVC, save
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
        try:
            save(LinearMarginSVC(C=np.zeros(100_000)), {str(path)!r})
        except OSError as error:
            print("OSError", error.errno)
    """
    if sys.platform == "win32":
        pytest.skip("needs limits of POSIX")
    assert run(code) == f"OSError {errno.EFBIG}\n"
    assert os.listdir(path.parent) == []


@pytest.mark.skipif(sys.platform == "win32", reason="permissions of POSIX")
def test_permissions(path):
    old = os.umask(0o027)
    try:
        save(LinearMarginSVC(), path)
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
        path.chmod(0o604)
        save(LinearMarginSVC(), path)
        assert stat.S_IMODE(path.stat().st_mode) == 0o604
    finally:
        os.umask(old)


def test_links(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    link = tmp_path / "link"
    for target in (folder / "model", Path("folder") / "relative"):
        link.symlink_to(target)
        save(LinearMarginSVC(C=2.0), link)  # to a file that is not there yet
        save(LinearMarginSVC(C=3.0), link)
        assert link.is_symlink()
        assert load(tmp_path / target).C == load(link).C == 3.0
        link.unlink()
    assert sorted(os.listdir(folder)) == ["model", "relative"]


def test_names(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("model", "é.bayespoint", "x" * 255, "a b.zip"):
        save(LinearMarginSVC(), name)
        load(name)
        load(Path(name))
    with pytest.raises(FileNotFoundError):
        save(LinearMarginSVC(), tmp_path / "missing" / "model")
    with pytest.raises(FileNotFoundError):
        load("missing")
    with pytest.raises(IsADirectoryError, match="is a directory"):
        save(LinearMarginSVC(), tmp_path)
    with pytest.raises(ModelFileError, match="is a directory"):
        load(tmp_path)


def test_pipes_are_not_waited_for(tmp_path):
    if not hasattr(os, "mkfifo"):
        pytest.skip("needs named pipes")
    os.mkfifo(tmp_path / "pipe")
    for act in (load, lambda path: save(LinearMarginSVC(), path)):
        with pytest.raises((ModelFileError, IsADirectoryError), match="directory or a device"):
            act(tmp_path / "pipe")


# Files that are none of ours.


def refused(path, match=".", seconds=5.0, megabytes=50.0):
    """Assert that loading says so in one line, soon and in little memory."""
    began = time.perf_counter()
    tracemalloc.start()
    try:
        with pytest.raises(ModelFileError, match=match) as caught:
            load(path)
        assert tracemalloc.get_traced_memory()[1] < megabytes * 2**20
    finally:
        tracemalloc.stop()
    assert time.perf_counter() - began < seconds
    message = str(caught.value)
    assert "\n" not in message
    assert str(path) in message
    assert len(message) < 500 + len(str(path))


class Payload:
    """Makes a file when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


def foreign_files(evidence):
    payload = Payload(evidence)
    zipped, jobs, array, npz = (io.BytesIO() for _ in range(4))
    with zipfile.ZipFile(zipped, "w") as archive:
        archive.writestr("schema.json", "{}")
    joblib.dump(payload, jobs)
    objects = np.array([payload], dtype=object)
    np.save(array, objects, allow_pickle=True)
    np.savez(npz, a=objects)
    return {
        "empty": (b"", "is empty"),
        "pickle": (pickle.dumps(payload), "looks like a pickle"),
        "old pickle": (pickle.dumps(payload, protocol=0), "not a model file"),
        "joblib": (jobs.getvalue(), "looks like a pickle"),
        "npy": (array.getvalue(), "not a model file"),
        "npz": (npz.getvalue(), "model.json is missing"),
        "png": (b"\x89PNG\r\n\x1a\n" + bytes(100), "not a model file"),
        "text": (b"a,b\n1,2\n", "not a model file"),
        "zip": (zipped.getvalue(), "model.json is missing"),
        "start of a zip": (b"PK\x03\x04", "damaged"),
        "empty zip": (b"PK\x05\x06" + bytes(18), "not a model file"),
    }


@pytest.mark.parametrize("kind", foreign_files(None))
def test_foreign_files(kind, path, tmp_path):
    evidence = tmp_path / "evidence"
    content, message = foreign_files(evidence)[kind]
    path.write_bytes(content)
    refused(path, message)
    assert not evidence.exists()


def test_the_payload_would_work(tmp_path):
    pickle.loads(pickle.dumps(Payload(tmp_path / "evidence"))).close()
    assert (tmp_path / "evidence").exists()


# Files that somebody made to harm us.


SMALL = LinearBayesPointClassifier().fit(X2[:, :2], y2)


def members_of(model) -> dict[str, bytes]:
    """Return what `save` writes, by name."""
    with zipfile.ZipFile(_written(model)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _written(model) -> io.BytesIO:
    with tempfile.TemporaryDirectory() as folder:
        save(model, Path(folder) / "model")
        return io.BytesIO((Path(folder) / "model").read_bytes())


def zip_of(members, compression=zipfile.ZIP_STORED) -> bytes:
    file = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(file, "w", compression) as archive:
        warnings.simplefilter("ignore")  # of equal names
        for name, content in members:
            archive.writestr(zipfile.ZipInfo(name), content, compression)
    return file.getvalue()


def with_text(change, model=SMALL) -> bytes:
    """Return a file whose text was changed, with all check sums right."""
    members = members_of(model)
    text = json.loads(members["model.json"])
    changed = change(text)
    members["model.json"] = json.dumps(text if changed is None else changed).encode()
    return zip_of(members.items())


def test_the_tools_of_these_tests(path):
    path.write_bytes(with_text(lambda text: None))
    assert_same(load(path), SMALL)
    path.write_bytes(zip_of(members_of(SMALL).items(), zipfile.ZIP_DEFLATED))
    refused(path, "compressed")


def state(text):
    return text["model"]["state"]


@cache
def hostile_archives():
    members = members_of(SMALL)
    text, array = members["model.json"], members["arrays/0.npy"]
    good = list(members.items())
    bomb = [("model.json", b" " * 10**7), *good[1:]]
    plain = zip_of(good)
    encrypted = bytearray(plain)
    at = plain.index(b"PK\x01\x02")
    encrypted[at + 8] |= 1
    large = bytearray(plain)  # of the first member
    large[at + 20 : at + 28] = struct.pack("<LL", 2**31, 2**31)
    directory = bytearray(plain)
    directory[-10:-6] = struct.pack("<L", 10**6)
    return {
        "bomb": (zip_of(bomb, zipfile.ZIP_DEFLATED), "compressed"),
        "bzip2": (zip_of(good, zipfile.ZIP_BZIP2), "compressed"),
        "twice": (zip_of([*good, ("model.json", text)]), "same name"),
        "path up": (zip_of([*good, ("../../evil", b"")]), "does not belong"),
        "absolute path": (zip_of([*good, ("/tmp/evil", b"")]), "does not belong"),
        "folder": (zip_of([*good, ("arrays/", b"")]), "does not belong"),
        "other member": (zip_of([*good, ("arrays/00.npy", array)]), "does not belong"),
        "missing member": (zip_of(good[:-1]), "missing"),
        "only text": (zip_of(good[:1]), "missing"),
        "encrypted": (bytes(encrypted), "encrypted"),
        "large member": (bytes(large), "too large"),
        "large directory": (bytes(directory), "directory of 1000000 bytes"),
        "comment": (plain[:-2] + b"\x03\0abc", "end is missing"),
        "behind it": (plain + b"x", "end is missing"),
        "before it": (b"#!/bin/sh\n" + plain, "not a model file"),
        "not text": (zip_of([("model.json", b"\xff\xfe")]), "damaged"),
        "not json": (zip_of([("model.json", b"{")]), "damaged"),
        "deep": (zip_of([("model.json", b"[" * 10**6)]), "damaged"),
        "deep dicts": (zip_of([("model.json", b'{"a":' * 10**6)]), "damaged"),
        "long number": (zip_of([("model.json", b"9" * 10**6)]), "damaged"),
        "short array": (zip_of([*good[:-1], (good[-1][0], b"")]), "not an array"),
        "pickle for an array": (
            zip_of([*good[:-1], (good[-1][0], pickle.dumps(Payload("/nonexistent/x")))]),
            "damaged",
        ),
    }


@pytest.mark.parametrize("kind", hostile_archives())
def test_hostile_archives(kind, path):
    content, message = hostile_archives()[kind]
    path.write_bytes(content)
    refused(path, message, megabytes=20)


def test_a_long_text(path, monkeypatch):
    path.write_bytes(_written(SMALL).getvalue())
    monkeypatch.setattr(_archive, "MAX_TEXT", 1000)
    refused(path, "longer than 1000 bytes")


def test_a_million_members(path):
    entry = b"PK\x01\x02" + bytes(24) + b"\1" + bytes(18)  # and a name of one zero
    n = 10**6
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, n % 2**16, n % 2**16, n * len(entry), 4, 0)
    path.write_bytes(b"PK\x03\x04" + entry * n + end)
    refused(path, "members in a directory", seconds=1)
    # With the counts where large archives have them.
    offset = 4 + n * len(entry)
    long = struct.pack("<4sQ2H2L4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, n, n, n * len(entry), 4)
    locator = struct.pack("<4sLQL", b"PK\x06\x07", 0, offset, 1)
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 1, 1, 100, 4, 0)
    path.write_bytes(b"PK\x03\x04" + entry * n + long + locator + end)
    refused(path, "1000000 members", seconds=1)


def test_members_that_overlap(path):
    """Many names for the same bytes, each as large as the file."""
    body = bytes(10**6)
    header = zip_of([("arrays/0.npy", body)])
    at = header.index(b"PK\x01\x02")
    entry = header[at : at + 46 + len("arrays/0.npy")]
    entries = [entry.replace(b"arrays/0.npy", b"arrays/%d.npy" % i) for i in range(10)]
    directory = b"".join(entries)
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 10, 10, len(directory), at, 0)
    path.write_bytes(header[:at] + directory + end)
    refused(path, "members overlap")


def put(*where, value):
    """Return a function that puts a value into the text."""

    def change(text):
        for key in where[:-1]:
            text = text[key]
        text[where[-1]] = value

    return change


MODEL = ("model", "state")
HOSTILE_TEXTS = {
    "nothing": lambda text: 3,
    "a list": lambda text: [],
    "other format": put("format", value="skops"),
    "no version": lambda text: {**text, "version": None},
    "libraries": put("libraries", value=[1]),
    "metadata": put("metadata", value="text"),
    "unknown type": put("model", "type", value="sklearn.svm.SVC"),
    "system": put("model", "type", value="os.system"),
    "dangerous type": put("model", "type", value="FunctionTransformer"),
    "unhashable type": put("model", "type", value=["list"]),
    "no type": put("model", value={}),
    "no state": put("model", value={"type": "Pipeline"}),
    "state as list": put("model", "state", value=[["a", 1]]),
    "a method": put(*MODEL, "predict", value=1),
    "a dunder": put(*MODEL, "__class__", value=1),
    "a property": put(*MODEL, "coef_variance_", value=1),
    "eval": put(*MODEL, "class_weight", value={"type": "class", "value": "eval"}),
    "type": put(*MODEL, "class_weight", value={"type": "class", "value": "type"}),
    "call": put(
        *MODEL, "class_weight", value={"type": "scalar", "class": "numpy.float64", "value": []}
    ),
    "object dtype": put("arrays", 0, "dtype", value="|O"),
    "void dtype": put("arrays", 0, "dtype", value="|V8"),
    "empty dtype": put("arrays", 0, "dtype", value="<U0"),
    "strange dtype": put("arrays", 0, "dtype", value="(1000000,1000000)f8"),
    "enormous": put("arrays", 0, "shape", value=[10**12]),
    "overflow": put("arrays", 0, "shape", value=[2**62, 2**62, 4]),
    "negative": put("arrays", 0, "shape", value=[-1]),
    "nothing of much": put("arrays", 0, value={"dtype": "<f8", "shape": [2**62, 0, 2**62],
                                               "axes": [0, 1, 2]}),
    "bool shape": put("arrays", 0, "shape", value=[True]),
    "too many axes": put("arrays", 0, value={"dtype": "<f8", "shape": [1] * 100,
                                             "axes": list(range(100))}),
    "axes": put("arrays", 0, "axes", value=[1]),
    "axes twice": put("arrays", 0, value={"dtype": "<f8", "shape": [1, 1], "axes": [0, 0]}),
    "no such array": put(*MODEL, "_shift", "index", value=99),
    "last array": put(*MODEL, "_shift", "index", value=-1),
    "arrays as dict": put("arrays", value={"a": 1}),
    "not enough arrays": put("arrays", value=[]),
    "impossible random state": put(
        *MODEL, "class_weight", value={"type": "RandomState", "items": [{"type": "array",
                                                                        "index": 0}, 10**9, 0, 0.0]}
    ),
    "unequal dict": put(*MODEL, "class_weight", value={"type": "dict", "items": [[1], []]}),
    "unhashable key": put(*MODEL, "class_weight", value={"type": "dict", "items": [[[]], [1]]}),
    "float": put(*MODEL, "class_weight", value={"type": "float", "value": "1e999"}),
    "long slice": put(*MODEL, "class_weight", value={"type": "slice", "items": [1, 2, 3, 4]}),
    "nested": put(*MODEL, "class_weight", value=eval("[" * 110 + "]" * 110)),
    "shape of objects": put(
        *MODEL, "class_weight", value={"type": "objects", "shape": [10**9], "items": [1]}
    ),
    "short belief": put("arrays", 2, value={"dtype": "<f8", "shape": [1], "axes": [0]}),
    "more features": put(*MODEL, "n_features_in_", value=1000),
    "features": put(*MODEL, "n_features_in_", value={"type": "tuple", "items": []}),
    "no features": lambda text: state(text).pop("n_features_in_") and None,
    "unsorted classes": put(*MODEL, "classes_", value={"type": "objects", "shape": [2],
                                                       "items": ["b", "a"]}),
    "same classes": put(*MODEL, "classes_", value={"type": "objects", "shape": [2],
                                                   "items": ["a", "a"]}),
    "more classes": put(*MODEL, "classes_", value=[1, 2, 3]),
    "no covariance": put(*MODEL, "covariance_", value="factorized"),
    "no intercept": put(*MODEL, "fit_intercept", value=False),
}  # fmt: skip


@pytest.mark.parametrize("kind", HOSTILE_TEXTS)
def test_hostile_texts(kind, path):
    path.write_bytes(with_text(HOSTILE_TEXTS[kind]))
    refused(path)


def test_sparse_matrices_with_wrong_indices(path):
    def change(text):
        at = state(text)["C"]["items"][1]["index"]
        text["arrays"][at]["dtype"] = "<u4"  # what was -1 is large now

    matrix = sparse.csr_matrix(np.eye(3))
    for bad in (-1, 3, 2**30):
        matrix.indices[0] = bad
        path.write_bytes(zip_of(members_of(LinearMarginSVC(C=matrix)).items()))
        refused(path, "ind")
    path.write_bytes(with_text(change, LinearMarginSVC(C=matrix)))
    refused(path)
    matrix.indices[0] = 0
    matrix.indptr[1] = 10**6
    path.write_bytes(zip_of(members_of(LinearMarginSVC(C=matrix)).items()))
    refused(path)


PERCEPTRONS = {
    "order": lambda s: s["order"].__setitem__((0, 0, 0), 10**6),
    "negative order": lambda s: s["order"].__setitem__((0, 0, 0), -1),
    "held out": lambda s: s["held_out"].__setitem__(0, 10**6),
    "position": lambda s: s["walk"].__setitem__((0, 0, 0), 10**6),
    "negative position": lambda s: s["walk"].__setitem__((0, 0, 0), -5),
    "in use": lambda s: s["walk"].__setitem__((0, 0, 3), 10**6),
    "short output": lambda s: s.update(output=s["output"][..., :-1].copy()),
    "short count": lambda s: s.update(count=s["count"][:, :-1].copy()),
    "short best": lambda s: s.update(best=s["best"][..., :1].copy()),
    "type": lambda s: s.update(count=s["count"].astype(np.int8)),
    "list": lambda s: s.update(count=[1]),
    "missing": lambda s: s.pop("count"),
}


@pytest.mark.parametrize("kind", PERCEPTRONS)
def test_perceptrons_that_would_write_elsewhere(kind, path, monkeypatch):
    model = fitted("perceptron warm", "three")
    PERCEPTRONS[kind](model._state)
    with pytest.raises(ModelFileError, match="cannot be saved"):
        save(model, path)
    monkeypatch.setattr("bayespoint.io.models.encode.check_object", lambda value: None)
    save(model, path)
    refused(path)


def test_perceptrons_of_other_labels_start_anew(path):
    model = fitted("perceptron warm", "three")
    half = {
        name: value[..., ::2].copy()
        if name in ("signs", "output", "count", "best_count")
        else value
        for name, value in model._state.items()
    }
    half["order"] = np.argsort(model._state["order"][..., ::2], axis=-1).astype(np.int32)
    half["held_out"] = np.arange(3)
    half["trial"] = half["trial"][..., :3].copy()
    m = half["signs"].shape[1]
    half["walk"] = np.minimum(half["walk"], m)
    half["walk"][..., 0] = 0
    half["walk"][..., 3] = m
    model._state = half
    loaded = again(model, path)  # in itself it is right
    with pytest.warns(UserWarning, match="starting anew"):
        loaded.fit(X3, y3)
    assert loaded._state["order"].shape[2] == len(y3)


def encoder_state(change):
    encoder = OneHotEncoder(min_frequency=3, handle_unknown="infrequent_if_exist", drop="if_binary")
    encoder.fit(np.array([["a", "x"]] * 5 + [["b", "y"]] * 4 + [["c", "y"], ["d", "x"]], object))
    change(vars(encoder))
    return encoder


ENCODERS = {
    "columns": lambda s: s["_n_features_outs"].__setitem__(0, 1),
    "more columns": lambda s: s["_n_features_outs"].__setitem__(0, 10**9),
    "columns as float": lambda s: s["_n_features_outs"].__setitem__(0, 3.0),
    "mapping": lambda s: s["_default_to_infrequent_mappings"][0].__setitem__(0, 10**6),
    "negative mapping": lambda s: s["_default_to_infrequent_mappings"][0].__setitem__(0, -9),
    "no mapping": lambda s: s["_default_to_infrequent_mappings"].__setitem__(0, None),
    "mapping too much": lambda s: s["_default_to_infrequent_mappings"].append(None),
    "rare": lambda s: s["_infrequent_indices"][0].__setitem__(0, 10**6),
    "rare without mapping": lambda s: s.update(
        _default_to_infrequent_mappings=[None, None],
        _infrequent_indices=[np.array([10**6]), None],
        _n_features_outs=[4, s["_n_features_outs"][1]],
    ),
    "not enabled": lambda s: s.update(_infrequent_enabled=False),
    "dropped": lambda s: s["_drop_idx_after_grouping"].__setitem__(1, 10**6),
    "categories": lambda s: s["categories_"].append(np.array(["e"], object)),
    "longer": lambda s: s["categories_"].__setitem__(1, np.array(["x", "y", "z"], object)),
}


@pytest.mark.parametrize("kind", ENCODERS)
def test_encoders_that_would_write_elsewhere(kind, path, monkeypatch):
    assert_same(encoder_state(lambda s: None), again(encoder_state(lambda s: None), path))
    monkeypatch.setattr("bayespoint.io.models.encode.check_object", lambda value: None)
    save(encoder_state(ENCODERS[kind]), path)
    refused(path)


@pytest.mark.parametrize("position", [-1, 625, 10**9])
def test_random_numbers_from_elsewhere(position, path):
    model = LinearMarginSVC(C=np.random.RandomState(0))
    path.write_bytes(with_text(put(*MODEL, "C", "items", 1, value=position), model))
    refused(path, "impossible")


def test_a_cache_of_pickles_is_not_loaded(path):
    path.write_bytes(with_text(put(*MODEL, "memory", value="/tmp"), chain(LinearMarginSVC())))
    refused(path, "folder of pickles")


# Versions.


def test_newer_files(path):
    path.write_bytes(with_text(put("version", value=2)))
    refused(path, "version 2 of the file format.*Upgrade bayespoint")


def test_another_version_of_scikit_learn(path):
    path.write_bytes(with_text(put("libraries", "scikit-learn", value="1.8.0")))
    with pytest.warns(UserWarning, match=r"was written with scikit-learn 1\.8\.0") as caught:
        assert_same(load(path), SMALL)
    assert len(caught) == 1
    assert caught[0].filename == __file__


# Any damage is noticed, or does not matter.


_CONTENT = _written(SMALL).getvalue()


def load_damaged(content: bytes, path, X):
    """Load what may be damaged; what loads should be the model."""
    path.write_bytes(content)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            loaded = load(path)
    except ModelFileError as error:
        assert "\n" not in str(error)  # noqa: PT017
        return
    np.testing.assert_array_equal(loaded.predict_proba(X), SMALL.predict_proba(X))


def test_every_end(path):
    for length in range(0, len(_CONTENT), 7):
        path.write_bytes(_CONTENT[:length])
        with pytest.raises(ModelFileError):
            load(path)


def test_every_byte(path):
    content = bytearray(_CONTENT)
    for at in range(len(content)):
        flip = (0x01, 0x80, 0xFF)[at % 3]
        content[at] ^= flip
        load_damaged(bytes(content), path, X2[:, :2])
        content[at] ^= flip


EDITS = st.lists(
    st.tuples(st.floats(0, 1), st.integers(0, 40), st.binary(max_size=40)), min_size=1, max_size=5
)
FUZZ = settings(
    max_examples=300,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


@FUZZ
@given(EDITS)
def test_any_damage(tmp_path, edits):
    content = _CONTENT
    for place, n_removed, added in edits:
        at = int(place * len(content))
        content = content[:at] + added + content[at + n_removed :]
    load_damaged(content, tmp_path / "damaged", X2[:, :2])


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
    | st.sampled_from([*_plain.HOME, *_plain.CLASSES, *_plain.SPARSE, "array", "tuple", "dict"]),
    lambda inner: st.lists(inner, max_size=4)
    | st.dictionaries(
        st.sampled_from(["type", "items", "state", "value", "index", "shape", "class", "steps"]),
        inner, max_size=4,
    ),
    max_leaves=8,
)  # fmt: skip
PIPELINE_MEMBERS = members_of(make_pipeline(clone(SMALL)).fit(make_table(40, 0), [0, 1] * 20))
PIPELINE_TEXT = json.loads(PIPELINE_MEMBERS["model.json"])


def places(node, way=()):
    """Yield the way to every node."""
    pairs = node.items() if isinstance(node, dict) else enumerate(node)
    for key, inner in pairs:
        yield (*way, key)
        if isinstance(inner, dict | list):
            yield from places(inner, (*way, key))


PLACES = list(places(PIPELINE_TEXT))


@FUZZ
@given(st.sampled_from(PLACES), VALUES)
def test_any_other_text(tmp_path, way, value):
    text = json.loads(json.dumps(PIPELINE_TEXT))
    put(*way, value=value)(text)
    members = {**PIPELINE_MEMBERS, "model.json": json.dumps(text).encode()}
    path = tmp_path / "model"
    path.write_bytes(zip_of(members.items()))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*was written with scikit-learn")
        try:
            load(path)
        except ModelFileError as error:
            assert "\n" not in str(error)  # noqa: PT017


# No code is run.


def run(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_python_itself_sees_nothing_but_the_file_opened(path, tmp_path):
    """Audit events are everything that could do harm: imports, code, files, processes."""
    table = make_table(60, 0)
    save(make_pipeline(fitted("ep", "two")).fit(table, labels_of(table, ["a", "b"])), path)
    (tmp_path / "pickle").write_bytes(pickle.dumps(Payload(tmp_path / "evidence")))
    code = f"""
        import sys, bayespoint
        bayespoint.load({str(path)!r})
        seen, watching = [], True
        sys.addaudithook(lambda event, arguments: watching and seen.append(event))
        bayespoint.load({str(path)!r})
        try:
            bayespoint.load({str(tmp_path / "pickle")!r})
        except bayespoint.model_file.ModelFileError:
            pass
        watching = False
        print(sorted(set(seen) - {{"object.__getattr__"}}))
    """
    assert run(code) == "['open']\n"
    assert not (tmp_path / "evidence").exists()


def test_no_type_of_the_list_can_be_called_or_says_how_to_unpickle_it():
    """Then no attribute can be a function in disguise, and `vars` are all that there is."""
    for name in _plain.HOME:
        mro = getattr(_plain.find_type(name), "__mro__", ())
        defined = {attribute for kind in mro if kind is not object for attribute in vars(kind)}
        assert not defined & {"__call__", "__reduce__", "__reduce_ex__", "__slots__", "__del__"}
    assert not {"FunctionTransformer", "Memory"} & _plain.HOME.keys()
