"""Classifiers of scikit-learn and others inside of a reject option, in model files."""

import io
import json
import sys
import zipfile
from contextlib import suppress

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import bayespoint
from bayespoint import RejectOptionClassifier
from bayespoint.io.models import foreign
from bayespoint.io.models.archive import write
from bayespoint.io.models.foreign_types import nodes_of
from bayespoint.io.models.model_file import ModelFileError, load, read, save
from foreign_helpers import (
    SCHEMA,
    X,
    attribute,
    node,
    option,
    parts,
    spy_module,
    with_bytes,
    with_members,
    with_schema,
    y,
)
from foreign_helpers import Spy as SpyClass
from model_file_helpers import assert_refused

pytest.importorskip("skops")
pytestmark = pytest.mark.usefixtures("one_thread")
SMALL = {"random_state": 0}
CLASSIFIERS = {
    "bayes": GaussianNB(),
    "forest": RandomForestClassifier(5, **SMALL),
    "extra trees": ExtraTreesClassifier(5, **SMALL),
    "tree": DecisionTreeClassifier(**SMALL),
    "boosting": HistGradientBoostingClassifier(max_iter=3, **SMALL),
    "ada": AdaBoostClassifier(n_estimators=3, **SMALL),
    "bagging": BaggingClassifier(n_estimators=3, max_features=2, **SMALL),
    "calibrated": CalibratedClassifierCV(GaussianNB(), method="isotonic"),
    "voting": VotingClassifier(
        [("a", GaussianNB()), ("b", DecisionTreeClassifier(**SMALL))], voting="soft"
    ),
    "sgd": SGDClassifier(**SMALL),
    "pipeline": make_pipeline(StandardScaler(), RandomForestClassifier(3, **SMALL)),
}


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_classifiers_of_scikit_learn_come_back(name, path):
    model = option(CLASSIFIERS[name])
    save(model, path)
    loaded = load(path)
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    np.testing.assert_array_equal(loaded.confidence(X), model.confidence(X))
    again = loaded.fit(X, y)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


def test_a_frozen_pipeline_of_a_table_with_promises_by_group(path, rng):
    table = pd.DataFrame({"x": rng.normal(size=900), "g": rng.choice(["n", "s"], 900)})
    label = np.where(table["x"] > 0, "yes", "no")
    steps = make_column_transformer((OneHotEncoder(), ["g"]), ("passthrough", ["x"]))
    inner = make_pipeline(steps, RandomForestClassifier(5, **SMALL)).fit(table[:300], label[:300])
    model = RejectOptionClassifier(FrozenEstimator(inner), max_error=0.2, groups="g")
    model.fit(table[300:], label[300:])
    save(model, path, {"purpose": "test"})
    loaded, metadata = read(path)
    assert loaded.predict(table).tolist() == model.predict(table).tolist()
    assert loaded.group_summary() == model.group_summary()
    assert metadata["libraries"]["skops"] == sys.modules["skops"].__version__
    assert metadata["purpose"] == "test"
    # The classifier is in the file once, although the option names it twice.
    assert loaded.estimator.estimator[-1] is loaded.estimator_.estimator[-1]


def test_our_own_classifiers_need_no_skops(path, monkeypatch):
    monkeypatch.setitem(sys.modules, "skops.io", None)
    inner = make_pipeline(StandardScaler(), bayespoint.LinearBayesPointClassifier())
    save(option(inner), path)
    assert "skops" not in read(path)[1]["libraries"]
    assert load(path).predict(X).shape == (150,)
    with pytest.raises(ModelFileError, match="needs skops: pip install skops"):
        save(option(), path)


def test_other_classifiers_alone_are_still_refused(path):
    with pytest.raises(ModelFileError, match="inside of a RejectOptionClassifier"):
        save(GaussianNB().fit(X, y), path)


