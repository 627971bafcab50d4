import numpy as np
import pytest

from bayespoint.distributed import feature_portion as tasks
from bayespoint.distributed.feature_portion import FeaturePortion, Span, Sweep
from bayespoint.distributed.row_parts import Part
from bayespoint.fitting.landmarks_fit import span_of
from bayespoint.fitting.task import Task
from bayespoint.geometry.kernels import Kernel
from bayespoint.solvers.propagation.on_features import prior, propagate

KERNEL = Kernel("rbf", gamma=0.3)


@pytest.fixture(autouse=True)
def _without_a_worker(monkeypatch):
    monkeypatch.setattr(tasks, "here", lambda: "")


@pytest.fixture
def part(data):
    X, y = data
    return Part(X, y, np.ones(200), np.where(X[:, 0] > 0, 2.0, 1.0), np.arange(200))


def span(part, n_bytes=2**30, single=False):
    nothing = np.empty((1, 0))
    task = Task(part.X, nothing, nothing, KERNEL, None, 0.1, np.random.default_rng(0))
    landmarks = span_of(task, np.arange(20), 1e-5 if single else 0.0)
    points = part.X[landmarks.rows]
    return Span(KERNEL, points, landmarks, single, 0.1, True, 2, 200, n_bytes)


@pytest.mark.parametrize("single", [False, True])
def test_features_that_do_not_fit_are_computed_anew(part, single):
    stored, lazy = (FeaturePortion(part, span(part, n, single)) for n in (2**30, 10))
    assert isinstance(stored.features, np.ndarray)
    assert isinstance(lazy.features, tasks.LazyFeatures)
    work = Sweep(0, prior(stored.features.shape[1]), 1.0)
    for one, two in zip(stored.sweep(work), lazy.sweep(work), strict=True):
        np.testing.assert_array_equal(one, two)


def test_features_that_do_not_fit_are_never_held_together(part, monkeypatch):
    monkeypatch.setattr(tasks, "FEATURE_ROWS_PER_BLOCK", 8)
    events, compute, noise_of = [], tasks.LazyFeatures.__getitem__, tasks.noise_of
    monkeypatch.setattr(
        tasks.LazyFeatures, "__getitem__", lambda *g: events.append("features") or compute(*g)
    )
    monkeypatch.setattr(tasks, "noise_of", lambda *g: events.append("noise") or noise_of(*g))
    FeaturePortion(part, span(part, 10))
    assert events == ["features", "noise"] * (200 // 8)


def test_dask_knows_the_size_of_a_portion(part):
    sizeof = pytest.importorskip("dask.sizeof").sizeof
    stored, lazy = (FeaturePortion(part, span(part, n)) for n in (2**30, 10))
    assert sizeof(stored) - sizeof(lazy) == stored.features.nbytes - part.X.nbytes
    before = sizeof(lazy)
    lazy.sweep(Sweep(0, prior(lazy.features.shape[1]), 1.0))
    assert sizeof(lazy) - before == 5 * 8 * 200  # sites and cavities


def test_sweeps_of_portions_are_those_of_all_points(part):
    given = span(part)
    whole = FeaturePortion(part, given)
    parts = [FeaturePortion(part.take(slice(*cut)), given) for cut in ((0, 90), (90, 200))]
    work = Sweep(0, prior(len(given.landmarks.rows)), 1.0)
    expected, found = whole.sweep(work), [p.sweep(work) for p in parts]
    precision = found[0].precision + found[1].precision
    np.testing.assert_allclose(precision, expected.precision, rtol=1e-10, atol=1e-10)
    signs = np.where(part.target == 1, 1, -1)
    alone = propagate(
        whole.features, signs, whole.noise, weight=part.likelihood, max_iter=1, tol=0.0
    )
    np.testing.assert_array_equal(whole.loo_mean[:, 0], alone.cavity_mean)


def test_a_portion_that_was_lost_repeats_its_sweeps(part):
    given = span(part)
    known, fresh = FeaturePortion(part, given), FeaturePortion(part, given)
    r = len(given.landmarks.rows)
    beliefs = [prior(r), prior(r)._replace(mean=np.full(r, 0.1))]
    history = [Sweep(0, belief, 0.9) for belief in beliefs]
    for i, work in enumerate(history):
        expected = tasks.sweep(known, i, work).value
    left_out = known.loo_variance.copy()
    assert tasks.sweep(fresh, 1, history[1]).value is None
    assert tasks.count_variances(fresh, 2, 0, np.zeros((2, 1), np.uint64)).value is None
    assert tasks.likelihood_at(fresh, 2, 1.0, 200.0).value is None
    for portion in (fresh, known):  # in any state
        assert tasks.forget(portion).value
        for i, work in enumerate(history):
            found = tasks.sweep(portion, i, work).value
        np.testing.assert_array_equal(found.precision, expected.precision)
        np.testing.assert_array_equal(portion.loo_variance, left_out)
