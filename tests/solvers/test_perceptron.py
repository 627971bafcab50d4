import time

import numpy as np
import pytest

from bayespoint import BayesPointClassifier
from bayespoint._runtime.threads import one_blas_thread, threads
from bayespoint.geometry.row_store import UNIT
from bayespoint.solvers import Billiard, Perceptron
from bayespoint.solvers import perceptron as module
from bayespoint.solvers.members import MISTAKES, Members
from helpers import teacher_space
from perceptron_problems import (
    NOBODY,
    contradiction,
    learned,
    slow_perceptron,
    store_of,
    teacher_problem,
)


@pytest.mark.parametrize("softness", [0.0, 0.3])
def test_members_make_the_mistakes_of_algorithm_1(softness):
    matrix, signs = teacher_problem(60, 5, 0, n_outputs=2)
    members, stop = learned(matrix, signs, softness=softness)
    assert stop == "consistent"
    for c, k in np.ndindex(2, 3):
        expected = slow_perceptron(matrix, signs[c], members.order[c, k], softness)
        assert np.array_equal(members.count[c, k], expected)


def test_a_broken_perceptron_makes_other_mistakes():
    matrix, signs = teacher_problem(60, 5, 0)
    members, _ = learned(matrix, signs)
    shifted = np.roll(members.order[0, 0], 1)
    assert not np.array_equal(members.count[0, 0], slow_perceptron(matrix, signs[0], shifted))


def test_outputs_are_those_of_the_coefficients():
    matrix, signs = teacher_problem(80, 6, 1)
    members, _ = learned(matrix, signs, softness=0.2)
    expected = (members.count[0] * signs[0]) @ (matrix + 0.2 * np.eye(80))
    # Each mistake adds a softness that is no multiple of the unit, and rounds the sum.
    rounding = members.count.sum() * np.finfo(np.float32).eps * np.abs(expected).max()
    assert members.output[0] == pytest.approx(expected, abs=rounding)
    assert np.all(members.output[0] * signs[0] > 0)


def test_mean_of_many_members_is_close_to_the_bayes_point():
    # Not equal: perceptrons are not a uniform sample. 000, fig. 4, finds the two similar.
    space = teacher_space(60, 10, 3)
    matrix = space.gram.matrix
    members, _ = learned(matrix, space.signs.astype(np.int8)[None], n_members=200)
    exact = Billiard(tol=0.01).solve(space, np.random.default_rng(0))
    one, other = space.combine(members.posterior(0).coef), space.combine(exact.coef)
    cosine = one @ other / np.linalg.norm(one) / np.linalg.norm(other)
    single = space.combine(members.posterior(0).draws) @ other / np.linalg.norm(other)
    assert cosine > 0.98
    assert cosine > single.max()


def test_softness_makes_contradictions_learnable():
    matrix, signs = contradiction()
    members, stop = learned(matrix, signs, softness=0.1)
    assert stop == "consistent"
    assert np.all(members.output * signs > 0)


def test_deadline_stops_and_going_on_gives_the_same():
    matrix, signs = teacher_problem(200, 20, 5)
    whole, _ = learned(matrix, signs)
    members = Members.at_start(signs, NOBODY, 0, 0.0, 3)
    solver, store = Perceptron(3), store_of(matrix)
    original = module.MAX_MISTAKES_PER_CALL
    module.MAX_MISTAKES_PER_CALL = 5
    try:
        assert solver.solve(store, members, deadline=time.perf_counter()) == "max_time"
        assert 0 < members.walk[..., MISTAKES].max() <= 5
        assert solver.solve(store, members) == "consistent"
    finally:
        module.MAX_MISTAKES_PER_CALL = original
    assert np.array_equal(members.count, whole.count)


def test_callback_stops():
    matrix, signs = teacher_problem(60, 5, 0)
    members = Members.at_start(signs, NOBODY, 0, 0.0, 2)
    reports = []

    def on_round(info):
        reports.append(info)
        return True

    original = module.SECONDS_BETWEEN_REPORTS
    module.SECONDS_BETWEEN_REPORTS = -1.0
    try:
        assert Perceptron(2).solve(store_of(matrix), members, on_round=on_round) == "callback"
    finally:
        module.SECONDS_BETWEEN_REPORTS = original
    assert reports[0]["n_members"] == 2


def test_threads_change_nothing():
    matrix, signs = teacher_problem(300, 20, 6, n_outputs=3)
    alone, _ = learned(matrix, signs, n_members=7)
    members = Members.at_start(signs, NOBODY, 0, 0.0, 7)
    with one_blas_thread(), threads(2) as thread_map:
        Perceptron(7).solve(store_of(matrix), members, thread_map=thread_map)
    assert np.array_equal(members.count, alone.count)
    assert np.array_equal(members.output, alone.output)


def test_parameters_are_checked():
    matrix, signs = teacher_problem(10, 3, 0)
    members = Members.at_start(signs, NOBODY, 0, 0.0, 1)
    with pytest.raises(ValueError, match="max_mistakes"):
        Perceptron(1, max_mistakes=0).solve(store_of(matrix), members)


def points_of_many_lengths(rng):
    X = rng.standard_normal((120, 4)) * np.exp(rng.standard_normal((120, 1)))
    return X, np.where(X @ [1.0, -1.0, 0.5, 0.0] > 0, 1, -1)


def test_published_machine_on_points_of_any_length(rng):
    """Each member is algorithm 1 of 000 on the raw kernel, in a random order of all points."""
    X, y = points_of_many_lengths(rng)
    solver = Perceptron(4, unit_length=False, held_out=0)
    model = classifier(solver).set_params(warm_start=True).fit(X, y)
    for order, count, draw in zip(
        model._state["order"][0], model._state["count"][0], model.draw_coef_[0], strict=True
    ):
        assert sorted(order) == list(range(120))
        expected = slow_perceptron(X @ X.T, y, order)
        assert np.array_equal(count, expected)
        weights = (expected * y) @ X
        found = draw @ model.support_vectors_
        # The squared length is a sum over pairs of points, whose kernel is rounded.
        sizes = expected @ np.linalg.norm(X, axis=1)
        rounding = UNIT / 4 * sizes**2 / (weights @ weights)
        assert found == pytest.approx(weights / np.linalg.norm(weights), rel=rounding)
    probability = model.predict_proba(X)
    assert np.array_equal(probability.argmax(axis=1), (y > 0).astype(int))


def test_going_on_as_another_machine_starts_anew(rng):
    X, y = points_of_many_lengths(rng)
    model = classifier(Perceptron(2)).set_params(warm_start=True).fit(X, y)
    for change in ({"unit_length": False}, {"held_out": 0.1}):
        with pytest.warns(UserWarning, match="starting from scratch"):
            model.set_params(solver=Perceptron(2, **change)).fit(X, y)


def test_share_that_is_held_out(rng):
    X, y = points_of_many_lengths(rng)
    model = classifier(Perceptron(2, held_out=0.25)).set_params(warm_start=True).fit(X, y)
    assert 28 <= len(model._state["held_out"]) <= 30  # rounded down in each class
    with pytest.raises(ValueError, match="'held_out' parameter of Perceptron must be"):
        classifier(Perceptron(held_out=0.6)).fit(X, y)


def classifier(solver):
    return BayesPointClassifier(
        "linear", fit_intercept=False, softness=0.0, solver=solver, random_state=0
    )
