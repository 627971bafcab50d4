import numpy as np
import pytest

from bayespoint.evaluation.diagnostics import correlation_length, sampling_bound
from bayespoint.geometry.gram import unit_gram
from bayespoint.geometry.version_space import VersionSpace
from bayespoint.solvers import Billiard
from helpers import orthant_space, rbf_space, teacher_space


def test_sampling_bound_is_hoeffdings():
    # 002, eq. 18.13: m (b - a)^2 / (2 epsilon^2) ln(2 m / eta).
    expected = 50 * 4 / (2 * 0.1**2) * np.log(2 * 50 / 0.05)
    assert sampling_bound(0.1, 50) == np.ceil(expected)
    assert sampling_bound(0.05, 50) == pytest.approx(4 * expected, rel=1e-3)
    assert sampling_bound(0.1, 50, correlation_length=3) == pytest.approx(3 * expected, rel=1e-3)


def test_sampling_bound_holds():
    rng = np.random.default_rng(0)
    distance, n = 0.3, 3
    k = sampling_bound(distance, n, confidence=0.9)
    failures = 0
    for _ in range(200):
        w = rng.standard_normal((k, n))
        w /= np.linalg.norm(w, axis=1, keepdims=True)
        failures += np.linalg.norm(w.mean(axis=0)) > distance
    assert failures / 200 <= 0.1


@pytest.mark.parametrize(
    "arguments", [{"distance": 0}, {"confidence": 1}, {"n_dimensions": 0}, {"low": 1, "high": 0}]
)
def test_sampling_bound_refuses_nonsense(arguments):
    with pytest.raises(ValueError, match="sampling_bound needs"):
        sampling_bound(**{"distance": 0.1, "n_dimensions": 3, **arguments})


def test_correlation_length_grows_as_neighbors_get_closer():
    space = rbf_space(30, 0.1)
    lengths = [
        correlation_length(space, np.random.default_rng(0), displacement=displacement)
        for displacement in [1e-1, 1e-2, 1e-3]
    ]
    # Walls are flat, so the length is about inversely proportional to the displacement.
    assert lengths[0] < lengths[1] < lengths[2]
    assert 2 < lengths[2] / lengths[1] < 50


def test_correlation_length_gives_up():
    space = orthant_space(3)
    same = correlation_length(
        space, np.random.default_rng(0), displacement=0.0, n_pairs=2, max_bounces=20
    )
    assert same == 20
    line = VersionSpace(unit_gram(np.ones((2, 2)), 0.0), np.ones(2))
    assert correlation_length(line, np.random.default_rng(0), max_bounces=7) == 7


def test_margin_support_vectors_are_among_the_walls_hit():
    # 002: MMSV is a subset of BSV. The largest inscribed ball touches only facets, and a point
    # that bounds nothing is never hit.
    space = teacher_space(30, 3, seed=4)
    posterior = Billiard(tol=0.01).solve(space, np.random.default_rng(0))
    hit = posterior.info["hits"] > 0
    best = _largest_margin(space)
    support = np.flatnonzero(space.margins(best) < space.margins(best).min() + 1e-6)
    assert len(support) >= 2
    assert hit[support].all()
    assert not hit.all()


def _largest_margin(space):
    from sklearn.svm import SVC

    z = space.walls
    svc = SVC(kernel="linear", C=1e9, tol=1e-10)
    svc.fit(np.vstack([z, -z]), np.repeat([1, 0], len(z)))
    return svc.coef_[0] / np.linalg.norm(svc.coef_)
