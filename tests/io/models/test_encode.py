import os
import tracemalloc

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline as chain
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.utils import Bunch

from bayespoint import LinearMarginSVC, solvers
from bayespoint.io.models.allowed_types import SPARSE_TYPES
from bayespoint.io.models.model_file import ModelFileError, load, save
from model_file_helpers import assert_same, fitted, kernel_machine, round_trip

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
    "sparse": [kind(np.eye(4)[:3]) for kind in SPARSE_TYPES.values()],
}  # fmt: skip


@pytest.mark.parametrize("kind", ODD)
def test_every_value_that_an_attribute_can_have(kind, path):
    model = LinearMarginSVC(C=ODD[kind])
    assert_same(list(model.C), round_trip(model, path).C)


def test_an_object_array_keeps_lists_as_they_are(path):
    items = np.empty(2, dtype=object)
    items[:] = [[1, 2], (3, 4)]
    loaded = round_trip(LinearMarginSVC(C=items), path).C
    assert loaded.tolist() == [[1, 2], (3, 4)]


def test_arrays_of_a_memory_map_are_arrays(path, tmp_path):
    np.save(tmp_path.parent / "map.npy", np.arange(5.0))
    mapped = np.load(tmp_path.parent / "map.npy", mmap_mode="r")
    assert_same(round_trip(LinearMarginSVC(C=mapped), path).C, np.arange(5.0))


def test_callbacks_are_not_kept(path):
    callback = pytest.importorskip("sklearn.callback", reason="scikit-learn 1.9 brought callbacks")
    model = kernel_machine("ep").set_callbacks(callback.ProgressBar())
    assert "_skl_callbacks" in vars(model)
    assert_same(round_trip(model, path), kernel_machine("ep"))


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


class Own(LinearMarginSVC):
    """A user-defined class."""


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
    with pytest.raises(ModelFileError, match="contains itself"):
        save(model, path)


def test_parameters_that_no_longer_fit(path):
    model = fitted("linear factorized", "two").set_params(fit_intercept=False)
    with pytest.raises(ModelFileError, match="changed after fit"):
        save(model, path)
