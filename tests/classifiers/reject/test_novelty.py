"""Rows that are refused because they are unlike the training rows."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_moons
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bayespoint import (
    BayesPointClassifier,
    LinearBayesPointClassifier,
    RejectOptionClassifier,
    to_onnx,
)
from bayespoint.classifiers.reject.novelty import novelty_of
from bayespoint.evaluation import evaluate
from model_file_helpers import round_trip

X, y = make_moons(500, noise=0.15, random_state=0)
KERNEL = BayesPointClassifier("rbf", gamma=1.0, softness=0.1, solver="regression", random_state=0)
FAR = np.array([[9.0, 9.0]])


def fitted(**given):
    return RejectOptionClassifier(KERNEL, random_state=0, **given).fit(X, y)


@pytest.fixture(scope="module")
def option():
    return fitted(max_error=0.1, max_novelty=0.9)


def test_certain_but_novel_rows_are_refused(option):
    assert option.confidence(X[:1]) > option.threshold_
    found = option.novelty(X)
    expected = (option.confidence(X) >= option.threshold_) & (found <= 0.9)
    assert np.array_equal(option.accept(X), expected)
    assert np.array_equal(option.predict(X) == -1, ~expected)
    assert not option.accept(FAR)[0]
    assert option.predict(FAR)[0] == -1
    only = option.at()  # of all confidences, and still without novel rows
    assert np.array_equal(only.accept(X), found <= 0.9)
    assert np.array_equal(only.predict(X) == -1, found > 0.9)


def test_held_out_rows_are_refused_alike(option):
    familiar = option.calibration_novelty_ <= 0.9
    accepted = familiar & (option.calibration_confidence_ >= option.threshold_)
    assert 0 < np.count_nonzero(~familiar) < len(familiar)
    assert option.coverage_ == accepted.mean()
    everything = option.at(max_error=0.1, max_novelty=1)
    assert everything.threshold_ == fitted(max_error=0.1).threshold_
    assert everything.accept(FAR)[0] == (everything.confidence(FAR)[0] >= everything.threshold_)


def test_the_evaluation_counts_the_same_rows(option):
    promise = evaluate(option, X, y).promise
    accepted = option.accept(X)
    wrong = option.predict(X)[accepted] != y[accepted]
    assert (promise.error.number, promise.error.total) == (wrong.sum(), accepted.sum())
    assert evaluate(option.at(max_novelty=1), X, y).promise is None
    assert evaluate(option.at(), X, y).promise is not None


def test_promise_is_kept():
    """In draws with a tenth of novel, unpredictable rows; broken in at most 5 % of them."""
    rng, n_broken, n_draws = np.random.default_rng(0), 0, 20
    frozen = FrozenEstimator(KERNEL.fit(X, y))
    test_X, test_y = make_moons(4000, noise=0.15, random_state=1)
    for _ in range(n_draws):
        rows = rng.integers(2000, size=270)
        far = rng.uniform(3, 5, (30, 2))
        held_out = np.vstack([test_X[rows], far])
        labels = np.append(test_y[rows], rng.integers(2, size=30))
        option = RejectOptionClassifier(frozen, max_error=0.05, max_novelty=0.98)
        option.fit(held_out, labels)
        accepted = option.accept(test_X[2000:])
        assert not option.accept(far).any()
        error = np.mean(frozen.predict(test_X[2000:])[accepted] != test_y[2000:][accepted])
        n_broken += accepted.any() and error > 0.05
    # One of 20 draws is expected at most; five or more have a probability below 0.3 %.
    assert n_broken <= 4


def test_folds_judge_their_own_rows():
    option = RejectOptionClassifier(KERNEL, max_novelty=0.9, cv=3).fit(X[:90], y[:90])
    folds = StratifiedKFold(3).split(X[:90], y[:90])
    expected = [clone(KERNEL).fit(X[a], y[a]).novelty(X[b]) for a, b in folds]
    assert np.allclose(option.calibration_novelty_, np.concatenate(expected), rtol=0, atol=1e-9)


def test_pipelines_searches_and_other_classifiers():
    linear = LinearBayesPointClassifier()
    pipeline = make_pipeline(StandardScaler(), "passthrough", linear).fit(X, y)
    found = novelty_of(pipeline, X)
    assert np.array_equal(found, pipeline[-1].novelty(pipeline[0].transform(X)))
    assert np.array_equal(novelty_of(FrozenEstimator(pipeline), X), found)
    search = GridSearchCV(linear, {"tol": [0.05]}, cv=2).fit(X, y)
    assert np.array_equal(novelty_of(search, X), search.best_estimator_.novelty(X))
    with pytest.raises(TypeError, match="LogisticRegression"):
        RejectOptionClassifier(LogisticRegression(), max_novelty=0.9).fit(X, y)


def test_without_calibration_and_in_files_and_onnx(option, tmp_path):
    with pytest.raises(ValueError, match="Fit it with max_novelty"):
        fitted(max_error=0.1).at(max_novelty=0.9)
    again = round_trip(option, tmp_path / "model")
    assert np.array_equal(again.accept(X), option.accept(X))
    pytest.importorskip("onnx")
    with pytest.raises(NotImplementedError, match="max_novelty=1"):
        to_onnx(option)
    assert to_onnx(option.at(max_error=0.1, max_novelty=1)) is not None