@pytest.mark.parametrize(
    ("classifier", "names"),
    [
        (SVC(), ["sklearn.svm._classes.SVC"]),
        (
            KNeighborsClassifier(algorithm="brute"),
            ["sklearn.neighbors._classification.KNeighborsClassifier"],
        ),
        (
            make_pipeline(FunctionTransformer(abs), GaussianNB()),
            ["builtins.abs"],
        ),
    ],
)
def test_types_that_are_not_trusted_are_named(classifier, names, path):
    model = option(classifier)
    with pytest.warns(UserWarning, match="has to trust some of its types"):
        save(model, path)
    with pytest.raises(ModelFileError, match="types that are not trusted") as caught:
        load(path)
    assert str(path) in str(caught.value)
    assert f"bayespoint.load(path, trusted={names!r})" in str(caught.value)
    np.testing.assert_array_equal(load(path, trusted=names).predict(X), model.predict(X))
    if names[0].startswith("sklearn"):
        kind = type(classifier)
        np.testing.assert_array_equal(load(path, trusted=[kind]).predict(X), model.predict(X))


@pytest.mark.parametrize("trusted", [True, "sklearn.svm.SVC", 3, [3]])
def test_trusted_is_a_list_of_names_or_types(trusted, path):
    save(option(), path)
    with pytest.raises(TypeError, match="trusted should"):
        load(path, trusted=trusted)


def test_no_code_of_another_library_runs_before_it_is_trusted(path, monkeypatch):
    module = spy_module(monkeypatch)
    model = option(SpyClass())
    with pytest.warns(UserWarning, match=r"trusted=\['other_library.Spy'\]"):
        save(model, path)
    SpyClass.ran.clear()
    with pytest.raises(ModelFileError, match=r"not trusted: other_library\.Spy\."):
        load(path)
    assert SpyClass.ran == []
    assert (load(path, trusted=["other_library.Spy"]).predict(X) == model.predict(X)).all()
    assert SpyClass.ran != []
    # Versions are recorded and told.
    assert read(path, [SpyClass])[1]["libraries"]["other_library"] == "1.0"
    module.__version__ = "2.0"
    with pytest.warns(UserWarning, match=r"written with other_library 1\.0, but this is 2\.0"):
        load(path, [SpyClass])


def test_what_skops_cannot_save_is_told(path):
    model = option()
    model.estimator_.lock = open(__file__)  # noqa: SIM115
    path.write_text("old")
    with model.estimator_.lock, pytest.raises(ModelFileError, match="which cannot be saved"):
        save(model, path)
    assert path.read_text() == "old"


SPY = "other_library.Spy"
RUN = "other_library.run"
HOSTILE_NODES = {
    "object": node("ObjectNode", SPY, content=None),
    "function": node("FunctionNode", RUN, content=RUN),
    "type": node("TypeNode", RUN),
    "operator": node(
        "OperatorFuncNode", RUN, attrs=node("TupleNode", "builtins.tuple", content=[])
    ),
    "method": node("MethodNode", SPY, content={"func": "fit", "obj": node("ObjectNode", SPY)}),
    "partial": node("PartialNode", "functools.partial", content={"func": node("TypeNode", RUN)}),
    "list of a type that it calls": node("ListNode", RUN, content=[]),
    "dict of a type that it calls": node("DictNode", RUN, content={}),
    "tuple of a type that it calls": node("TupleNode", RUN, content=[]),
    "scalar of a type that it calls": node("NdArrayNode", RUN, type="numpy", file="x.npy"),
    "array that it allocates": node("ListNode", "numpy.ndarray", content=[]),
    "tree of another type": node("TreeNode", RUN, content={}, __reduce__={"args": []}),
    "loss of another type": node("LossNode", RUN, content={}, __reduce__={"args": []}),
    "generator": node(
        "RandomGeneratorNode",
        "numpy.random._generator.Generator",
        content={
            "bit_generator": {"content": {"bit_generator": {"content": '"seed"'}}},
            "seed_seq": {},
        },
    ),
    "shell": node("FunctionNode", "os.system", content="x"),
    "unknown loader": node("EvalNode", "builtins.dict", content={}),
    "no loader": {"__class__": "dict", "__module__": "builtins"},
    "a name that is no text": node("ListNode", "builtins.list") | {"__class__": ["list"]},
}


