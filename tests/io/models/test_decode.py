import json
import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone

from bayespoint import LinearMarginSVC
from bayespoint.io.models.allowed_types import CLASSES, MODULE_OF_TYPE, SPARSE_TYPES
from bayespoint.io.models.model_file import ModelFileError, load
from files.make_model import make_pipeline, make_table
from model_file_helpers import (
    SMALL_MODEL,
    STATE,
    assert_refused,
    members_of,
    put,
    state,
    with_text,
    zip_of,
)

FUZZ = settings(
    max_examples=300,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
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
    "a method": put(*STATE, "predict", value=1),
    "a dunder": put(*STATE, "__class__", value=1),
    "a property": put(*STATE, "coef_variance_", value=1),
    "eval": put(*STATE, "class_weight", value={"type": "class", "value": "eval"}),
    "type": put(*STATE, "class_weight", value={"type": "class", "value": "type"}),
    "call": put(
        *STATE, "class_weight", value={"type": "scalar", "class": "numpy.float64", "value": []}
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
    "no such array": put(*STATE, "_shift", "index", value=99),
    "last array": put(*STATE, "_shift", "index", value=-1),
    "arrays as dict": put("arrays", value={"a": 1}),
    "not enough arrays": put("arrays", value=[]),
    "impossible random state": put(
        *STATE, "class_weight", value={"type": "RandomState", "items": [{"type": "array",
                                                                        "index": 0}, 10**9, 0, 0.0]}
    ),
    "unequal dict": put(*STATE, "class_weight", value={"type": "dict", "items": [[1], []]}),
    "unhashable key": put(*STATE, "class_weight", value={"type": "dict", "items": [[[]], [1]]}),
    "float": put(*STATE, "class_weight", value={"type": "float", "value": "1e999"}),
    "long slice": put(*STATE, "class_weight", value={"type": "slice", "items": [1, 2, 3, 4]}),
    "nested": put(*STATE, "class_weight", value=eval("[" * 110 + "]" * 110)),
    "shape of objects": put(
        *STATE, "class_weight", value={"type": "objects", "shape": [10**9], "items": [1]}
    ),
    "short belief": put("arrays", 2, value={"dtype": "<f8", "shape": [1], "axes": [0]}),
    "more features": put(*STATE, "n_features_in_", value=1000),
    "features": put(*STATE, "n_features_in_", value={"type": "tuple", "items": []}),
    "no features": lambda text: state(text).pop("n_features_in_") and None,
    "unsorted classes": put(*STATE, "classes_", value={"type": "objects", "shape": [2],
                                                       "items": ["b", "a"]}),
    "same classes": put(*STATE, "classes_", value={"type": "objects", "shape": [2],
                                                   "items": ["a", "a"]}),
    "more classes": put(*STATE, "classes_", value=[1, 2, 3]),
    "no covariance": put(*STATE, "covariance_", value="factorized"),
    "no intercept": put(*STATE, "fit_intercept", value=False),
}  # fmt: skip


@pytest.mark.parametrize("kind", HOSTILE_TEXTS)
def test_hostile_texts(kind, path):
    path.write_bytes(with_text(HOSTILE_TEXTS[kind]))
    assert_refused(path)


def test_sparse_matrices_with_wrong_indices(path):
    def change(text):
        at = state(text)["C"]["items"][1]["index"]
        text["arrays"][at]["dtype"] = "<u4"  # -1 becomes a large number

    matrix = sparse.csr_matrix(np.eye(3))
    for bad in (-1, 3, 2**30):
        matrix.indices[0] = bad
        path.write_bytes(zip_of(members_of(LinearMarginSVC(C=matrix)).items()))
        assert_refused(path, "ind")
    path.write_bytes(with_text(change, LinearMarginSVC(C=matrix)))
    assert_refused(path)
    matrix.indices[0] = 0
    matrix.indptr[1] = 10**6
    path.write_bytes(zip_of(members_of(LinearMarginSVC(C=matrix)).items()))
    assert_refused(path)


@pytest.mark.parametrize("position", [-1, 625, 10**9])
def test_random_numbers_from_elsewhere(position, path):
    model = LinearMarginSVC(C=np.random.RandomState(0))
    path.write_bytes(with_text(put(*STATE, "C", "items", 1, value=position), model))
    assert_refused(path, "impossible")


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
    | st.sampled_from([*MODULE_OF_TYPE, *CLASSES, *SPARSE_TYPES, "array", "tuple", "dict"]),
    lambda inner: st.lists(inner, max_size=4)
    | st.dictionaries(
        st.sampled_from(["type", "items", "state", "value", "index", "shape", "class", "steps"]),
        inner, max_size=4,
    ),
    max_leaves=8,
)  # fmt: skip
PIPELINE_MEMBERS = members_of(make_pipeline(clone(SMALL_MODEL)).fit(make_table(40, 0), [0, 1] * 20))
PIPELINE_TEXT = json.loads(PIPELINE_MEMBERS["model.json"])


def places(node, path=()):
    """Yield the path to every node."""
    pairs = node.items() if isinstance(node, dict) else enumerate(node)
    for key, inner in pairs:
        yield (*path, key)
        if isinstance(inner, dict | list):
            yield from places(inner, (*path, key))


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
