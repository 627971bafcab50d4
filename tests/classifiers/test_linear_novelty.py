"""Novelty of linear machines: batch, stream, merged, sparse, in files."""

import copy

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris

from bayespoint import LinearBayesPointClassifier
from bayespoint.fitting.class_moments import MAX_LEVELS
from model_file_helpers import round_trip

ORDER = np.random.default_rng(0).permutation(150)
X, y = (part[ORDER] for part in load_iris(return_X_y=True))
X = np.column_stack([X, np.full(150, 3.0)])
TRAIN, TEST = slice(0, 100), slice(100, 150)
ROUNDING = 1e-8
COVARIANCES = ["full", "factorized"]


def fitted(covariance="full", rows=TRAIN, labels=y):
    return LinearBayesPointClassifier(covariance=covariance).fit(X[rows], labels[rows])


@pytest.mark.parametrize("covariance", COVARIANCES)
def test_ranks_far_rows_files_and_sparse_rows(covariance, tmp_path):
    model = fitted(covariance)
    found = model.novelty(X[TEST])
    # As for kernel machines: ranks of 50 rows among 100.
    assert abs(found.mean() - 0.5) < 4 * np.hypot(0.041, 0.029)
    far = model.novelty(X[:1] * np.array([[1.0], [2.0], [5.0], [100.0]]))
    assert np.all(np.diff(far) > 0)
    assert far[-1] > 0.9999
    assert np.all((found >= 0) & (found <= 1))
    assert np.array_equal(round_trip(model, tmp_path / "model").novelty(X[TEST]), found)
    csr = LinearBayesPointClassifier(covariance=covariance).fit(
        sparse.csr_array(X[TRAIN]), y[TRAIN]
    )
    assert np.allclose(csr.novelty(sparse.csr_array(X[TEST])), found, rtol=0, atol=ROUNDING)
    assert len(model._known_rows["levels"]) <= MAX_LEVELS


@pytest.mark.parametrize("covariance", COVARIANCES)
def test_streams_and_merged_models_add_up(covariance):
    whole = fitted(covariance)
    stream = LinearBayesPointClassifier(covariance=covariance)
    for rows in (slice(0, 60), slice(60, 100)):
        stream.partial_fit(X[rows], y[rows])
    merged = fitted(covariance, slice(0, 60)).merge(fitted(covariance, slice(60, 100)))
    for model in (stream, merged):
        known = model._known_rows
        assert known["totals"].sum() == pytest.approx(100)
        # Levels of earlier rows are not computed again: ranks differ a little.
        assert np.abs(model.novelty(X[TEST]) - whole.novelty(X[TEST])).mean() < 0.05
    center, first = merged.center_, fitted(covariance, slice(0, 60))
    assert np.array_equal(merged._known_rows["center"], center)
    expected = (X[TRAIN] - first.center_) ** 2
    squares = merged._known_rows["squares"]
    diagonal = np.diagonal(squares) if squares.ndim == 2 else squares
    assert np.allclose(diagonal, expected.sum(axis=0))


def test_forgotten_rows_count_less():
    model = fitted()
    model.forgetting = 0.5
    model.partial_fit(X[TEST], y[TEST])
    assert model._known_rows["totals"].sum() == pytest.approx(50 + 50)


def test_constant_features_and_two_classes():
    model = fitted(labels=(y > 0).astype(int))
    moved = X[TEST] + np.array([0, 0, 0, 0, 50.0])
    assert np.allclose(model.novelty(moved), model.novelty(X[TEST]), rtol=0, atol=ROUNDING)


def test_old_models_say_what_to_do():
    old = copy.copy(fitted())
    del old._known_rows
    with pytest.raises(ValueError, match="Train it again"):
        old.novelty(X)
    old.partial_fit(X[TEST], y[TEST])  # the first rows are not known
    with pytest.raises(ValueError, match="Train it again"):
        old.novelty(X)
