"""Scales of columns: their gradient, when they are learned, and when they are not."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from bayespoint import BayesPointClassifier
from bayespoint.fitting import relevance
from bayespoint.fitting.mixture_search import MixtureSearch
from bayespoint.fitting.relevance import HalfScore, learn_scales
from bayespoint.geometry.mixture import fit_views, term_names


def table(n=120, n_noise=6, seed=0):
    """Return points of which two columns, numbers and codes, decide the class."""
    rng = np.random.default_rng(seed)
    X = np.column_stack(
        [rng.normal(size=n), rng.integers(3, size=n), rng.normal(size=(n, n_noise))]
    )
    target = ((X[:, 0] > 0) ^ (X[:, 1] == 1)).astype(int)
    return X, target


def fitted(X, target):
    views = fit_views(X)
    looked = views.look(term_names(views), X)
    search = MixtureSearch(looked, target, np.ones(len(X)), views, True)
    return search.fitted(search.prior[:, 0])


def half(X, target, groups=None):
    groups = np.arange(X.shape[1]) if groups is None else groups
    return HalfScore(X, target, np.ones(len(X)), 2, groups, fitted(X, target))


@pytest.mark.parametrize("groups", [np.arange(8), np.array([0, 1, 2, 2, 2, 3, 3, 4])])
def test_the_gradient_is_that_of_differences(groups):
    X, target = table(n=60)
    score = half(X, target, groups)
    rng = np.random.default_rng(1)
    logs = rng.normal(scale=0.3, size=groups.max() + 1)
    slope = score.evaluate(logs)[1]
    step = 1e-2
    moves = step * np.eye(len(logs))
    numeric = [(score.value(logs + m) - score.value(logs - m)) / (2 * step) for m in moves]
    # Single precision, 1e-7 of a score of about 50, over a step of 0.01; and the step squared.
    np.testing.assert_allclose(slope, numeric, atol=0.02 + 1e-3 * np.abs(slope).max())


def test_scales_act_as_in_the_mixture():
    X, target = table(n=60)
    score = half(X, target)
    logs = np.random.default_rng(1).normal(scale=0.5, size=8)
    _, parts, _ = score._kernel(np.exp(logs))
    mixture = score.fitted.mixture
    scaled = replace(mixture, views=replace(mixture.views, scales=np.exp(logs)))
    above = np.triu_indices(60, 1)
    np.testing.assert_allclose(sum(parts), scaled.matrix(X, X)[above], rtol=1e-4)


def test_columns_that_decide_get_larger_scales():
    X, y = table(n=300)
    found = BayesPointClassifier(random_state=0).fit(X, y).relevance_
    assert found[:2].min() > 1.5 * found[2:].max()
    assert found.mean() == pytest.approx(1, rel=0.01)


@pytest.mark.parametrize("seed", range(5))
def test_labels_at_random_teach_nothing(seed):
    X, _ = table(seed=seed)
    y = np.random.default_rng(100 + seed).integers(2, size=len(X))
    model = BayesPointClassifier(random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.relevance_, 1.0)


def test_scales_without_a_judge_learn_by_heart():
    """The half that scales were learned on believes in them even if labels are random."""
    X, _ = table(n_noise=30)
    target = np.random.default_rng(0).integers(2, size=len(X))
    score = half(X, target)
    logs = score.climb()
    assert score.unscaled == score.value(np.zeros_like(logs))
    assert score.value(logs) > score.value(np.zeros(len(logs))) + 3


def test_features_of_one_column_share_their_scale():
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    color = rng.choice(["red", "green", "blue"], 250)
    frame = pandas.DataFrame({"noise": rng.normal(size=250), "color": color})
    model = BayesPointClassifier(random_state=0).fit(frame, color == "red")
    scales = model.mixture_.views.scales
    assert len(model.relevance_) == 2
    assert len(scales) == 4
    assert np.ptp(scales[1:]) == 0
    assert model.relevance_[1] >= model.relevance_[0]


def test_few_rows_and_many_features_are_left_alone():
    X, target = table(n=30)
    rest = np.ones(30), np.arange(8), fitted(X, target)
    np.testing.assert_array_equal(learn_scales(X, target, *rest), 1.0)
    wide = np.random.default_rng(0).normal(size=(120, 6000))
    y = (wide[:, 0] > 0).astype(int)
    model = BayesPointClassifier(random_state=0).fit(wide, y)
    np.testing.assert_array_equal(model.relevance_, 1.0)


def test_scales_are_kept_in_files_and_graphs(tmp_path):
    pytest.importorskip("onnxruntime")
    from bayespoint import load, save
    from onnx_helpers import assert_same

    X, y = table(n=300)
    model = BayesPointClassifier(random_state=0).fit(X, y)
    assert np.ptp(model.relevance_) > 0
    save(model, tmp_path / "model.bayespoint")
    again = load(tmp_path / "model.bayespoint")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert_same(model, X + 0.01)


def test_halves_of_neighbors_are_dense_and_have_no_point_in_common(rng):
    X = rng.standard_normal((3000, 4))
    first, second = relevance._neighbors(X, 250, 1)
    assert len(first) == len(second) == 250
    assert not np.intersect1d(first, second).size
    assert np.all(np.diff(first) > 0)
    random = rng.choice(3000, 250, replace=False)
    nearest = [np.sort(cdist(X[rows], X[rows]), axis=1)[:, 1].mean() for rows in (first, random)]
    assert nearest[0] < 0.7 * nearest[1]


def test_halves_grow_with_the_table_within_limits():
    low, high = relevance.HALF_POINTS
    assert relevance._half_points(100, 4) == low
    assert relevance._half_points(2000, 4) == 250
    assert relevance._half_points(10**6, 4) == high
    assert relevance._half_points(1000, 800) ** 2 * 800 <= relevance.DIFFERENCES[0]
    assert relevance._half_points(10**6, 800) ** 2 * 800 <= relevance.DIFFERENCES[1]
