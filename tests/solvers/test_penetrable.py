"""The billiard with label noise: fast balls pass through walls."""

import time

import numpy as np
import pytest
from scipy import special, stats

import bayespoint._jit.billiard as compiled
from bayespoint.geometry.gram import unit_gram
from bayespoint.geometry.version_space import VersionSpace
from bayespoint.solvers import Billiard
from bayespoint.solvers import ball as ball_module
from bayespoint.solvers import billiard as module
from bayespoint.solvers.ball import NO_SCATTERING, Ball, advance, guess, new_ball, wall_costs
from helpers import (
    angle_between,
    orthant_space,
    processor_time_below,
    rbf_space,
    slow_but_for,
    teacher_space,
)
from mutants import mutant


def noisy_space(n_points, n_dimensions, seed, label_noise):
    """Return random points with random labels, which are hardly ever separable."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_points, n_dimensions))
    y = np.where(rng.random(n_points) < 0.5, 1.0, -1.0)
    return VersionSpace(unit_gram(X @ X.T, 0.0), y, label_noise=label_noise)


def contradictory_space(label_noise):
    """Return repeated points of a plane: with both labels, opposite, and at the origin."""
    points = {(1.0, 0.2): [1, 1, -1], (0.3, 1.0): [1, -1], (-1.0, 0.5): [-1, -1], (0.0, 0.0): [1]}
    points |= {(-2.0, -0.4): [1, -1, -1], (0.4, -0.7): [1]}
    X = np.array([x for x, labels in points.items() for _ in labels])
    y = np.array([label for labels in points.values() for label in labels], dtype=float)
    order = np.random.default_rng(0).permutation(len(y))
    X, y = X[order], y[order]
    return VersionSpace(unit_gram(X @ X.T, 0.0), y, label_noise=label_noise)


def some_ball(space, seed):
    rng = np.random.default_rng(seed)
    return new_ball(space, guess(space, rng), rng)


def is_wrong(space, ball):
    """Return for each point whether the ball errs just after it left a wall."""
    return space.margins(ball.b * np.cos(1e-7) + ball.v * np.sin(1e-7)) < 0


def energy(space, ball):
    kinetic_and_prior = (ball.b @ ball.b + ball.v @ ball.v) / 2
    return kinetic_and_prior + space.error_cost * np.sum(is_wrong(space, ball))


def times_to_walls(space, ball):
    """Return the time to each wall; half a turn for the wall that the ball is on."""
    d, u = space.margins(np.stack(ball))
    return np.where(np.abs(d) < 1e-9, np.pi, np.arctan2(d, -u) % np.pi)


def turn(ball, t):
    return Ball(
        ball.b * np.cos(t) + ball.v * np.sin(t),
        ball.v * np.cos(t) - ball.b * np.sin(t),
    )


def slow_twin(space, ball, n_bounces, scatter, rng):
    """Bounce step by step with textbook physics; return ball, integrals, length and events."""
    walls, cost = space.walls, space.error_cost
    wrong = is_wrong(space, ball)
    integral, errors, length, events = np.zeros_like(ball.b), 0.0, 0.0, []

    def new_wait():
        with np.errstate(divide="ignore"):
            return 1 + min(np.log(1 - rng.random()) / np.log1p(-1 / scatter), 4e18)

    wait = new_wait()
    for _ in range(n_bounces):
        times = times_to_walls(space, ball)
        c = int(np.argmin(times))
        t = times[c]
        integral += ball.b * np.sin(t) + ball.v * (1 - np.cos(t))
        errors += wrong.sum() * t
        length += t
        b, v = turn(ball, t)
        normal = -walls[c] if wrong[c] else walls[c]
        wait -= 1
        if wait < 1:
            wait = new_wait()
            g = rng.standard_normal(len(b))
            rayleigh = np.sqrt(-2 * np.log(1 - rng.random()))
            v = g - (g @ normal + rayleigh) * normal
        speed = -(v @ normal)
        left = speed**2 / 2 + (cost if wrong[c] else -cost)
        if left > 0:
            v = v + (speed - np.sqrt(2 * left)) * normal
            wrong[c] = not wrong[c]
            events.append((c, "wrong" if wrong[c] else "right"))
        else:
            v = v + 2 * speed * normal
            events.append((c, "reflected"))
        ball = Ball(b, v)
    return ball, integral, errors, length, events


SPACES = {
    "linear": lambda: noisy_space(20, 5, 1, 0.2),
    "plane": lambda: noisy_space(7, 2, 2, 0.1),
    "rbf": lambda: rbf_space(40, 0.0, seed=3)._replace(label_noise=0.05),
    "soft rbf": lambda: rbf_space(30, 0.1)._replace(label_noise=0.3),
    "orthant": lambda: orthant_space(6)._replace(label_noise=0.4),
}


@pytest.fixture(params=SPACES, ids=str)
def space(request):
    return SPACES[request.param]()


# Geometry


def test_energy_is_conserved_whether_it_passes_or_not(space, rng):
    seen = set()
    for seed in range(5):
        ball = some_ball(space, seed)
        before = energy(space, ball)
        seen |= {what for _, what in slow_twin(space, ball, 100, NO_SCATTERING, rng)[-1]}
        for _ in range(100):
            ball, _ = advance(space, ball, rng, 1)
            # 100 roundings of 1e-16 in sums of up to 40 terms.
            np.testing.assert_allclose(energy(space, ball), before, rtol=1e-11)
    assert seen == {"wrong", "right", "reflected"}


def test_runs_backwards_to_where_it_came_from(space, rng):
    first = times_to_walls(space, some_ball(space, 0)).min() / 2
    ball = turn(some_ball(space, 0), first)
    end, leg = advance(space, ball, rng, 100)
    end = turn(end, times_to_walls(space, end).min() / 2)
    back, same = advance(space, Ball(end.b, -end.v), rng, 100)
    # Back on its first arc, the ball has just left the wall it first flew to.
    back = turn(back, times_to_walls(space, ball).min())
    np.testing.assert_array_equal(same.hits, leg.hits)
    np.testing.assert_allclose(back.b, ball.b, atol=1e-7)
    np.testing.assert_allclose(back.v, -ball.v, atol=1e-7)


@pytest.mark.parametrize("scatter", [NO_SCATTERING, 1, 7])
def test_agrees_with_the_slow_twin(space, scatter):
    ball = some_ball(space, 1)
    expected, integral, errors, length, events = slow_twin(
        space, ball, 60, scatter, np.random.default_rng(0)
    )
    end, leg = advance(space, ball, np.random.default_rng(0), 60, scatter)
    # As for hard walls: rounding divided by the smallest margins and speeds on the way.
    np.testing.assert_allclose(end.b, expected.b, atol=1e-8)
    np.testing.assert_allclose(end.v, expected.v, atol=1e-8)
    np.testing.assert_allclose(leg.integral, integral, atol=1e-7)
    np.testing.assert_allclose([leg.length, leg.errors], [length, errors], rtol=1e-8)
    hit = [c for c, _ in events]
    np.testing.assert_array_equal(leg.hits, np.bincount(hit, minlength=len(space.signs)))


@pytest.mark.parametrize("scatter", [NO_SCATTERING, 100])
def test_knows_on_which_side_it_is(space, rng, scatter):
    ball = some_ball(space, 2)
    d, u = space.margins(np.stack(ball))
    side = np.sign(d)
    d, u, n = d * side, u * side, 100_000
    gram = space.gram
    end = compiled.fly(
        compiled.Walls(gram.matrix, gram.factor, gram.extent, space.signs, wall_costs(space)),
        compiled.Motion(ball.b, 0 * d, ball.v, 0 * d),
        compiled.Margins(d, u, side),
        *(n, scatter, rng, compiled.Schedule(np.inf, np.inf, 0)),
    )
    flight = compiled.Flight(*end)
    end = Ball(
        flight.b_base + space.combine(flight.b_coef), flight.v_base + space.combine(flight.v_coef)
    )
    np.testing.assert_array_equal(side < 0, is_wrong(space, end))
    # n roundings of 1e-16 add up to 1e-11 at worst, or to 1e-9 for coefficients of size 100.
    np.testing.assert_allclose(side * space.margins(end.b), d, atol=1e-8)
    np.testing.assert_allclose(side * space.margins(end.v), u, atol=1e-8)


def test_calls_of_any_length_make_the_same_trajectory(space, monkeypatch):
    ball, rng = some_ball(space, 3), np.random.default_rng(0)
    whole, leg = advance(space, ball, rng, 60)
    monkeypatch.setattr(ball_module, "WALL_UPDATES_PER_CALL", 7 * len(space.signs))
    calls, other = advance(space, ball, rng, 60)
    np.testing.assert_allclose(calls.b, whole.b, atol=1e-8)
    np.testing.assert_allclose(other.integral, leg.integral, atol=1e-7)
    np.testing.assert_allclose(other.errors, leg.errors, atol=1e-7)
    # Recompute margins at every wall, where their signs are mere rounding.
    for _ in range(60):
        ball, _ = advance(space, ball, rng, 1)
    np.testing.assert_allclose(ball.b, whole.b, atol=1e-7)
    np.testing.assert_allclose(ball.v, whole.v, atol=1e-7)


@pytest.mark.parametrize("scatter", [NO_SCATTERING, 1, 5])
def test_integrals_are_those_of_the_path(space, scatter):
    ball, n = some_ball(space, 4), 20_000
    _, leg = advance(space, ball, np.random.default_rng(0), 30, scatter)
    _, same = advance(space, ball, np.random.default_rng(0), 30, scatter, leg.length / n, n)
    base, coef = np.hsplit(same.draws, [space.gram.rank])
    positions = base + space.combine(coef)
    # The midpoint rule has an error of (length / n)^2 times the jump of v at each of 30 kinks,
    # and of length / n at each of 30 jumps in the number of errors.
    atol = 30 * 10 * (leg.length / n) ** 2 + leg.length * 1e-8
    np.testing.assert_allclose(positions.mean(axis=0) * leg.length, leg.integral, atol=atol)
    errors = np.sum(space.margins(positions) < 0, axis=1)
    np.testing.assert_allclose(errors.mean() * leg.length, leg.errors, atol=30 * leg.length / n)


def test_equal_and_opposite_points_are_one_wall():
    space = contradictory_space(0.1)
    cost = wall_costs(space) / space.error_cost
    # Votes: (1, 0.2) has two against one, its opposite (-2, -0.4) one against two, (0.3, 1) one
    # against one. The origin has no wall.
    np.testing.assert_allclose(np.sort(cost[cost > 0]), [0, 1, 2, 2], atol=1e-9)
    # The costs of walls equal the costs of errors up to a constant.
    w = np.random.default_rng(0).standard_normal((100, 2))
    wrong = space.margins(w) < 0
    assert np.ptp(wrong.sum(axis=1) - wrong @ cost) < 1e-9


def test_hard_walls_cost_everything():
    assert np.all(wall_costs(teacher_space(5, 3, 0)) == np.inf)


# The law


def sample(space, n_chains=24, n_bounces=20_000, scatter=8, seed=0):
    """Return statistics of several independent balls, one ball per row.

    The columns are: mean unit hypothesis, mean number of errors, mean squared length and speed
    relative to the rank, and the frequencies of 0, 1, ... errors.
    """
    rank, m = space.gram.rank, len(space.signs)
    length = np.sqrt(2) * special.gamma((rank + 1) / 2) / special.gamma(rank / 2)
    rows = []
    for rng in np.random.default_rng(seed).spawn(n_chains):
        ball = new_ball(space, guess(space, rng), rng)
        ball, leg = advance(space, ball, rng, 1000, scatter)
        spacing, n_draws = leg.length / 1000, n_bounces
        _, leg = advance(space, ball, rng, n_bounces, scatter, spacing, n_draws)
        base, coef = np.hsplit(leg.draws, [rank])
        draws = base + space.combine(coef)
        counts = np.bincount(np.sum(space.margins(draws) < 0, axis=1), minlength=m + 1)
        mean = leg.integral / leg.length / length
        square = np.mean(draws**2)
        rows.append([*mean, leg.errors / leg.length, square, *counts / len(draws)])
    return np.array(rows)


def statistics(space, w, weights):
    """Return the same statistics for weighted unit vectors w, and their standard errors."""
    n_errors = np.sum(space.margins(w) < 0, axis=1)
    p = weights * np.exp(-space.error_cost * (n_errors - n_errors.min()))
    p /= p.sum()
    levels = n_errors[:, None] == np.arange(len(space.signs) + 1)
    values = np.column_stack([w, n_errors, np.ones(len(w)), levels])
    mean = p @ values
    return mean, np.sqrt(p**2 @ (values - mean) ** 2)


def on_the_circle(space, n=400_000):
    """Return the exact statistics in two dimensions."""
    angle = (np.arange(n) + 0.5) * 2 * np.pi / n
    w = np.column_stack([np.cos(angle), np.sin(angle)])
    mean, _ = statistics(space, w, np.ones(n))
    # Half a grid step at each border between cells.
    return mean, np.full_like(mean, len(space.signs) * 2 / n)


def by_importance(space, n=400_000):
    """Return the statistics from weighted draws of the prior."""
    w = np.random.default_rng(1).standard_normal((n, space.gram.rank))
    return statistics(space, module.unit_rows(w), np.ones(n))


def mean_and_error(rows):
    return rows.mean(axis=0), rows.std(axis=0, ddof=1) / np.sqrt(len(rows))


def assert_same(one, other, n):
    """Compare means whose standard errors come from at least n independent numbers, or are exact.

    Each comparison fails with probability 1e-4. Numbers of errors that never occur have no
    spread: their frequency must be below 1e-4 too.
    """
    std_error = np.hypot(one[1], other[1])
    assert np.all(np.abs(one[0] - other[0]) <= stats.t.isf(0.5e-4, n - 1) * std_error + 1e-4)


def assert_law(space, truth, **options):
    rows = sample(space, **options)
    assert_same(mean_and_error(rows), truth(space), len(rows))


@pytest.mark.parametrize("scatter", [1, 8, 40])
@pytest.mark.parametrize("label_noise", [0.02, 0.1, 0.3, 0.4999])
def test_law_in_the_plane(label_noise, scatter):
    assert_law(noisy_space(7, 2, 2, label_noise), on_the_circle, scatter=scatter)


def with_the_origin(space):
    """Return the exact statistics; the ball counts a point at the origin half the time."""
    exact, step = on_the_circle(space)
    exact[2] += np.sum(np.diagonal(space.gram.matrix) == 0) / 2
    return exact, step


@pytest.mark.parametrize("label_noise", [0.05, 0.2])
def test_law_with_contradictions(label_noise):
    assert_law(contradictory_space(label_noise), with_the_origin)


def test_a_cost_for_each_of_two_equal_points_fails_the_law(monkeypatch):
    space = contradictory_space(0.2)
    costs = space.error_cost * np.diagonal(space.gram.matrix)
    monkeypatch.setattr(ball_module, "wall_costs", lambda space: costs)
    with pytest.raises(AssertionError):
        assert_law(space, with_the_origin)


def test_law_of_two_points():
    space = VersionSpace(unit_gram(np.array([[1.0, 0.6], [0.6, 1.0]]), 0.0), np.ones(2))
    assert_law(space._replace(label_noise=0.1), on_the_circle, scatter=1)


@pytest.mark.parametrize("label_noise", [0.05, 0.25])
@pytest.mark.parametrize("seed", range(3))
def test_law_in_three_dimensions(seed, label_noise):
    assert_law(noisy_space(9, 3, seed, label_noise), by_importance)


WRONG = {
    "passes for free": ("leave = math.sqrt(energy)", "leave = abs(normal)"),
    "never regains speed": ("2.0 * side[c] * cost[c]", "2.0 * max(side[c], 0.0) * cost[c]"),
    "needs twice the energy": ("2.0 * side[c] * cost[c]", "4.0 * side[c] * cost[c]"),
    "never passes": ("energy > 0.0", "energy > 0.0 and side[c] < 0.0"),
    "normal normal component": (
        "r = math.sqrt(-2.0 * math.log(1.0 - rng.random()))",
        "r = abs(rng.standard_normal())",
    ),
    "scatters on the sphere": ("g_b, norm = 0.0, 1.0\n", "norm = 1.0\n"),
    "looks where it is": ("scattered = wait < 1", "scattered = wait < 1 + (side[c] < 0.0)"),
}


QUICK = ("passes for free", "scatters on the sphere")


@pytest.mark.parametrize("wrong", slow_but_for(WRONG, *QUICK))
def test_a_broken_billiard_fails_the_law(wrong, monkeypatch):
    monkeypatch.setattr(compiled, "fly", mutant(compiled, *WRONG[wrong]).fly)
    with pytest.raises(AssertionError):
        assert_law_of_three()


def test_the_right_billiard_passes_where_the_broken_ones_fail():
    assert_law_of_three()


def assert_law_of_three():
    assert_law(noisy_space(7, 2, 2, 0.1), on_the_circle)
    assert_law(noisy_space(7, 2, 3, 0.2), on_the_circle)
    assert_law(noisy_space(9, 3, 0, 0.2), by_importance)


def elliptical_slices(space, n_chains, n_steps, rng):
    """Return mean margins and errors, one chain per row (Murray, Adams, MacKay, 2010)."""
    walls, rows = space.walls, np.arange(n_chains)
    margins = rng.standard_normal((n_chains, space.gram.rank)) @ walls.T
    total = np.zeros((n_chains, len(walls) + 1))
    for step in range(n_steps + n_steps // 5):
        other = rng.standard_normal((n_chains, space.gram.rank)) @ walls.T
        threshold = np.sum(margins < 0, axis=1) + rng.exponential(size=n_chains) / space.error_cost
        angle = rng.uniform(0, 2 * np.pi, n_chains)
        low, high = angle - 2 * np.pi, angle.copy()
        todo, moved = rows, margins.copy()
        while len(todo):
            t = angle[todo, None]
            moved[todo] = margins[todo] * np.cos(t) + other[todo] * np.sin(t)
            todo = todo[np.sum(moved[todo] < 0, axis=1) > threshold[todo]]
            low[todo] = np.where(angle[todo] < 0, angle[todo], low[todo])
            high[todo] = np.where(angle[todo] < 0, high[todo], angle[todo])
            angle[todo] = rng.uniform(low[todo], high[todo])
        margins = moved
        if step >= n_steps // 5:
            total += np.column_stack([margins, np.sum(margins < 0, axis=1)])
    return total / n_steps


@pytest.mark.parametrize("softness", [0.0, 0.1])
def test_agrees_with_elliptical_slice_sampling(softness):
    space = rbf_space(60, softness, seed=4)._replace(label_noise=0.1)
    rank = space.gram.rank
    length = np.sqrt(2) * np.exp(special.gammaln((rank + 1) / 2) - special.gammaln(rank / 2))
    rows = []
    for seed in range(12):
        posterior = Billiard(tol=0.03).solve(space, np.random.default_rng(seed))
        assert posterior.info["mixed"]
        margins = space.margins(space.combine(posterior.coef))
        rows.append(np.append(margins * length, posterior.info["errors"]))
    slices = elliptical_slices(space, 24, 2500, np.random.default_rng(0))
    assert_same(mean_and_error(np.array(rows)), mean_and_error(slices), len(rows))


def test_little_noise_is_the_hard_billiard():
    space = teacher_space(20, 4, seed=1)
    start = space.enter(np.random.default_rng(0))
    hard, noisy = (
        Billiard(tol=0.005).solve(
            space._replace(label_noise=label_noise), np.random.default_rng(0), start=start
        )
        for label_noise in (0.0, 1e-9)
    )
    assert noisy.info["errors"] < 1e-6
    one, other = space.combine(hard.coef), space.combine(noisy.coef)
    angle = np.hypot(hard.info["angle"], noisy.info["angle"])
    assert angle_between(one, other) <= 3 * angle
    # The length of a normal vector adds a relative variance of at most 1 / (2 rank).
    std_error = np.sqrt(1 / hard.info["ess"] + 2 / noisy.info["ess"])
    assert abs(np.linalg.norm(one) - np.linalg.norm(other)) <= 3 * std_error


def test_error_bar_is_honest():
    # As for hard walls: 30 runs with at least 4 effective dimensions.
    space = rbf_space(30, 0.0)._replace(label_noise=0.1)
    truth = Billiard(tol=0.005, n_bounces=20_000_000).solve(space, np.random.default_rng(0))
    ratios = []
    for seed in range(1, 31):
        posterior = Billiard(tol=0.1).solve(space, np.random.default_rng(seed))
        angle = angle_between(space.combine(posterior.coef), space.combine(truth.coef))
        ratios.append(angle / posterior.info["angle"])
    assert 0.5 < np.sqrt(np.mean(np.square(ratios))) < 1.3


# Behavior


def test_the_mean_hypothesis_is_never_longer_than_one():
    # Version space is narrow and has few dimensions, so the length varies most.
    space = teacher_space(40, 3, 2)._replace(label_noise=1e-9)
    start = space.enter(np.random.default_rng(0))
    for seed in range(3):
        posterior = Billiard().solve(space, np.random.default_rng(seed), start=start)
        length = np.linalg.norm(space.combine(posterior.coef))
        # The relative standard deviation of the length is 0.42 in three dimensions.
        assert 1 - 4 * 0.42 / np.sqrt(posterior.info["ess"]) < length < 1 + 1e-12


def test_draws_are_unit_hypotheses_with_their_mean():
    space = rbf_space(40, 0.1)._replace(label_noise=0.1)
    posterior = Billiard(tol=0.01, n_draws=2000).solve(space, np.random.default_rng(0))
    draws, mean = space.combine(posterior.draws), space.combine(posterior.coef)
    np.testing.assert_allclose(np.linalg.norm(draws, axis=1), 1)
    # Draws of one ball are about pi / 10 apart: count one in ten as independent.
    std_error = draws.std(axis=0) / np.sqrt(len(draws) / 10)
    assert np.all(np.abs(draws.mean(axis=0) - mean) <= 4.5 * std_error)
    errors = np.sum(space.margins(draws) < 0, axis=1)
    std_error = errors.std() / np.sqrt(len(draws) / 10)
    assert abs(errors.mean() - posterior.info["errors"]) <= 4.5 * std_error


def test_hard_walls_make_no_errors():
    assert Billiard().solve(orthant_space(4), np.random.default_rng(0)).info["errors"] == 0
    line = VersionSpace(unit_gram(np.ones((2, 2)), 0.0), np.ones(2))
    assert Billiard().solve(line, np.random.default_rng(0)).info["errors"] == 0


def test_points_on_a_line_have_an_exact_answer():
    space = VersionSpace(unit_gram(np.ones((3, 3)), 0.0), np.array([1.0, 1, -1]), None, 0.2)
    posterior = Billiard(n_draws=1000).solve(space, np.random.default_rng(0))
    # One error or two, with odds of 0.8 / 0.2.
    np.testing.assert_allclose(space.combine(posterior.coef) * space.gram.factor[0], 0.8 - 0.2)
    np.testing.assert_allclose(posterior.info["errors"], 0.8 + 2 * 0.2)
    assert np.sum(space.combine(posterior.draws) * space.gram.factor[0] > 0) == 800


def test_contradictory_labels_with_hardly_any_noise_are_admitted():
    # Cells with more errors separate the cells with the fewest, and are never entered.
    space = noisy_space(7, 2, 2, 1e-12)
    posterior = Billiard(n_bounces=200_000).solve(space, np.random.default_rng(0))
    assert np.isfinite(posterior.coef).all()
    assert not posterior.info["mixed"]
    w = module.unit_rows(np.random.default_rng(0).standard_normal((10_000, 2)))
    fewest = np.sum(space.margins(w) < 0, axis=1).min()
    assert fewest <= posterior.info["errors"] < len(space.signs) / 2


def test_labels_that_cancel_leave_the_prior():
    K = np.array([[1.0, 1.0, 0.3, 0.3]] * 2 + [[0.3, 0.3, 1.0, 1.0]] * 2)
    space = VersionSpace(unit_gram(K, 0.0), np.array([1.0, -1, 1, -1]), None, 0.01)
    posterior = Billiard(n_bounces=100_000).solve(space, np.random.default_rng(0))
    np.testing.assert_allclose(posterior.info["errors"], 2)
    std_error = 1 / np.sqrt(posterior.info["ess"])
    assert np.linalg.norm(space.combine(posterior.coef)) <= 3 * std_error


def test_points_at_the_origin_alone_are_an_error():
    space = VersionSpace(unit_gram(np.zeros((2, 2)), 0.0), np.array([1.0, -1]), None, 0.1)
    with pytest.raises(ValueError, match="origin"):
        Billiard().solve(space, np.random.default_rng(0))


@pytest.mark.parametrize("algorithm", ["herbrich", "flipper"])
def test_published_algorithms_have_hard_walls(algorithm):
    space = rbf_space(10, 0.1)._replace(label_noise=0.1)
    with pytest.raises(ValueError, match="geodesic"):
        Billiard(algorithm=algorithm).solve(space, np.random.default_rng(0))


@pytest.mark.parametrize("n_bounces", [1, 8, 1000, 12_345])
def test_stops_at_n_bounces(n_bounces):
    space = rbf_space(30, 0.0)._replace(label_noise=0.1)
    posterior = Billiard(tol=0, n_bounces=n_bounces).solve(space, np.random.default_rng(0))
    assert posterior.info["stop"] == "n_bounces"
    assert posterior.info["n_bounces"] <= max(n_bounces, 8)
    np.testing.assert_allclose(np.linalg.norm(space.combine(posterior.draws), axis=1), 1)


def test_stops_at_the_deadline():
    space, solver = rbf_space(50, 0.1)._replace(label_noise=0.1), Billiard(tol=0, n_bounces=10**12)
    solver.solve(space, np.random.default_rng(0), deadline=0)  # compile first
    with processor_time_below(5):  # a call takes about 50 ms for each of 8 balls
        deadline = time.perf_counter() + 0.3
        posterior = solver.solve(space, np.random.default_rng(0), deadline=deadline)
    assert posterior.info["stop"] == "max_time"


def test_interrupt_keeps_the_answer(monkeypatch):
    calls = []

    def interrupted(*args, **kwargs):
        calls.append(args)
        if len(calls) == 8 * 3 + 4:
            raise KeyboardInterrupt
        return advance(*args, **kwargs)

    monkeypatch.setattr(module, "advance", interrupted)
    space = rbf_space(30, 0.1)._replace(label_noise=0.1)
    posterior = Billiard(tol=0).solve(space, np.random.default_rng(0))
    assert posterior.info["stop"] == "interrupted"
    assert np.isfinite(posterior.coef).all()


def test_same_seed_same_answer_whatever_n_jobs():
    space = rbf_space(60, 0.0)._replace(label_noise=0.1)
    one, two, other = (
        Billiard().solve(space, np.random.default_rng(seed), n_jobs=n_jobs)
        for seed, n_jobs in [(0, 1), (0, 2), (1, 1)]
    )
    np.testing.assert_array_equal(one.coef, two.coef)
    np.testing.assert_array_equal(one.draws, two.draws)
    assert one.info["errors"] == two.info["errors"]
    assert not np.array_equal(one.coef, other.coef)


def test_every_start_gives_the_same_answer():
    space = rbf_space(40, 0.1)._replace(label_noise=0.1)
    default = Billiard(tol=0.02).solve(space, np.random.default_rng(0))
    worst = -space.combine(default.coef)
    other = Billiard(tol=0.02).solve(space, np.random.default_rng(0), start=worst)
    angle = np.hypot(default.info["angle"], other.info["angle"])
    assert angle_between(space.combine(default.coef), space.combine(other.coef)) <= 3 * angle
