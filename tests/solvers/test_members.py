"""Members of an ensemble: their orders, their mean, and its error."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayespoint.solvers import Perceptron
from bayespoint.solvers.members import IN_USE, MISTAKES, RIGHT_STREAK, Members
from perceptron_problems import (
    NOBODY,
    contradiction,
    learned,
    slow_perceptron,
    store_of,
    teacher_problem,
)


def test_every_member_goes_through_its_own_permutation():
    matrix, signs = teacher_problem(50, 5, 0, n_outputs=2)
    members, _ = learned(matrix, signs)
    orders = members.order.reshape(6, 50)
    assert all(sorted(order) == list(range(50)) for order in orders)
    assert len(np.unique(orders, axis=0)) == 6


@pytest.mark.parametrize("step", [1.0, np.linspace(0.3, 2, 80)])
@pytest.mark.parametrize("softness", [0.0, 0.5])
def test_draws_have_unit_length_and_the_mean_is_theirs(softness, step):
    matrix, signs = teacher_problem(80, 6, 2)
    members, _ = learned(matrix, signs, n_members=4, softness=softness, step=step)
    posterior = members.posterior(0)
    gram = (matrix + softness * np.eye(80)) / (1 + softness) * np.outer(signs[0], signs[0])
    assert np.einsum("ki,ij,kj->k", posterior.draws, gram, posterior.draws) == pytest.approx(1)
    assert posterior.coef == pytest.approx(posterior.draws.mean(axis=0))
    length = np.sqrt(posterior.coef @ gram @ posterior.coef)
    assert posterior.info["resultant"] == pytest.approx(length)
    assert np.all(gram @ posterior.coef > 0)


@settings(max_examples=30)
@given(
    st.integers(2, 8),
    st.integers(5, 80),
    st.integers(0, 10**6),
    st.sampled_from([0.0, 0.1]),
    st.sampled_from([1.0, 0.3]),
)
def test_mistakes_obey_novikoff(n, m, seed, softness, shortest):
    matrix, signs = teacher_problem(m, n, seed)
    step = np.random.default_rng(seed).uniform(shortest, 1, m)
    members, stop = learned(matrix, signs, softness=softness, max_mistakes=10**6, step=step)
    assert stop == "consistent"
    info = members.posterior(0).info
    gram = (matrix + softness * np.eye(m)) / (1 + softness) * np.outer(signs[0], signs[0])
    best = 0.0
    for coef in [*members.posterior(0).draws, members.posterior(0).coef]:
        best = max(best, (gram @ coef).min() / np.sqrt(coef @ gram @ coef))
    # Each mistake rounds outputs in single precision; those of unit hypotheses are at most 1.
    rounding = 4 * info["n_mistakes"].max() * np.finfo(np.float32).eps
    assert info["margin"] == pytest.approx(best, abs=rounding)
    assert info["n_mistakes"].max() <= info["novikoff"]
    # Longer points cannot be further away from a boundary than the longest.
    assert info["novikoff"] >= info["margin"] ** -2 * (1 - rounding / best)


def test_angle_is_the_spread_of_repeated_answers():
    matrix, signs = teacher_problem(100, 8, 4)
    gram = matrix * np.outer(signs[0], signs[0])
    limit = learned(matrix, signs, n_members=2000, seed=1)[0].posterior(0).coef
    angles, stated = [], []
    for seed in range(2, 32):
        posterior = learned(matrix, signs, n_members=10, seed=seed)[0].posterior(0)
        cosine = posterior.coef @ gram @ limit
        cosine /= np.sqrt(posterior.coef @ gram @ posterior.coef * (limit @ gram @ limit))
        angles.append(np.arccos(min(cosine, 1.0)))
        stated.append(posterior.info["angle"])
    ratio = np.sqrt(np.mean(np.square(angles)) / np.mean(np.square(stated)))
    # The root mean square of 30 independent angles in about 7 dimensions has an error of 5 %.
    assert 0.8 < ratio < 1.2


def test_held_out_points_come_in_when_the_others_are_learned():
    matrix, signs = teacher_problem(60, 5, 0)
    held_out = np.arange(0, 60, 6)
    members, stop = learned(matrix, signs, held_out=held_out)
    assert stop == "consistent"
    assert np.all(members.walk[..., IN_USE] == 60)
    for k in range(3):
        order = members.order[0, k]
        assert sorted(order[-10:]) == held_out.tolist()
        without = slow_perceptron(matrix, signs[0], order[:-10])
        assert not without[held_out].any()
        length = np.sqrt((without * signs[0]) @ matrix @ (without * signs[0]))
        expected = matrix[held_out] @ (without * signs[0]) / length
        assert members.trial[0, k] == pytest.approx(expected, abs=1e-9)


def test_inseparable_data_end_with_the_best_pass():
    matrix, signs = contradiction()
    members, stop = learned(matrix, signs, max_mistakes=2000)
    assert stop == "max_mistakes"
    assert np.all(members.walk[..., MISTAKES] == 2000)
    assert not members.consistent().any()
    posterior = members.posterior(0)
    outputs = (posterior.draws * signs[0]) @ matrix
    errors = np.sum(outputs * signs[0] <= 0, axis=1)
    # Five points contradict five others, so there are at least five errors.
    assert np.array_equal(errors, members.best[0, :, 0])
    assert np.all((errors >= 5) & (errors <= 15))
    assert not posterior.info["mixed"]
    assert posterior.info["angle"] == np.inf


def test_consistent_members_are_preferred():
    matrix, signs = teacher_problem(60, 5, 0)
    members, _ = learned(matrix, signs, n_members=4)
    members.walk[0, 1, RIGHT_STREAK] = 0  # as if this member had been stopped
    assert len(members.posterior(0).draws) == 3


def test_more_members_later_are_the_members_of_one_run():
    matrix, signs = teacher_problem(60, 5, 0, n_outputs=3)
    at_once, _ = learned(matrix, signs, n_members=5)
    members, _ = learned(matrix, signs, n_members=2)
    members = members.with_more(5)
    Perceptron(5).solve(store_of(matrix), members)
    assert np.array_equal(members.count, at_once.count)
    with pytest.raises(ValueError, match="at least the 5 members of the last fit"):
        members.with_more(4)


def test_negative_length_is_an_error():
    matrix = np.array([[1.0, 3.0], [3.0, 1.0]])
    members = Members.at_start(np.array([[1, -1]], dtype=np.int8), NOBODY, 0, 0.0, 1)
    Perceptron(1, max_mistakes=50).solve(store_of(matrix), members)
    with pytest.raises(ValueError, match="not positive semi-definite"):
        members.posterior(0)


def test_left_out_is_between_the_output_and_the_bound():
    matrix, signs = teacher_problem(60, 5, 0)
    members, _ = learned(matrix, signs)
    margin = members.left_out()[0] * signs[0]
    square = np.einsum("ki,ki->k", members.count[0], members.output[0] * signs[0])
    outputs = np.mean(members.output[0] * signs[0] / np.sqrt(square)[:, None], axis=0)
    used = members.count[0].sum(axis=0) > 0
    assert np.all(margin[used] < outputs[used])
    assert margin[~used] == pytest.approx(outputs[~used])


def test_leaving_out_one_of_many_copies_takes_away_the_noise_alone():
    matrix, signs = teacher_problem(60, 5, 0)
    members = Members.at_start(signs, NOBODY, 0, 0.3, 4)
    Perceptron(4).solve(store_of(matrix), members)
    own = members.count * signs[:, None]
    square = np.einsum("cki,cki->ck", own, members.output)
    signal = np.mean((members.output - 0.3 * own) / np.sqrt(square)[..., None], axis=1)
    removed = [np.abs(members.left_out(copies) - signal).max() for copies in (1, 2, 10, 1e6)]
    assert removed[0] > removed[1] > removed[2] > removed[3]
    assert removed[3] == pytest.approx(0, abs=1e-6 * removed[0])
    np.testing.assert_array_equal(members.left_out(0.5), members.left_out())
