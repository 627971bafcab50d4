import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from bayespoint import BayesPointClassifier
from bayespoint.geometry.gram import unit_gram
from bayespoint.geometry.version_space import VersionSpace
from bayespoint.solvers import Billiard
from bayespoint.solvers.published import (
    _first_wall,
    add_by_angle,
    chord_weights,
    random_combination,
)
from helpers import angle_between, rbf_space, teacher_space

unit_floats = st.floats(0, 1)


@given(p=st.floats(-0.99, 1), mu=unit_floats)
def test_chord_weights_do_what_they_were_derived_for(p, mu):
    # 000, eqs. 35-38, for s = (1, 0) and t = (p, sqrt(1 - p^2)).
    s, t = np.array([1.0, 0.0]), np.array([p, np.sqrt(1 - p**2)])
    rho_1, rho_2 = chord_weights(p, mu)
    both = rho_1 * s + rho_2 * t
    assert rho_1 >= 0
    assert rho_2 >= -1e-12
    np.testing.assert_allclose(np.linalg.norm(both), 1, atol=1e-7)
    np.testing.assert_allclose(np.linalg.norm(t - both), mu * np.linalg.norm(t - s), atol=1e-7)


@given(p=st.floats(-0.99, 1), n_bounces=st.integers(1, 10**6))
def test_few_bounces_cannot_bring_the_last_weight_down(p, n_bounces):
    """The last weight is smallest if all arcs are as long as the longest, at the same place."""
    weight = chord_weights(p, n_bounces / (n_bounces + 1))[1]
    assert weight >= 1 / (n_bounces + 1) - 1e-12


def test_directions_have_random_coefficients():
    """With many points on a line and one across it, directions follow the line."""
    points = np.array([[1.0, 0.0]] * 99 + [[0.0, 1.0]])
    space = VersionSpace(unit_gram(points @ points.T, 0.0), np.ones(100))
    rng = np.random.default_rng(0)
    along = [space.margins(random_combination(space, rng))[0] for _ in range(2000)]
    # The twin sums 99 uniform numbers against one: mean squares of 33 and 1/3.
    coef = np.random.default_rng(1).uniform(-1, 1, (2000, 100))
    line = coef[:, :99].sum(axis=1)
    twins = line / np.hypot(line, coef[:, 99])
    assert stats.ks_2samp(along, twins).pvalue > 0.001
    uniform = np.cos(np.random.default_rng(2).uniform(0, 2 * np.pi, 2000))
    assert stats.ks_2samp(along, uniform).pvalue < 1e-9


@given(phi=st.floats(0.01, 3), weight=unit_floats)
def test_add_by_angle_shares_the_angle_by_weight(phi, weight):
    a, b = np.array([1.0, 0.0]), np.array([np.cos(phi), np.sin(phi)])
    c = add_by_angle(a, b, weight, 1 - weight)
    np.testing.assert_allclose(np.arctan2(c[1], c[0]), phi * (1 - weight), atol=1e-9)


def test_first_wall_is_the_smallest_positive_flight_time():
    d = np.array([1.0, 1.0, 0.5, 0.2])
    u = np.array([-1.0, 1.0, -2.0, -1.0])
    assert _first_wall(d, u, last=-1) == (3, 0.2)
    assert _first_wall(d, u, last=3) == (2, 0.25)
    assert _first_wall(d, np.ones(4), last=-1)[1] == np.inf


@pytest.mark.parametrize(("algorithm", "tol"), [("herbrich", 2e-4), ("flipper", 0.03)])
@pytest.mark.parametrize("space", [teacher_space(8, 3, seed=2), rbf_space(20, 0.5)])
def test_published_algorithms_come_near_the_exact_one(algorithm, tol, space):
    exact = Billiard(tol=0.01).solve(space, np.random.default_rng(0))
    published = Billiard(algorithm=algorithm, tol=tol).solve(space, np.random.default_rng(0))
    assert published.info["stop"] == "tol"
    w = space.combine(published.coef)
    assert space.contains(w)
    # Published algorithms are approximations: the flipper prefers the center, where it
    # restarts, and neither counts arcs exactly. Measured: 0.02 to 0.3.
    assert angle_between(w, space.combine(exact.coef)) < 0.4
    assert np.all(space.margins(space.combine(published.draws)) > -1e-9)


@pytest.mark.parametrize("algorithm", ["herbrich", "flipper"])
def test_published_algorithms_stop(algorithm):
    space = rbf_space(20, 0.1)
    solver = Billiard(algorithm=algorithm, tol=0, n_bounces=200)
    posterior = solver.solve(space, np.random.default_rng(0))
    assert posterior.info["stop"] == "n_bounces"
    assert posterior.info["n_bounces"] == posterior.info["hits"].sum() == 200
    solver = Billiard(algorithm=algorithm, tol=0, n_bounces=10**9)
    deadline = time.perf_counter() + 0.1
    posterior = solver.solve(space, np.random.default_rng(0), deadline=deadline)
    assert posterior.info["stop"] == "max_time"


def test_a_ball_that_escapes_is_reported():
    # Version space is nearly half a circle: a straight flight misses the other wall.
    normals = np.array([[0.0, 1.0], [1e-6, 1.0]])
    space = VersionSpace(unit_gram(normals @ normals.T, 0.0), np.ones(2))
    solver = Billiard(algorithm="herbrich", tol=0, n_bounces=100)
    posterior = solver.solve(space, np.random.default_rng(0))
    assert posterior.info["stop"] == "escaped"
    assert np.isfinite(posterior.coef).all()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("algorithm", ["herbrich", "flipper"])
def test_three_classes_may_stop_at_different_times(algorithm, rng):
    X = rng.standard_normal((60, 2))
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    solver = Billiard(algorithm=algorithm, n_bounces=5000)
    model = BayesPointClassifier(solver=solver, softness=0.3, random_state=0).fit(X, y)
    # The largest class has about 38 % of the rows.
    assert model.score(X, y) > 0.8
    assert np.all(model.decision_std_error(X) > 0)
