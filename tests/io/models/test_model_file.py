import io
import json
import os
import pickle
import warnings
import zipfile
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline as chain
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    RobustScaler,
    StandardScaler,
)

import bayespoint
from bayespoint import LinearBayesPointClassifier, LinearMarginSVC, solvers
from bayespoint.classifiers.reject import option as reject
from bayespoint.io.models.model_file import ModelFileError, load, read, save
from files.make_model import labels_of, make_pipeline, make_table
from model_file_helpers import (
    DATA,
    ESTIMATORS,
    SMALL_MODEL,
    X2,
    X3,
    Payload,
    assert_predicts_the_same,
    assert_refused,
    assert_same,
    fit,
    fitted,
    kernel_machine,
    put,
    round_trip,
    run,
    with_text,
    y2,
    y3,
)

FILES = Path(__file__).parents[2] / "files"
ONLY_DENSE = ["cells", "hyperplane"]
CASES = [
    (name, data)
    for name in ESTIMATORS
    for data in DATA
    if not (name == "onion" and data != "two") and not (name in ONLY_DENSE and data == "sparse")
]


@pytest.mark.parametrize(("name", "data"), CASES)
def test_round_trip_of_every_estimator(name, data, path):
    model = fitted(name, data)
    loaded = round_trip(model, path)
    assert_same(model, loaded)
    assert_predicts_the_same(model, loaded, DATA[data][0])
    if hasattr(model, "sample_decision"):
        X = DATA[data][0]
        draws = [m.sample_decision(X, 3) for m in (model, loaded)]
        np.testing.assert_array_equal(*draws)
        np.testing.assert_array_equal(model.hardest_examples(), loaded.hardest_examples())


@pytest.mark.parametrize("name", ESTIMATORS)
def test_estimators_that_are_not_fitted(name, path):
    loaded = round_trip(ESTIMATORS[name], path)
    assert repr(loaded) == repr(ESTIMATORS[name])
    assert_same(fit(loaded, X2, y2).classes_, np.array(["no", "yes"]))


def test_precomputed_kernel(path):
    model = kernel_machine("ep", kernel="precomputed").fit(X2 @ X2.T, y2)
    assert_predicts_the_same(model, round_trip(model, path), X2 @ X2.T)


@pytest.mark.parametrize("name", ["linear full", "linear factorized"])
@pytest.mark.parametrize("data", DATA)
def test_streams_go_on(name, data, path):
    X, y = DATA[data]
    model = fitted(name, data)
    loaded = round_trip(model, path)
    merged = [a.merge(a) for a in (model, loaded)] if "factorized" in name else []
    for a in (model, loaded):
        a.partial_fit(X[::3], y[::3])
    assert_same(model, loaded)
    assert not merged or assert_same(*merged) is None


def test_perceptrons_go_on(path):
    model = fitted("perceptron warm", "three")
    loaded = round_trip(model, path)
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
    loaded = round_trip(model, path)
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
    loaded = round_trip(model, path)
    assert_same(model, loaded)
    assert_predicts_the_same(model, loaded, new)
    np.testing.assert_array_equal(model.accept(new), loaded.accept(new))
    assert_same(model.at(reject_rate=0.5), loaded.at(reject_rate=0.5))


def test_a_frozen_classifier(path):
    frozen = FrozenEstimator(fitted("linear full", "two"))
    model = reject.RejectOptionClassifier(frozen, reject_rate=0.1).fit(X2, y2)
    assert_same(model, round_trip(model, path))


@pytest.mark.parametrize(
    "scaler",
    [MaxAbsScaler(), Normalizer(), RobustScaler(with_centering=False), MinMaxScaler()],
    ids=repr,
)
def test_round_trip_of_scalers(scaler, path):
    X = X3 if isinstance(scaler, MinMaxScaler) else sparse.csr_matrix(X3)
    model = chain(scaler, LinearBayesPointClassifier()).fit(X, y3)
    loaded = round_trip(model, path)
    assert_same(model, loaded)
    assert_predicts_the_same(model, loaded, X)


def test_output_of_pandas_is_kept(path):
    model = StandardScaler().set_output(transform="pandas").fit(pd.DataFrame(X3))
    assert isinstance(round_trip(model, path).transform(pd.DataFrame(X3)), pd.DataFrame)


def test_a_loaded_model_is_like_any_other(path):
    loaded = round_trip(fitted("ep", "two"), path)
    assert_same(pickle.loads(pickle.dumps(loaded)), loaded)
    assert repr(clone(loaded)) == repr(ESTIMATORS["ep"])
    assert loaded.fit(X3, y3).score(X3, y3) > 0.9


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


@pytest.mark.parametrize("old", sorted(FILES.glob("*.bayespoint")), ids=lambda p: p.name)
def test_old_files(old):
    expected = json.loads(old.with_suffix(".json").read_text())
    table = pd.DataFrame(**expected["table"])
    table["color"] = table["color"].astype(object).where(table["color"].notna(), np.nan)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*was written with scikit-learn")
        model, metadata = read(old)
    assert metadata["made_by"] == "tests/files/make_model.py"
    # Sums of a few hundred products in double precision.
    np.testing.assert_allclose(model.predict_proba(table), expected["predict_proba"], rtol=1e-9)
    assert model.predict(table).tolist() == expected["predict"]
    clone(model[-1])  # needs every parameter of ours, also those that are newer than the file


def test_there_is_an_old_file_of_every_version():
    names = {f"model_v{n}.bayespoint" for n in range(1, bayespoint.model_file.VERSION + 1)}
    assert names == {p.name for p in FILES.glob("*.bayespoint")}


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
    assert_refused(path, message)
    assert not evidence.exists()


def test_the_payload_would_work(tmp_path):
    pickle.loads(pickle.dumps(Payload(tmp_path / "evidence"))).close()
    assert (tmp_path / "evidence").exists()


def test_newer_files(path):
    path.write_bytes(with_text(put("version", value=2)))
    assert_refused(path, "version 2 of the file format.*Upgrade bayespoint")


def test_another_version_of_scikit_learn(path):
    path.write_bytes(with_text(put("libraries", "scikit-learn", value="1.8.0")))
    with pytest.warns(UserWarning, match=r"was written with scikit-learn 1\.8\.0") as caught:
        assert_same(load(path), SMALL_MODEL)
    assert len(caught) == 1
    assert caught[0].filename == __file__


def test_loading_only_opens_the_file(path, tmp_path):
    """Audit events report everything that could do harm: imports, code, files, processes."""
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
