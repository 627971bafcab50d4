"""The compiled perceptrons against algorithm 1 of 000, and the rows they will need next."""

import numpy as np
import pytest

from bayespoint._jit.perceptron import NEXT_MISTAKE_SCORE, advance, expect_mistakes, learn
from bayespoint.geometry.row_store import UNIT
from perceptron_problems import slow_perceptron, teacher_problem

MANY = 10**6


def at_start(m):
    """Return output, count, walk, best pass and its count before the first point."""
    walk = np.array([0, 0, 0, m], dtype=np.int64)
    count, best_count = np.zeros((2, m), np.int32)
    return np.zeros(m, np.float32), count, walk, np.full(2, np.inf), best_count


def in_units(matrix):
    """Return a matrix as it is stored."""
    rows = np.rint(matrix / UNIT).astype(np.int16)
    np.testing.assert_array_equal(rows * UNIT, matrix)
    return rows


def assert_sums_agree(output, expected, n_mistakes):
    """Compare outputs with sums in double precision.

    Each mistake rounds its factor and the sum, in single precision.
    """
    rounding = 2 * n_mistakes * np.finfo(np.float32).eps
    np.testing.assert_allclose(output, expected, atol=rounding * np.abs(expected).max(), rtol=0)


def run(rows, y, order, softness, state, slot, limit=MANY, step=1.0):
    given = (np.broadcast_to(value, len(y)).astype(float) for value in (softness, step))
    softness, step = given
    while advance(rows, UNIT, slot, softness, step, y, order, *state, limit):
        pass


@pytest.mark.parametrize("softness", [0.0, 0.3])
def test_all_loops_make_the_mistakes_of_algorithm_1(softness):
    matrix, signs = teacher_problem(60, 5, 0)
    y, order = signs[0], np.random.default_rng(1).permutation(60)
    expected = slow_perceptron(matrix, y, order, softness)
    state = at_start(60)
    slot = np.arange(60, dtype=np.int32)
    run(in_units(matrix), y, order.astype(np.int32), softness, state, slot)
    output, count, walk, *_ = state
    np.testing.assert_array_equal(count, expected)
    assert walk.tolist()[1:] == [60, expected.sum(), 60]
    gram = matrix + softness * np.eye(60)
    if softness:
        assert_sums_agree(output, gram @ (expected * y), expected.sum())
    else:  # sums of multiples of the unit have no rounding errors
        np.testing.assert_array_equal(output, gram @ (expected * y))
    soft, margins = matrix + softness * np.eye(60), np.zeros(60)
    count, mistakes = learn(soft, y.astype(float), order, margins, MANY)
    np.testing.assert_array_equal(count, expected)
    assert mistakes == expected.sum()
    np.testing.assert_allclose(margins, y * (gram @ (expected * y)), atol=1e-9)


def test_steps_are_the_lengths_of_the_points():
    """Algorithm 1 on points of any length: unit points whose mistakes count by their lengths."""
    matrix, signs = teacher_problem(60, 5, 0)
    y, order = signs[0], np.random.default_rng(1).permutation(60)
    lengths = np.random.default_rng(2).uniform(0.2, 3, 60)
    expected = slow_perceptron(matrix * np.outer(lengths, lengths), y, order)
    assert not np.array_equal(expected, slow_perceptron(matrix, y, order))
    state, slot = at_start(60), np.arange(60, dtype=np.int32)
    run(in_units(matrix), y, order.astype(np.int32), 0.0, state, slot, step=lengths)
    output, count, _, best, _ = state
    np.testing.assert_array_equal(count, expected)
    assert_sums_agree(output, matrix @ (expected * lengths * y), expected.sum())
    assert best.tolist() == [0, pytest.approx((count * lengths) @ (y * output))]


def test_waits_for_a_row_that_is_not_there_and_goes_on_later():
    matrix, signs = teacher_problem(40, 5, 0)
    y, order = signs[0], np.arange(40, dtype=np.int32)
    expected = slow_perceptron(matrix, y, order)
    wrong = int(np.flatnonzero(expected)[1])
    rows, state = in_units(matrix), at_start(40)
    slot = np.where(order == wrong, -1, order).astype(np.int32)
    run(rows, y, order, 0.0, state, slot)
    output, count, walk, *_ = state
    assert order[walk[0]] == wrong
    assert y[wrong] * output[wrong] <= 0
    assert count[wrong] == 0
    run(rows, y, order, 0.0, state, order)
    np.testing.assert_array_equal(count, expected)


