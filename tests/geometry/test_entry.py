"""Ways into version space: each against a slow twin, then all together."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import linalg

from bayespoint._jit.light_trap import shine
from bayespoint._jit.perceptron import learn
from bayespoint.geometry import version_space
from bayespoint.geometry.conflicts import NoVersionSpaceError
from bayespoint.geometry.entry import learn_perceptron, solve_directly, solve_program, trap_light
from bayespoint.geometry.gram import unit_gram
from bayespoint.geometry.great_circle import MIN_RELIABLE_MARGIN, random_tangent
from bayespoint.geometry.version_space import VersionSpace
from version_space_problems import (
    EPS,
    SEED,
    integer_problems,
    largest_margin,
    linear_space,
    proof_residual,
    rbf_space,
    rng_of,
    seeds,
    separable,
    unit_rows,
)

# --- the direct solve


@given(m=st.integers(1, 30), seed=seeds, softness=st.sampled_from([0.0, 0.1, 1e12]))
@settings(max_examples=60)
def test_direct_solve_gives_equal_margins(m, seed, softness):
    rng = rng_of(seed)
    y = rng.choice([-1.0, 1.0], m)
    space = linear_space(rng.standard_normal((m, 2 * m)), y, softness)
    w = solve_directly(space)
    margins = space.margins(w)
    assert np.linalg.norm(w) == pytest.approx(1, abs=4 * m * EPS)
    # 1^T K^-1 1 is the squared length of the solution with margins 1.
    signed = space.gram.matrix * np.outer(y, y)
    expected = 1 / np.sqrt(np.sum(np.linalg.solve(signed, np.ones(m))))
    known = 8 * m * EPS * np.linalg.cond(signed)
    np.testing.assert_allclose(margins, expected, rtol=known)


def test_direct_solve_needs_independent_points():
    assert solve_directly(linear_space([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [1, 1, 1])) is None


# --- the perceptron


def perceptron_twin(K, y, order):
    """Run algorithm 1 of 000; sum the output again for every point."""
    alpha, mistakes, wrong = np.zeros(len(y)), 0, True
    while wrong:
        wrong = False
        for i in order:
            if y[i] * sum(alpha[j] * K[j, i] for j in range(len(y))) <= 0:
                alpha[i] += y[i]
                mistakes += 1
                wrong = True
    return alpha, mistakes


@given(seed=seeds, m=st.integers(1, 15), n_features=st.integers(2, 4))
@settings(max_examples=40)
def test_perceptron_agrees_with_algorithm_1(seed, m, n_features):
    X, y = separable(seed, m, n_features, margin=0.05)
    space = linear_space(X, y)
    order = rng_of(seed).permutation(m)
    alpha, expected = perceptron_twin(space.gram.matrix, y, order)
    margins = np.zeros(m)
    count, mistakes = learn(space.gram.matrix, y, order, margins, 10**6)
    np.testing.assert_array_equal(count * y, alpha)
    assert mistakes == expected == count.sum()
    # Margins are sums of `mistakes` numbers of size at most 1.
    known = 4 * EPS * mistakes * (mistakes + m)
    np.testing.assert_allclose(margins, y * (space.gram.matrix @ alpha), atol=known, rtol=0)
    # A generator gives the same permutation; the result is scaled to unit length.
    w = learn_perceptron(space, rng_of(seed))
    explicit = alpha @ unit_rows(X)
    explicit /= np.linalg.norm(explicit)
    np.testing.assert_allclose(space.margins(w), y * (unit_rows(X) @ explicit), atol=64 * m * EPS)


@given(seed=seeds, m=st.integers(2, 25), n_features=st.integers(2, 5))
@settings(max_examples=60)
def test_perceptron_obeys_novikoff(seed, m, n_features):
    X, y = separable(seed, m, n_features)
    space = linear_space(X, y)
    margin = largest_margin(y[:, None] * X)
    _, mistakes = learn(space.gram.matrix, y, rng_of(seed).permutation(m), np.zeros(m), 10**6)
    assert 1 <= mistakes <= margin**-2 * (1 + 1e-9)
    # So the perceptron never gives up if the margin is larger than `smallest_margin`.
    w = learn_perceptron(space, rng_of(seed), smallest_margin=0.999 * margin)
    assert space.contains(w)
    assert np.linalg.norm(w) == pytest.approx(1, abs=8 * EPS)


def test_largest_margin_of_the_plane():
    # Check the reference value of Novikoff's bound in the plane, where it follows from half
    # the angle between the outermost walls.
    for half in (0.1, 1.0, 1.5):
        angles = np.linspace(-half, half, 7) + 0.3
        walls = np.column_stack([np.cos(angles), np.sin(angles)])
        assert largest_margin(walls) == pytest.approx(np.cos(half), abs=1e-12)


def test_perceptron_gives_up_on_inseparable_points():
    space = linear_space([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]], [1, 1, 1])
    assert learn_perceptron(space, rng_of(), smallest_margin=0.05) is None
    limit = 400
    count, mistakes = learn(space.gram.matrix, space.signs, np.arange(3), np.zeros(3), limit)
    assert mistakes == count.sum() == limit


# --- the light trap


def light_trap_twin(walls, b, v, n_bounces):
    """Yield position, direction and the set of violated walls after each bounce.

    The angles are explicit: the ray meets wall z where <z, b> cos t + <z, v> sin t = 0.
    """
    wrong, touched = set(np.flatnonzero(walls @ b <= 0)), None
    yield b, v, wrong
    for _ in range(n_bounces):
        if not wrong:
            return
        d, u = walls @ b, walls @ v
        angle = np.arctan2(np.abs(d), -np.sign(d) * u)
        if touched is not None:
            angle[touched] = np.pi  # the ray leaves this wall and returns to it last
        c = touched = int(np.argmin(angle))
        t = angle[c]
        b, v = b * np.cos(t) + v * np.sin(t), v * np.cos(t) - b * np.sin(t)
        if c in wrong:
            wrong = wrong - {c}
        else:
            v = v - 2 * (v @ walls[c]) * walls[c]
        yield b, v, wrong


def ray(space, seed):
    """Return a random position and direction on the sphere."""
    rng = rng_of(seed)
    b = rng.standard_normal(space.gram.rank)
    b /= np.linalg.norm(b)
    return b, random_tangent(b, rng)


def shone(space, b, v, n_bounces):
    """Return the state (b, v, d, u) and the result of the compiled loop."""
    state = b.copy(), v.copy(), space.margins(b), space.margins(v)
    gram = space.gram
    return state, shine(gram.matrix, gram.factor, space.signs, *state, n_bounces)


# From one bounce to the next, a position error is divided by the sine of the angle at which
# the ray meets the wall. Over the few bounces compared here that costs less than 6 digits.
FOLLOWED = 1e-10


@given(seed=seeds, m=st.integers(3, 20), n_features=st.integers(2, 5))
@settings(max_examples=40)
def test_light_trap_agrees_with_explicit_rays(seed, m, n_features):
    space = linear_space(*separable(seed, m, n_features))
    b, v = ray(space, seed)
    for n, (b_twin, v_twin, wrong) in enumerate(light_trap_twin(space.walls, b, v, 8)):
        (b_n, v_n, d, u), answer = shone(space, b, v, n)
        assert answer == n
        np.testing.assert_allclose(b_n, b_twin, atol=FOLLOWED, rtol=0)
        np.testing.assert_allclose(v_n, v_twin, atol=FOLLOWED, rtol=0)
        assert set(np.flatnonzero(d < 0)) == wrong
        np.testing.assert_allclose(d, space.margins(b_n), atol=FOLLOWED, rtol=0)
        np.testing.assert_allclose(u, space.margins(v_n), atol=FOLLOWED, rtol=0)


@given(seed=seeds, m=st.integers(2, 20), n_features=st.integers(2, 5))
@settings(max_examples=40)
def test_light_never_leaves_through_a_wall(seed, m, n_features):
    # Labels are random, not from a teacher: the errors decrease, but need not reach zero.
    rng = rng_of(seed)
    space = linear_space(rng.standard_normal((m, n_features)), rng.choice([-1.0, 1.0], m))
    b, v = ray(space, seed)
    right = space.margins(b) > FOLLOWED
    for n in range(0, 60, 3):
        (b_n, v_n, _, _), answer = shone(space, b, v, n)
        margins = space.margins(b_n)
        assert np.all(margins[right] > -FOLLOWED)
        right |= margins > FOLLOWED
        if answer < n:
            assert np.all(margins > -FOLLOWED)
            break
        # A bounce rounds rank coordinates and the speeds u. Every later reflection uses that u, so
        # errors grow with the square of the number of bounces.
        known = 16 * (n + 1) ** 2 * n_features * EPS
        assert b_n @ b_n == pytest.approx(1, abs=known)
        assert v_n @ v_n == pytest.approx(1, abs=known)
        assert b_n @ v_n == pytest.approx(0, abs=known)


def test_walls_reflect_on_the_right_side_and_let_in_from_the_wrong_one():
    space = linear_space(np.eye(3), [1, 1, 1])
    b = np.array([0.5, 0.3, -np.sqrt(0.66)])[space.gram.pivots.argsort()]
    axes = space.gram.factor  # the rows are the unit vectors, in some order
    for target, is_right in ((-axes[0], True), (axes[2], False)):
        v = target - (target @ b) * b
        v /= np.linalg.norm(v)
        c = 0 if is_right else 2
        (b_1, v_1, _, _), _ = shone(space, b, v, 1)
        d, u = axes[c] @ b, axes[c] @ v
        t = np.arctan(-d / u)
        assert 0 < t < np.pi / 2
        np.testing.assert_allclose(b_1, b * np.cos(t) + v * np.sin(t), atol=8 * EPS)
        onwards = v * np.cos(t) - b * np.sin(t)
        mirror = np.eye(3) - 2 * is_right * np.outer(axes[c], axes[c])
        np.testing.assert_allclose(v_1, mirror @ onwards, atol=8 * EPS)
        assert axes[c] @ v_1 > 0.1  # away from the wall, to its right side


def test_light_trap_ends_inside_version_space():
    # A point on a wall is not inside: `enter` needs a margin, and so does a billiard. A ray may
    # run in a cycle that meets no wall it could pass; none of 1000 such problems had one.
    cycles = 0
    for seed in range(SEED, SEED + 60):
        space = linear_space(*separable(seed, m=15, n_features=5, margin=0.05))
        w = trap_light(space, rng_of(seed))
        if w is None:
            cycles += 1
        else:
            assert np.linalg.norm(w) == pytest.approx(1, abs=8 * EPS)
            assert space.margins(w).min() > MIN_RELIABLE_MARGIN
    assert cycles <= 3


def test_light_trap_gives_up():
    inseparable = linear_space([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]], [1, 1, 1])
    assert trap_light(inseparable, rng_of(), n_bounces=1000) is None
    space = linear_space(*separable(SEED))
    antipode = -solve_program(space)  # every wall is on the wrong side
    _, answer = shone(space, antipode, random_tangent(antipode, rng_of()), 3)
    assert answer == 3


def test_light_trap_on_a_line():
    # One dimension has no direction to move in: the start is inside, or nothing is.
    assert trap_light(linear_space([[1.0], [2.0], [-1.0]], [1, 1, -1]), rng_of()) is not None
    assert trap_light(linear_space([[1.0], [2.0], [-1.0]], [1, 1, 1]), rng_of()) is None


# --- the linear program


@given(seed=seeds, m=st.integers(1, 20), n_features=st.integers(1, 5))
@settings(max_examples=40)
def test_program_finds_the_largest_margin_in_a_box(seed, m, n_features):
    space = linear_space(*separable(seed, m, n_features))
    w = solve_program(space)
    assert np.linalg.norm(w) == pytest.approx(1, abs=8 * EPS)
    best = space.margins(w / np.abs(w).max()).min()
    assert best > 0
    # No other direction is better; HiGHS is exact to 1e-7.
    others = rng_of(seed).standard_normal((200, space.gram.rank))
    others = np.vstack([others, others @ space.walls.T @ space.walls, w + 0.1 * others])
    others /= np.abs(others).max(axis=1, keepdims=True)
    assert space.margins(others).min(axis=1).max() <= best + 1e-7


@given(seed=seeds, n_features=st.integers(1, 5), m=st.integers(0, 10))
@settings(max_examples=40)
def test_program_proves_that_there_is_no_hypothesis(seed, n_features, m):
    # Some of the walls sum to zero with positive weights.
    rng = rng_of(seed)
    walls = rng.standard_normal((n_features + 1, n_features))
    walls[-1] = -rng.uniform(0.5, 2, n_features) @ walls[:-1]
    walls = rng.permutation(np.vstack([walls, rng.standard_normal((m, n_features))]))
    y = rng.choice([-1.0, 1.0], len(walls))
    space = linear_space(y[:, None] * walls, y)
    with pytest.raises(NoVersionSpaceError, match="contradict each other") as caught:
        solve_program(space)
    # The multipliers of HiGHS belong to a vertex, solved up to rounding.
    assert proof_residual(space, caught.value) <= 1e-12 * len(y)


# --- entering


@given(problem=integer_problems(), seed=seeds)
@settings(max_examples=150)
def test_enter_gives_a_hypothesis_or_a_proof_that_there_is_none(problem, seed):
    # Gordan's theorem: exactly one of the two exists, so each answer proves itself.
    space = linear_space(*problem)
    try:
        w = space.enter(rng_of(seed))
    except NoVersionSpaceError as error:
        assert proof_residual(space, error) <= 1e-12  # noqa: PT017
    else:
        assert np.linalg.norm(w) == pytest.approx(1, abs=8 * EPS)
        assert space.margins(w).min() > MIN_RELIABLE_MARGIN
        assert space.contains(w)


@given(
    seed=seeds,
    m=st.integers(1, 40),
    n_features=st.integers(1, 6),
    margin=st.sampled_from([1e-1, 1e-3, 1e-5]),
)
@settings(max_examples=60)
def test_enter_succeeds_on_separable_points(seed, m, n_features, margin):
    space = linear_space(*separable(seed, m, n_features, margin))
    assert space.margins(space.enter(rng_of(seed))).min() > MIN_RELIABLE_MARGIN


@pytest.mark.parametrize("margin", [1e-2, 1e-4, 1e-6, 1e-7])
@pytest.mark.parametrize("n_features", [2, 3, 6])
def test_enter_finds_a_narrow_version_space(n_features, margin):
    # Walls come in opposite pairs, tilted towards one direction by `margin`.
    rng = rng_of()
    across = unit_rows(rng.standard_normal((15, n_features - 1)))
    tilt = np.full((30, 1), margin)
    walls = np.hstack([tilt, np.vstack([across, -across]) * np.sqrt(1 - margin**2)])
    walls = walls @ linalg.qr(rng.standard_normal((n_features, n_features)))[0]
    y = rng.choice([-1.0, 1.0], 30)
    space = linear_space(y[:, None] * walls, y)
    best = space.margins(space.enter(rng)).min()
    # Inner products have errors of a few eps, so tilts have errors of the order of sqrt(eps).
    assert MIN_RELIABLE_MARGIN < best <= margin + 2 * np.sqrt(EPS)


@given(problem=integer_problems(), seed=seeds, softness=st.sampled_from([1e-6, 0.1, 1e12]))
@settings(max_examples=60)
def test_softness_makes_any_labels_possible(problem, seed, softness):
    space = linear_space(*problem, softness)
    w = space.enter(rng_of(seed))
    # Coefficients s / (1 + s) of w = sum_i z_i / m give a lower bound of the largest margin.
    # The direct solve finds that margin up to the other eigenvalues, which are at most m.
    assert space.margins(w).min() >= 0.9 * np.sqrt(softness / (1 + softness)) / len(space.signs)


@pytest.mark.parametrize("gamma", [1e-12, 1e-6, 1e-2, 1.0, 100.0])
def test_enter_succeeds_on_nearly_singular_kernels(gamma):
    # A threshold between -1/2 and 1/2 on a line is easy to find, though the matrix is singular.
    X = np.concatenate([np.linspace(-3, -0.5, 20), np.linspace(0.5, 3, 20)])[:, None]
    space = rbf_space(X, np.sign(X[:, 0]), gamma)
    assert space.margins(space.enter(rng_of())).min() > MIN_RELIABLE_MARGIN


@pytest.mark.parametrize("attempt", ["learn_perceptron", "trap_light"])
def test_enter_checks_what_its_attempts_return(attempt, monkeypatch):
    space = linear_space(*separable(SEED))
    outside = -solve_program(space)
    monkeypatch.setattr(version_space, attempt, lambda space, rng: outside)
    assert space.contains(space.enter(rng_of()))


def test_enter_is_deterministic():
    space = linear_space(*separable(SEED, m=30))
    np.testing.assert_array_equal(space.enter(rng_of(3)), space.enter(rng_of(3)))
    assert np.any(space.enter(rng_of(3)) != space.enter(rng_of(4)))


def test_enter_with_one_or_two_points():
    for y in ([1], [-1]):
        np.testing.assert_allclose(linear_space([[2.0]], y).enter(rng_of()), y)
    for y in ([1, 1], [1, -1], [-1, 1]):
        space = linear_space([[1.0, 0.5], [0.5, 1.0]], y)
        assert space.contains(space.enter(rng_of()))


def test_enter_with_one_class_only():
    space = linear_space(rng_of().uniform(0.1, 1, (20, 3)), np.ones(20))
    assert space.contains(space.enter(rng_of()))
    assert space.contains(trap_light(space, rng_of()))


def test_memory_layout_does_not_matter():
    X, y = separable(SEED, m=30)
    K = X @ X.T
    frozen = K.copy()
    frozen.setflags(write=False)
    expected = VersionSpace(unit_gram(K, 0.0), y).enter(rng_of())
    strided = np.repeat(y, 2)[::2]
    strided.setflags(write=False)
    for layout in (np.asfortranarray(K), frozen):
        space = VersionSpace(unit_gram(layout, 0.0), strided)
        np.testing.assert_allclose(space.enter(rng_of()), expected, atol=1e-12)
        assert space.contains(learn_perceptron(space, rng_of()))
