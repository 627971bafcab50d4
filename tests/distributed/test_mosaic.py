"""A mosaic on a cluster is that of one machine."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_classification

from bayespoint import BayesPointClassifier, solvers
from bayespoint.distributed import cells, fit
from bayespoint.distributed import mosaic as tasks
from bayespoint.fitting import automatic_kernel, mosaic_fit, solver_choice
from cluster_helpers import OneProcess, assert_same_machine, chunks, delayed_parts, kill_a_worker

FIXED = {"kernel": "rbf", "gamma": 0.3, "softness": 0.2, "random_state": 0}
AUTO = {"kernel": "auto", "gamma": "auto", "softness": "auto"}


def machine(**parameters):
    return BayesPointClassifier(**{"solver": solvers.Mosaic(30, 20), **FIXED, **parameters})


def assert_same_mosaic(model, other, X, limit=1e-9):
    assert_same_machine(model, other, limit)
    np.testing.assert_array_equal(model.landmarks_, other.landmarks_)
    points = [m.landmark_vectors_ for m in (model, other)]
    np.testing.assert_allclose(*(p.toarray() if hasattr(p, "toarray") else p for p in points))
    for name in ("landmark_coef_", "cell_centers_", "chain_coef_"):
        found, expected = getattr(model, name), getattr(other, name)
        np.testing.assert_allclose(found, expected, rtol=limit, atol=limit, err_msg=name)
    assert (model.link_power_, model.link_floor_) == (other.link_power_, other.link_floor_)
    assert (model.kernel_, model._single) == (other.kernel_, other._single)
    np.testing.assert_allclose(model.predict_proba(X), other.predict_proba(X), atol=limit)


def made(n_classes):
    X, y = make_classification(
        200, 4, n_informative=4, n_redundant=0, n_classes=n_classes, flip_y=0.1, random_state=0
    )
    return np.vstack([X, X[:9]]), np.r_[y, y[:9]]  # with equal rows


@pytest.fixture
def three_classes():
    return made(3)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("parameters", [{}, {"softness": "auto"}, AUTO], ids=str)
def test_the_answer_of_one_machine(parameters, n_classes):
    X, y = made(n_classes)
    alone = machine(**parameters).fit(X, y)
    assert len(alone.cell_centers_) > 3
    model = fit(machine(**parameters), *chunks(X, y), client=OneProcess())
    assert_same_mosaic(model, alone, X)
    assert not hasattr(model, "loo_proba_")
    # Another seed has other landmarks, and is another machine.
    other = machine(**parameters, random_state=1).fit(X, y)
    assert np.abs(other.predict_proba(X) - alone.predict_proba(X)).max() > 1e-6


@pytest.mark.parametrize("parameters", [{}, AUTO], ids=str)
def test_single_precision(three_classes, parameters, monkeypatch):
    """Cells are the same in every bit. Sums in double precision hide the order of cells."""
    for module in (tasks, mosaic_fit):
        monkeypatch.setattr(module, "MAX_COPIED_POINTS", 1)
    X, y = three_classes
    alone = machine(**parameters).fit(X, y)
    assert alone._single
    model = fit(machine(**parameters), *chunks(X, y), client=OneProcess())
    # Where rounding to single precision goes the other way, 6e-8 relative; promised are 1e-6.
    assert_same_mosaic(model, alone, X, 1e-6)


def test_single_precision_that_fails(three_classes, monkeypatch):
    """Then cells are solved again, in double precision, with the same random numbers."""
    X, y = three_classes
    alone = machine().fit(X, y)
    singles, condense = [], tasks.condense

    def failing(patch, *given):
        singles.append(patch.features.dtype == np.float32)
        if singles[-1]:
            raise np.linalg.LinAlgError("not positive definite")
        return condense(patch, *given)

    monkeypatch.setattr(tasks, "condense", failing)
    monkeypatch.setattr(tasks, "_rounding_is_small", lambda *_: True)
    model = fit(machine(), *chunks(X, y), client=OneProcess())
    assert any(singles)
    assert_same_mosaic(model, alone, X)


def test_default_arguments(three_classes, monkeypatch):
    monkeypatch.setattr(automatic_kernel, "MAX_EXACT_POINTS", 50)
    for module in (automatic_kernel, solver_choice):
        monkeypatch.setattr(module, "MAX_EP_POINTS", 50)
    monkeypatch.setattr(automatic_kernel, "mosaic_sizes", lambda *shape: [(30, 20)])
    X, y = three_classes
    alone = BayesPointClassifier(random_state=0).fit(X, y)
    assert len(alone.cell_centers_) > 3
    model = fit(BayesPointClassifier(random_state=0), *chunks(X, y), client=OneProcess())
    assert_same_mosaic(model, alone, X)


def test_weights(three_classes):
    X, y = three_classes
    weight = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    alone = machine(class_weight="balanced").fit(X, y, sample_weight=weight)
    model = fit(machine(class_weight="balanced"), *chunks(X, y), weight, client=OneProcess())
    assert_same_mosaic(model, alone, X)
    assert np.abs(machine().fit(X, y).predict_proba(X) - alone.predict_proba(X)).max() > 1e-3


def test_sparse_points_and_points_at_the_origin(three_classes):
    X, y = three_classes
    X = np.where(np.abs(X) < 1, 0.0, X)
    given, at_origin = {"kernel": "linear", "fit_intercept": False}, ~X.any(axis=1)
    whole, parts = sparse.csr_array(X), [sparse.csr_array(X[:90]), sparse.csr_array(X[90:])]
    with pytest.warns(UserWarning, match="lie at the origin"):
        alone = machine(**given).fit(whole, y)
    assert not at_origin[alone.support_].any()
    parts = delayed_parts(parts), delayed_parts([y[:90], y[90:]])
    with pytest.warns(UserWarning, match="lie at the origin"):
        model = fit(machine(**given), *parts, client=OneProcess())
    assert_same_mosaic(model, alone, whole)


def test_cells_that_are_too_large_are_sampled():
    # Points that are nearly equal cannot be divided. Some landmarks are not in the sample.
    rng = np.random.default_rng(0)
    near = np.tile(rng.standard_normal(2), (300, 1)) * (1 + 1e-13 * rng.random((300, 1)))
    X = np.vstack([near, rng.standard_normal((60, 2)) * 10])
    y = rng.integers(0, 2, len(X))
    with pytest.warns(UserWarning, match="training points are left out"):
        alone = machine(random_state=1).fit(X, y)
    assert not np.isin(alone.landmarks_, alone.support_).all()
    with pytest.warns(UserWarning, match="training points are left out"):
        model = fit(machine(random_state=1), *chunks(X, y), client=OneProcess())
    assert_same_mosaic(model, alone, X)


def test_more_points_than_are_clustered(three_classes, monkeypatch):
    for module in (cells, mosaic_fit):
        monkeypatch.setattr(module, "MAX_CLUSTERED_POINTS", 50)
    X, y = three_classes
    alone = machine().fit(X, y)
    assert_same_mosaic(fit(machine(), *chunks(X, y), client=OneProcess()), alone, X)


def test_cells_that_are_not_kept_are_computed_again(three_classes, monkeypatch):
    X, y = three_classes
    alone, condense, n_condensed = machine().fit(X, y), tasks.condense, []
    monkeypatch.setattr(tasks, "condense", lambda *g: n_condensed.append(1) or condense(*g))
    n_cells = len(alone.cell_centers_)
    for n_held, n_expected in ((n_cells, n_cells), (0, 2 * n_cells)):
        n_condensed.clear()
        monkeypatch.setattr(tasks, "n_held_in", lambda *_, n=n_held: n)
        model = fit(machine(), *chunks(X, y), client=OneProcess())
        assert_same_mosaic(model, alone, X)
        assert len(n_condensed) == n_expected


def test_all_workers_are_lost_at_any_time(three_classes):
    X, y = three_classes
    alone, n_lost = machine().fit(X, y), 0
    for doomed in (tasks.condense_cells, tasks._add, tasks._solve, tasks.finish_cells):
        for moment in (1, 2, 5):
            cluster, left = OneProcess(), moment

            def lose(task, cluster=cluster, doomed=doomed):
                nonlocal left, n_lost
                left -= task is doomed
                if task is doomed and left == 0:
                    cluster.lose()
                    n_lost += 1

            cluster.before_task = lose
            assert_same_mosaic(fit(machine(), *chunks(X, y), client=cluster), alone, X)
    assert n_lost >= 7  # there is one `_solve`, and few `_add`


@pytest.mark.slow
def test_a_killed_worker_changes_nothing(doomed_client, three_classes, monkeypatch):
    X, y = three_classes
    add_up, killed = tasks.MosaicFit._add_up, []

    def deadly(self, sums):
        kill_a_worker(doomed_client)
        killed.append(True)
        return add_up(self, sums)

    monkeypatch.setattr(tasks.MosaicFit, "_add_up", deadly)
    model = fit(machine(), *chunks(X, y))
    assert killed
    assert_same_mosaic(model, machine().fit(X, y), X)


def test_memory_of_a_worker(three_classes):
    with pytest.raises(ValueError, match=r"30 landmarks and cells of up to \d+ points need"):
        fit(machine(cache_size=0.1), *chunks(*three_classes), client=OneProcess())