def test_the_best_pass_is_kept():
    # The last two points contradict the first two, so there are always errors.
    matrix, signs = teacher_problem(20, 3, 0)
    matrix = matrix[np.ix_([*range(20), 0, 1], [*range(20), 0, 1])]
    y, order = np.append(signs[0], -signs[0][:2]), np.arange(22, dtype=np.int32)
    state = at_start(22)
    output, count, walk, best, best_count = state
    seen = []
    given = in_units(matrix), UNIT, order, np.zeros(22), np.ones(22), y, order
    while advance(*given, *state, 300):
        margins = y * output
        seen.append(np.sum(margins <= 0))
        assert best.tolist() == [seen[-1], pytest.approx(count @ margins)]
        np.testing.assert_array_equal(best_count, count)
    assert seen == sorted(seen, reverse=True)
    assert len(seen) == len(set(seen)) > 0
    assert walk[2] == count.sum() == 300


def advance_one_by_one(
    rows, unit, slot, softness, step, y, order, output, count, walk, best, kept, most
):
    """Learn as `advance` does, with a pass over all outputs for every mistake."""
    while walk[1] < walk[3] and walk[2] < most:
        i = order[walk[0]]
        if y[i] * output[i] <= 0:
            if slot[i] < 0:
                return False
            output += np.float32(y[i] * step[i] * unit) * rows[slot[i]].astype(np.float32)
            output[i] += y[i] * step[i] * softness[i]
            count[i] += 1
            walk[1:3] = 0, walk[2] + 1
        else:
            walk[1] += 1
        walk[0] += 1
        if walk[0] == walk[3]:
            walk[0] = 0
            used = order[: walk[3]]
            margins = y[used] * output[used]
            if np.sum(margins <= 0) < best[0]:
                best[:] = np.sum(margins <= 0), (count[used] * step[used]) @ margins
                kept[:] = count
                return True
    return False


@pytest.mark.parametrize("softness", [0.0, 0.3])
@pytest.mark.parametrize("flipped", [0.0, 0.2])
def test_state_is_that_of_a_plain_loop_in_every_digit(softness, flipped, rng):
    """Stop anywhere, with any rows missing, and go on."""
    m = 900
    matrix, signs = teacher_problem(m, 20, 3)
    rows, order = in_units(matrix), rng.permutation(m).astype(np.int32)
    y = np.where(rng.random(m) < flipped, -signs[0], signs[0])
    fast, slow = at_start(m), at_start(m)
    fast[2][3] = slow[2][3] = m - 50  # the last ones are held out
    softness, step = np.full(m, softness), rng.uniform(0.5, 1, m)
    for most in range(7, 1500, 31):
        slot = np.where(rng.random(m) < 0.1, -1, np.arange(m)).astype(np.int32)
        given = rows, UNIT, slot, softness, step, y, order
        assert advance(*given, *fast, most) == advance_one_by_one(*given, *slow, most)
        for name, one, other in zip(("output", "count", "walk"), fast, slow, strict=False):
            np.testing.assert_array_equal(one, other, err_msg=name)
        np.testing.assert_array_equal(fast[4], slow[4])
        # The squared length is added up in another order here.
        np.testing.assert_allclose(fast[3], slow[3], rtol=m * np.finfo(float).eps)
    assert slow[2][2] > 200


def test_expects_wrong_points_and_first_of_all_those_next_in_order():
    y = np.ones(8, dtype=np.int8)
    output = np.array([1.0, -1.0, 0.0, 1.0, -2.0, -1.0, 1.0, -1.0])
    order = np.array([7, 0, 1, 2, 3, 4, 5, 6], dtype=np.int32)
    walk = np.array([4, 0, 3, 8], dtype=np.int64)  # at point 3; then 4, 5, 6, 7, 0, 1, 2
    score = np.zeros(8, dtype=np.int64)
    expect_mistakes(y, order, output, walk, 6, 3, score)
    wrong = (output <= 0).astype(int)
    expected = wrong.copy()
    expected[[4, 5, 7]] += NEXT_MISTAKE_SCORE * np.array([3, 2, 1])
    np.testing.assert_array_equal(score, expected)
    score[:] = 0
    expect_mistakes(y, order, output, walk, 2, 3, score)  # only points 3 and 4
    expected = wrong.copy()
    expected[4] += NEXT_MISTAKE_SCORE * 3
    np.testing.assert_array_equal(score, expected)
