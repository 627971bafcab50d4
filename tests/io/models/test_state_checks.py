import numpy as np
import pytest
from sklearn.preprocessing import OneHotEncoder

from bayespoint.io.models.model_file import ModelFileError, save
from model_file_helpers import X3, assert_refused, assert_same, fitted, round_trip, y3

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
    assert_refused(path)


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
    loaded = round_trip(model, path)  # consistent in itself
    with pytest.warns(UserWarning, match="starting from scratch"):
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
    assert_same(encoder_state(lambda s: None), round_trip(encoder_state(lambda s: None), path))
    monkeypatch.setattr("bayespoint.io.models.encode.check_object", lambda value: None)
    save(encoder_state(ENCODERS[kind]), path)
    assert_refused(path)
