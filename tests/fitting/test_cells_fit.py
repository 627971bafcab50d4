"""Training in cells: agreement with EP, sizes of cells, rare classes."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

from bayespoint.geometry.gram import soften
from bayespoint.solvers import EP, Cells
from bayespoint.solvers.cells import MAX_CELL_RATIO, cell_centers, nearest
from bayespoint.solvers.propagation.on_gram import propagate
from bayespoint.solvers.propagation.sites import copies_of
from many_points import classifier, noisy


def test_cells_are_ep_with_a_kernel_that_is_zero_between_them(moons):
    X, y = moons
    model = classifier(solver=Cells(50, tol=1e-9)).fit(X, y)
    cell = nearest(X, model.cell_centers_)
    assert len(np.unique(cell)) > 4
    unit = (rbf_kernel(X, gamma=1.0) + 1) / 2 * (cell[:, None] == cell)
    twin = propagate(soften(unit, 0.3), np.where(y == 1, 1, -1), tol=1e-9)
    assert model.log_evidence_ == pytest.approx(twin.log_evidence, abs=1e-6)
    logs = np.log(model.loo_proba_[np.arange(len(y)), y])
    np.testing.assert_allclose(logs, twin.log_loo, atol=1e-6)
    # Without the borders the model is different, by far more than the tolerance of the twin.
    whole = propagate(soften((rbf_kernel(X, gamma=1.0) + 1) / 2, 0.3), np.where(y == 1, 1, -1))
    assert abs(whole.log_evidence - twin.log_evidence) > 0.01


def test_one_cell_is_ep(three):
    X, y = three
    ours, exact = (classifier(solver=s).fit(X, y) for s in (Cells(1000, tol=1e-6), EP(tol=1e-6)))
    new = np.random.default_rng(1).normal(0, 2, (50, 2))
    np.testing.assert_allclose(ours.predict_proba(new), exact.predict_proba(new), atol=1e-9)


@pytest.mark.parametrize("data", [noisy(2000)[0], np.ones((500, 2)), np.eye(300)], ids=len)
def test_cells_are_neither_large_nor_empty(data):
    solver = Cells(50)
    size = np.bincount(nearest(data, cell_centers(data, solver.n_points)))
    assert size.min() > 0
    distinct = len(np.unique(data, axis=0))
    if distinct > 300:
        assert size.max() <= MAX_CELL_RATIO * 50


def test_points_that_cannot_be_divided_are_represented_by_some():
    # K-means cannot tell these points apart, but they are not equal.
    X, y = 1 + 1e-15 * np.arange(1000).reshape(500, 2), (np.arange(500) % 5 == 0).astype(int)
    model = classifier(solver=Cells(50)).fit(X, y)
    assert len(model.support_) == MAX_CELL_RATIO * 50
    assert np.all(np.diff(model.support_) > 0)
    assert np.isnan(model.loo_proba_[np.setdiff1d(np.arange(500), model.support_)]).all()


def test_cells_take_label_noise(moons):
    model = classifier(solver=Cells(50), label_noise=0.1).fit(*moons)
    assert model.predict_proba(moons[0]).min() >= 0.1 - 1e-12


def test_cells_need_features(moons):
    with pytest.raises(ValueError, match=r"precomputed.*nystroem"):
        classifier(kernel="precomputed", solver="cells").fit(rbf_kernel(moons[0]), moons[1])


def test_other_solvers_have_no_cells(moons):
    model = classifier(solver=Cells(50)).fit(*moons)
    assert hasattr(model, "cell_centers_")
    model.set_params(solver="ep").fit(*moons)
    assert not hasattr(model, "cell_centers_")


def test_a_class_that_is_in_one_cell_only():
    X, y = noisy(400)
    y = y.copy()
    y[np.argmax(X[:, 1])] = 2
    model = classifier(solver=Cells(50)).fit(X, y)
    assert np.isfinite(model.predict_proba(X)).all()


def test_cells_take_weights(moons):
    X, y = moons
    weight = np.random.default_rng(0).uniform(0.3, 3.0, len(y))
    model = classifier(solver=Cells(50, tol=1e-9)).fit(X, y, weight)
    cell = nearest(X, model.cell_centers_)
    unit = (rbf_kernel(X, gamma=1.0) + 1) / 2 * (cell[:, None] == cell)
    twin = propagate(
        soften(unit, 0.3, weight),
        np.where(y == 1, 1, -1),
        copies=copies_of(weight, 0.3 / 1.3),
        tol=1e-9,
    )
    assert model.log_evidence_ == pytest.approx(twin.log_evidence, abs=1e-6)
    logs = np.log(model.loo_proba_[np.arange(len(y)), y])
    np.testing.assert_allclose(logs, twin.log_loo, atol=1e-6)