@pytest.mark.parametrize("name", HOSTILE_NODES)
def test_hostile_nodes_run_nothing(name, path, monkeypatch):
    spy_module(monkeypatch)
    with_bytes(path, attribute("var_", **HOSTILE_NODES[name]))
    SpyClass.ran.clear()
    assert_refused(path)
    assert SpyClass.ran == []


def test_nothing_is_imported_before_it_is_trusted(path, tmp_path, monkeypatch):
    (tmp_path / "module_of_a_stranger.py").write_text("raise SystemExit('it ran')")
    monkeypatch.syspath_prepend(str(tmp_path))
    for loader in ("ObjectNode", "TypeNode", "FunctionNode"):
        with_bytes(path, attribute("x", **node(loader, "module_of_a_stranger.Kind")))
        assert_refused(path, "not trusted: module_of_a_stranger.Kind")
    assert "module_of_a_stranger" not in sys.modules


def npy(shape, dtype="<f8", content=b""):
    header = io.BytesIO()
    described = {"descr": dtype, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(header, described)
    return header.getvalue() + content


def first_array(change):
    def changed(members):
        name = next(name for name in members if name.endswith(".npy"))
        return members | {name: change(members[name])}

    return with_members(changed)


def sparse_bomb(members):
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("data.npy", npy((10**6,), content=bytes(8 * 10**6)))
    return members | {"bomb.npz": inner.getvalue()}


HOSTILE_BYTES = {
    "nothing": lambda content: b"",
    "text": lambda content: b"hello",
    "pickle": lambda content: b"\x80\x04K\x01.",
    "half": lambda content: content[: len(content) // 2],
    "compressed": with_members(
        lambda members: members | {"zeros.npy": bytes(10**7)}, zipfile.ZIP_DEFLATED
    ),
    "huge array": first_array(lambda _: npy((10**12,))),
    "negative array": first_array(lambda _: npy((-1, -1), content=bytes(8))),
    "objects": first_array(lambda _: npy((1,), "|O", b"\x80\x04N.")),
    "header": first_array(lambda _: b"\x93NUMPY\x01\x00\xff\xff" + b"(" * 65535),
    "no array": first_array(lambda _: b""),
    "new version": first_array(lambda old: b"\x93NUMPY\x09\x00" + old[8:]),
    "sparse bomb": with_members(sparse_bomb),
    "other member": with_members(lambda members: members | {"run.py": b"print(1)"}),
    "no schema": with_members(lambda m: {k: v for k, v in m.items() if k != SCHEMA}),
    "no JSON": with_members(lambda members: members | {SCHEMA: b"{"}),
    "deep": with_members(lambda members: members | {SCHEMA: b"[" * 10**6}),
    "a list": with_schema(lambda schema: []),
    "another class": with_schema(lambda schema: node("JsonNode", "builtins.str", content='"x"')),
    "missing array": with_schema(
        lambda schema: schema["content"]["content"].update(
            x=node("NdArrayNode", "numpy.ndarray", type="numpy", file="../../etc/passwd")
        )
    ),
    "a method": attribute("predict", **node("JsonNode", "builtins.str", content='"x"')),
    "a dunder": attribute("__doc__", **node("JsonNode", "builtins.str", content='"x"')),
}


@pytest.mark.parametrize("name", HOSTILE_BYTES)
def test_hostile_bytes_are_refused(name, path):
    with_bytes(path, HOSTILE_BYTES[name])
    assert_refused(path)


def test_every_flipped_bit_and_every_cut_is_refused_or_harmless(path, rng):
    save(option(), path)
    whole, expected = path.read_bytes(), load(path).predict(X)
    for _ in range(60):
        content = bytearray(whole)
        content[rng.integers(len(content))] ^= 1 << rng.integers(8)
        path.write_bytes(content)
        with suppress(ModelFileError):
            assert (load(path).predict(X) == expected).all()
    for size in rng.integers(1, len(whole), 20):
        path.write_bytes(whole[:size])
        assert_refused(path)


def test_bytes_that_are_not_bytes(path):
    save(option(), path)
    text, arrays, (_, place) = parts(path)
    for other in (arrays[place].astype(float), arrays[place][None]):
        changed = [other if i == place else array for i, array in enumerate(arrays)]
        layout = {"dtype": other.dtype.str, "shape": list(other.shape)}
        text["arrays"][place] = layout | {"axes": list(range(other.ndim))}
        write(path, json.dumps(text), changed)
        assert_refused(path, "should be bytes")


def test_sparse_attributes_come_back_and_are_checked(path):
    model = option()
    model.estimator_.extra = sparse.csr_matrix(np.eye(50))
    save(model, path)
    assert (load(path).estimator_.extra != model.estimator_.extra).nnz == 0
    broken = sparse.csr_matrix(np.eye(50))
    broken.indices[0] = 10**6
    model.estimator_.extra = broken
    with pytest.raises(ModelFileError, match="cannot be saved"):
        save(model, path)


@pytest.mark.parametrize("n_outputs", ["-1", str(2**44)])
def test_a_tree_that_wants_all_memory_is_damaged(path, n_outputs):
    """Found by the fuzzer: scikit-learn takes the room first, and a MemoryError came out."""

    def change(schema):
        trees = [node for node in nodes_of(schema) if node["__loader__"] == "TreeNode"]
        for tree in trees:
            tree["__reduce__"]["args"]["content"][2].update(content=n_outputs, __id__=7)
        assert trees

    save(option(RandomForestClassifier(2, max_depth=2, random_state=0)), path)
    with_bytes(path, with_schema(change), parts(path))
    with pytest.raises(ModelFileError, match=r"damaged.*more memory than there is"):
        load(path)


def with_pool(change):
    """Return a change of bytes that changes the seed of a random generator."""

    def changed(schema):
        pools = [node["content"] for node in nodes_of(schema) if "pool_size" in str(node)]
        for content in pools:
            if "pool_size" in content:
                change(content, schema)

    return with_schema(changed)


@pytest.mark.parametrize("way", ["number", "known number", "array", "cached"])
def test_a_seed_that_mixes_for_days_is_refused(path, way):
    """Found by the fuzzer: NumPy mixes every word of a pool with every other one."""

    def change(content, schema):
        node = content["pool_size"]
        if way == "number":
            node.update(content="1000000", __id__=7)
        elif way == "known number":  # skops takes the first node of this id
            schema["content"]["content"] = {"a": {**node, "content": "1000000"}} | schema[
                "content"
            ]["content"]
        else:
            loader = {"array": "NdArrayNode", "cached": "CachedNode"}[way]
            node.update(__loader__=loader, __id__=7)

    save(option(HistGradientBoostingClassifier(max_iter=1)), path)  # keeps a generator
    load(path)
    with_bytes(path, with_pool(change), parts(path))
    with pytest.raises(ModelFileError, match=r"random number generator|one name"):
        load(path)


def test_a_reader_without_skops_says_so(path, monkeypatch):
    save(option(LogisticRegression(max_iter=1000)), path)
    monkeypatch.setattr(foreign, "_skops", lambda: foreign_missing())
    with pytest.raises(ModelFileError, match="pip install skops"):
        load(path)


def foreign_missing():
    raise ModelFileError("needs skops: pip install skops.")


def test_names_in_the_file_are_few(path):
    """The text of the model file names no module: these are in the bytes of skops alone."""
    save(option(), path)
    assert "sklearn." not in json.dumps(parts(path)[0]["model"])
