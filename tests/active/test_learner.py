"""A model that follows the answers is the model of a new fit."""

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

from bayespoint import BayesPointClassifier
from bayespoint.active import learner as module
from bayespoint.active.learner import Learner, learns_rows


@pytest.fixture
def followed(blobs):
    X, y = blobs
    learner = Learner(BayesPointClassifier(gamma=0.1, softness=0.5, random_state=0), X)
    learner.update(list(range(20)), y[:20].tolist())
    return learner


def test_rows_come_and_go_as_in_a_new_fit(followed, blobs):
    X, y = blobs
    y = y.copy()
    y[3] = "a" if y[3] != "a" else "b"  # a correction
    rows = [*range(1, 20), 30, 31]  # row 0 was taken back, two are new
    followed.update(rows, y[rows].tolist())
    order = list(followed._learned)
    assert sorted(order) == rows
    assert followed.model._learned.y.tolist() == y[order].tolist()
    np.testing.assert_array_equal(followed.model._learned.points, followed.model.support_vectors_)
    np.testing.assert_allclose(followed.scores(), followed.model.predict_proba(X), atol=1e-9)


def test_a_large_pool_is_not_kept(followed, blobs, monkeypatch):
    kept = followed.scores()
    monkeypatch.setattr(module, "MAX_POOL_ENTRIES", 10)
    followed._scores = None
    followed._pool = None  # it must not be used
    np.testing.assert_allclose(followed.scores(), kept, atol=1e-9)


def test_beyond_the_rows_that_can_be_added_there_is_a_new_fit(followed, blobs, monkeypatch):
    monkeypatch.setattr(module, "MAX_LEARNED_ROWS", 21)
    assert learns_rows(followed.model, 21)
    before = followed.model
    followed.update(list(range(30)), blobs[1][:30].tolist())
    assert followed.model is not before
    assert len(followed._learned) == 30


def test_other_classifiers_are_trained_again_after_some_growth(blobs):
    X, y = blobs
    learner = Learner(GaussianNB(), X)
    learner.update(list(range(40)), y[:40].tolist())
    first = learner.model
    learner.update(list(range(42)), y[:42].tolist())
    assert learner.model is first
    learner.update(list(range(43)), y[:43].tolist())
    np.testing.assert_array_equal(
        learner.scores(), GaussianNB().fit(X[:43], y[:43]).predict_proba(X)
    )


def test_a_new_class_and_rows_left_out(blobs):
    X, y = blobs
    rows = np.flatnonzero(y != "c")[:12].tolist()
    learner = Learner(BayesPointClassifier(random_state=0), X)
    learner.update(rows, y[rows].tolist())
    assert learner.model.classes_.tolist() == ["a", "b"]
    rows.append(int(np.flatnonzero(y == "c")[0]))
    learner.update(rows, y[rows].tolist())
    assert learner.model.classes_.tolist() == ["a", "b", "c"]
    found = learner.left_out()
    assert found is not None
    assert found[0] == rows
    position = np.searchsorted(learner.model.classes_, y[rows])
    np.testing.assert_array_equal(
        found[1], learner.model.loo_proba_[np.arange(len(rows)), position]
    )
