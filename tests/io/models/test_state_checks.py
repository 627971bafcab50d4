from dataclasses import replace

import numpy as np
import pytest
from sklearn.preprocessing import OneHotEncoder

from bayespoint import (
    BayesPointClassifier,
    LinearBayesPointClassifier,
    RejectOptionClassifier,
)
from bayespoint.io.models.model_file import ModelFileError, save
from model_file_helpers import (
    X3,
    assert_predicts_the_same,
    assert_refused,
    assert_same,
    fitted,
    round_trip,
    y3,
)

PERCEPTRONS = {
    "order": lambda s: s["order"].__setitem__((0, 0, 0), 10**6),
    "negative order": lambda s: s["order"].__setitem__((0, 0, 0), -1),
    "held out": lambda s: s["held_out"].__setitem__(0, 10**6),
    "others": lambda s: s["others"].__setitem__(0, 10**6),
    "short softness": lambda s: s.update(softness=s["softness"][:-1].copy()),
    "short step": lambda s: s.update(step=s["step"][:-1].copy()),
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


def assert_neither_saved_nor_loaded(model, path, monkeypatch):
    """Assert that a model is refused when it is saved, and that a file with it is, too."""
    with pytest.raises(ModelFileError, match="cannot be saved"):
        save(model, path)
    monkeypatch.setattr("bayespoint.io.models.encode.check_object", lambda value: None)
    save(model, path)
    assert_refused(path)


@pytest.mark.parametrize("kind", PERCEPTRONS)
def test_perceptrons_that_would_write_elsewhere(kind, path, monkeypatch):
    model = fitted("perceptron warm", "three")
    PERCEPTRONS[kind](model._state)
    assert_neither_saved_nor_loaded(model, path, monkeypatch)


def test_perceptrons_of_other_labels_start_anew(path):
    model = fitted("perceptron warm", "three")
    half = {
        name: value[..., ::2].copy()
        if name in ("signs", "softness", "step", "output", "count", "best_count")
        else value
        for name, value in model._state.items()
    }
    half["order"] = np.argsort(model._state["order"][..., ::2], axis=-1).astype(np.int32)
    half["held_out"], half["others"] = np.arange(3), np.arange(3, half["signs"].shape[1])
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


def test_perceptrons_of_an_earlier_version_start_anew(path):
    model = fitted("perceptron warm", "three")
    del model._state["others"], model._state["step"]
    model._state["softness"] = float(model.softness_)
    loaded = round_trip(model, path)
    assert_predicts_the_same(model, loaded, X3)
    with pytest.warns(UserWarning, match="starting from scratch"):
        loaded.fit(X3, y3)
    assert loaded._state["step"].shape == (len(y3),)


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


COLUMNS = {
    "missing scale": lambda c: c.scale.__setitem__(0, np.nan),
    "zero scale": lambda c: c.scale.__setitem__(0, 0.0),
    "negative scale": lambda c: c.scale.__setitem__(0, -1.0),
    "infinite center": lambda c: c.center.__setitem__(0, np.inf),
    "missing fill": lambda c: c.fill.__setitem__(0, np.nan),
    "short fill": lambda c: vars(c).update(fill=c.fill[:-1].copy()),
    "single precision": lambda c: vars(c).update(scale=c.scale.astype(np.float32)),
    "bytes for bools": lambda c: vars(c).update(missing=c.missing.astype(np.int8)),
    "list": lambda c: vars(c).update(ordered=c.ordered.tolist()),
    "fewer columns": lambda c: c.categories.pop(),
    "order of numbers": lambda c: c.ordered.__setitem__(0, True),
    "fewer categories": lambda c: c.categories.__setitem__(1, c.categories[1][:-1].copy()),
    "equal categories": lambda c: c.categories[1].__setitem__(0, c.categories[1][1]),
    "missing category": lambda c: c.categories[2].__setitem__(0, np.nan),
    "whole categories": lambda c: c.categories.__setitem__(2, c.categories[2].astype(np.int64)),
    "text for categories": lambda c: c.categories.__setitem__(1, "red"),
    "mark": lambda c: c.missing.__setitem__(3, True),
    "no fill": lambda c: vars(c).pop("fill"),
}


def table_model():
    rng = np.random.default_rng(0)
    X = np.empty((40, 4), dtype=object)
    X[:, 0], X[:, 1] = rng.normal(size=40), rng.choice(["red", "green", "blue"], 40)
    X[:, 2], X[:, 3] = rng.integers(0, 3, 40), rng.normal(size=40)
    X[3, 0] = X[4, 1] = None
    model = BayesPointClassifier(
        gamma=0.3, softness=0.1, categorical_features=[1, 2], standardize=True
    )
    return model.fit(X, X[:, 1] == "red"), X


@pytest.mark.parametrize("default", [False, True])
def test_tables_as_they_are(default, path):
    model, X = table_model()
    if default:
        model = BayesPointClassifier(random_state=0).fit(X, X[:, 1] == "red")
    loaded = round_trip(model, path)
    assert_same(model, loaded)
    assert_predicts_the_same(model, loaded, X)


@pytest.mark.parametrize("kind", COLUMNS)
def test_columns_that_fit_no_table(kind, path, monkeypatch):
    model, _ = table_model()
    COLUMNS[kind](model.columns_)
    assert_neither_saved_nor_loaded(model, path, monkeypatch)


def test_columns_of_another_kind(path):
    model, _ = table_model()
    model.columns_ = {"fill": np.zeros(4)}
    with pytest.raises(ModelFileError, match="columns_ should be Columns"):
        save(model, path)


def mixed():
    """Return a model with a mixture of kernels and a link."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=40), rng.integers(3, size=40)])
    return BayesPointClassifier(random_state=0).fit(X, (X[:, 0] > 0).astype(int))


def refused(model, path, message, monkeypatch):
    """Assert that a model is neither saved nor loaded."""
    with pytest.raises(ModelFileError, match=message):
        save(model, path)
    monkeypatch.setattr("bayespoint.io.models.encode.check_object", lambda value: None)
    save(model, path)
    assert_refused(path)


MIXTURES = {
    "weights has entries": lambda m: {"weights": m.weights * np.nan},
    "gammas has entries": lambda m: {"gammas": -m.gammas},
    "gammas should be": lambda m: {"gammas": m.gammas[1:]},
    "names of a mixture": lambda m: {"names": ["cosine"] * len(m.names)},
    "ranks for each coordinate": lambda m: {
        "views": replace(m.views, knots=m.views.knots[:1], ranks=m.views.ranks[:1])
    },
    "finite and increasing": lambda m: {
        "views": replace(m.views, knots=[knots[::-1] for knots in m.views.knots])
    },
    "among the coordinates": lambda m: {"views": replace(m.views, categories=np.array([2]))},
    "tolerances has entries": lambda m: {"views": replace(m.views, tolerances=np.zeros(1))},
    "categories for its overlap": lambda m: {
        "views": replace(m.views, categories=np.empty(0, dtype=np.int64), tolerances=np.empty(0))
    },
}


@pytest.mark.parametrize("message", MIXTURES)
def test_a_mixture_that_cannot_be_computed_is_refused(message, path, monkeypatch):
    model = mixed()
    model.mixture_ = replace(model.mixture_, **MIXTURES[message](model.mixture_))
    refused(model, path, message, monkeypatch)


def test_a_model_without_the_mixture_that_it_names_is_refused(path, monkeypatch):
    model = mixed()
    model.mixture_ = None
    refused(model, path, "mixture that kernel_ names", monkeypatch)


@pytest.mark.parametrize("name", ["link_power_", "link_floor_"])
@pytest.mark.parametrize("value", [None, "2", -1.0, 0.0, np.nan, np.inf])
def test_a_link_is_two_positive_numbers(name, value, path, monkeypatch):
    model = mixed()
    setattr(model, name, value)
    refused(model, path, "two positive numbers", monkeypatch)


MOSAICS = {
    "no cells": lambda m: m.__dict__.pop("cell_centers_"),
    "no landmarks": lambda m: m.__dict__.pop("landmark_vectors_"),
    "no coefficients": lambda m: m.__dict__.pop("landmark_coef_"),
    "cells": lambda m: setattr(m, "cell_centers_", m.cell_centers_[1:]),
    "features": lambda m: setattr(m, "landmark_vectors_", m.landmark_vectors_[:, 1:].copy()),
    "landmarks": lambda m: setattr(m, "landmark_vectors_", m.landmark_vectors_[1:]),
    "not finite": lambda m: m.landmark_coef_.__setitem__((0, 0, 0), np.inf),
}


@pytest.mark.parametrize("kind", MOSAICS)
def test_a_mosaic_with_a_missing_or_wrong_part_is_refused(kind, path, monkeypatch):
    model = fitted("mosaic", "three")
    MOSAICS[kind](model)
    assert_neither_saved_nor_loaded(model, path, monkeypatch)


@pytest.mark.parametrize("kind", ["short", "integers", "no groups"])
def test_groups_without_their_thresholds(kind, path, monkeypatch):
    option = RejectOptionClassifier(LinearBayesPointClassifier(), max_error=0.9, groups=0)
    rows = np.arange(200)
    option.fit(np.c_[rows % 2, rows], rows % 2)
    if kind == "no groups":
        option.groups_ = None  # the thresholds belong to nothing
    else:
        thresholds = option.group_thresholds_
        option.group_thresholds_ = thresholds[:-1] if kind == "short" else np.zeros(2, dtype=int)
    assert_neither_saved_nor_loaded(option, path, monkeypatch)


KNOWN_POINTS = {
    "place": lambda k: k["places"].__setitem__(0, 10**6),
    "negative place": lambda k: k["places"].__setitem__(0, -1),
    "class": lambda k: k["target"].__setitem__(0, 3),
    "weight": lambda k: k.update(weight=np.zeros(len(k["target"]))),
    "short": lambda k: k.update(target=k["target"][:-1].copy()),
    "vectors": lambda k: k.update(places=None, vectors=np.zeros((len(k["target"]), 1))),
    "both": lambda k: k.update(vectors=np.zeros((len(k["target"]), X3.shape[1]))),
    "missing": lambda k: k.pop("places"),
}


@pytest.mark.parametrize("kind", KNOWN_POINTS)
def test_known_points_that_are_not_there(kind, path, monkeypatch):
    model = BayesPointClassifier("rbf", gamma=0.1, softness=0.1, solver="regression").fit(X3, y3)
    KNOWN_POINTS[kind](model._known_points)
    assert_neither_saved_nor_loaded(model, path, monkeypatch)


KNOWN_ROWS = {
    "totals": lambda k: k["totals"].__setitem__(0, -1.0),
    "sums": lambda k: k.update(sums=k["sums"][:, :-1].copy()),
    "squares": lambda k: k.update(squares=k["squares"][:-1].copy()),
    "center": lambda k: k.update(center=k["center"][:-1].copy()),
    "levels": lambda k: k.update(levels=k["levels"][::-1].copy()),
    "shares": lambda k: k["shares"].__setitem__(-1, 1.5),
    "nothing": lambda k: k.update(levels=np.empty(0), shares=np.empty(0)),
}


@pytest.mark.parametrize("kind", KNOWN_ROWS)
def test_known_rows_of_a_linear_machine(kind, path, monkeypatch):
    model = LinearBayesPointClassifier().fit(X3, y3)
    KNOWN_ROWS[kind](model._known_rows)
    assert_neither_saved_nor_loaded(model, path, monkeypatch)
