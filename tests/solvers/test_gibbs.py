import time

import numpy as np
import pytest
from scipy import stats

import bayespoint._jit.gibbs as compiled
from bayespoint.geometry.conflicts import NoVersionSpaceError
from bayespoint.geometry.gram import unit_gram
from bayespoint.geometry.version_space import VersionSpace
from bayespoint.solvers import Billiard, Gibbs
from bayespoint.solvers import gibbs as module
from bayespoint.solvers.gibbs import Target, advance
from bayespoint.solvers.rounds import MAX_R_HAT
from helpers import (
    angle_between,
    ctrl_c,
    orthant_space,
    processor_time_below,
    rbf_space,
    teacher_space,
)
from mutants import interpreted

# With a new seed, a statistical check fails by chance with this probability.
SIGNIFICANCE = 1e-4


def noisy(space, label_noise, flips=0):
    """Flip the first labels and set the label noise."""
    signs = space.signs.copy()
    signs[:flips] *= -1
    return space._replace(signs=signs, label_noise=label_noise)


SPACES = {
    "linear": lambda: noisy(teacher_space(20, 5, seed=1), 0.1, flips=3),
    "soft rbf": lambda: noisy(rbf_space(40, 0.1), 0.05),
    "hard rbf": lambda: noisy(rbf_space(15, 0.0, seed=3), 0.2),
    "plane": lambda: noisy(teacher_space(7, 2, seed=5), 0.3),
    "line": lambda: noisy(teacher_space(4, 1, seed=0), 0.2, flips=1),
    "no noise": lambda: teacher_space(20, 5, seed=1),
    "soft, no noise": lambda: rbf_space(40, 0.1),
    "hard rbf, no noise": lambda: rbf_space(15, 0.0, seed=3),
}


@pytest.fixture(params=SPACES, ids=str)
def space(request):
    return SPACES[request.param]()


def new_start(space, rng):
    if space.label_noise == 0:
        return space.enter(rng)
    return rng.standard_normal(space.gram.rank)


def count_errors(space, w):
    return np.sum(space.margins(w) <= 0, axis=-1)


def weights_of(space, errors):
    """Return the posterior weight for each number of errors, relative to the fewest."""
    fewer = errors - errors.min()
    return np.where(fewer == 0, 1.0, np.exp(-space.error_cost * np.maximum(fewer, 1)))


# Geometry


def rotated(space, target):
    """Return the walls in the axes of the target, one in each row."""
    return space.walls @ target.axes


def test_pieces_have_the_posterior_of_the_half_circle(space, rng):
    target, n, m = Target.of(space), 4000, len(space.signs)
    times = (np.arange(n) + 0.5) * np.pi / n
    words, wall, t = np.zeros(m // 8 + 1, np.uint64), np.empty(m, int), np.empty(m)
    mass = np.empty(m + 1)
    for _ in range(10):
        w = new_start(space, rng) @ target.axes
        k, radius = rng.integers(len(w)), np.hypot(*rng.standard_normal(2))
        radius = max(radius, abs(w[k]))
        s = target.columns[k]
        n_met = compiled.cross(w[k], radius, s, w @ target.columns, words, wall, t)
        mean = compiled.weigh(n_met, wall, t, s, target.penalty, mass)
        edges, masses = [0, *t[:n_met], np.pi], [0, *mass[: n_met + 1]]
        assert np.all(np.diff(edges) >= 0)
        assert np.all(np.diff(masses) >= 0)
        positions = np.tile(w, (n, 1))
        positions[:, k] = radius * np.cos(times)
        errors = np.sum(positions @ target.columns <= 0, axis=1)
        weights = weights_of(space, errors) * np.pi / n
        expected = np.cumsum(weights)
        found = np.interp(times + np.pi / n / 2, edges, masses)
        # Each wall falls into one cell of the grid, where the weight is wrong by at most one. So
        # the share of a part is wrong by at most twice that, divided by the whole.
        atol = 2 * (n_met + 1) * (np.pi / n) / expected[-1]
        np.testing.assert_allclose(found / masses[-1], expected / expected[-1], atol=atol)
        assert abs(mean - weights @ np.cos(times) / expected[-1]) <= atol


def draw_on_circle(here, margins, slopes, space, rng):
    """Return a coordinate, given all others, and its mean on the half circle; plain NumPy."""
    radius = np.hypot(here, rng.standard_normal())
    with np.errstate(divide="ignore", invalid="ignore"):
        zeros = (here - margins / slopes) / radius
    edges = np.concatenate([[0], np.sort(np.arccos(zeros[np.abs(zeros) < 1])), [np.pi]])
    middles = radius * np.cos((edges[1:] + edges[:-1]) / 2)
    errors = np.sum(margins + np.outer(middles - here, slopes) <= 0, axis=1)
    weights = weights_of(space, errors)
    cumulated = np.concatenate([[0], np.cumsum(np.diff(edges) * weights)])
    mean = radius * (weights @ np.diff(np.sin(edges))) / cumulated[-1]
    return radius * np.cos(np.interp(rng.random() * cumulated[-1], cumulated, edges)), mean


def slow_twin(space, target, w, n_sweeps, rng):
    """Draw margins, then coordinates, one after the other; return samples and mean coordinates."""
    walls, w, samples, means = rotated(space, target), w @ target.axes, [], []
    for _ in range(n_sweeps):
        if len(target.inverse):
            for u in np.linalg.inv(walls).T:  # moves along u change one margin
                u = u / np.linalg.norm(u)
                # Other walls do not move, so their sides do not count.
                moves = walls @ u
                moves[np.abs(moves) < 1e-9] = 0
                w = w + u * (draw_on_circle(w @ u, walls @ w, moves, space, rng)[0] - w @ u)
        mean = np.empty(len(w))
        for k in range(len(w)):
            w[k], mean[k] = draw_on_circle(w[k], walls @ w, walls[:, k], space, rng)
        samples.append(target.axes @ w)
        means.append(target.axes @ mean)
    return np.array(samples), np.array(means)


def test_agrees_with_the_slow_twin(space):
    target, w = Target.of(space), new_start(space, np.random.default_rng(0))
    samples, means = slow_twin(space, target, w, 5, np.random.default_rng(1))
    end, leg = advance(target, w, np.random.default_rng(1), 5)
    # Rounding of 1e-16 is amplified where the circle is tangent to a wall, and by the inverse.
    np.testing.assert_allclose(end, samples[-1], atol=1e-8)
    # Mean directions are mean vectors divided by the mean length of a normal vector.
    expected = means.sum(axis=0) / stats.chi(len(w)).mean()
    np.testing.assert_allclose(leg.means, expected, atol=1e-8)
    units = samples / np.linalg.norm(samples, axis=1, keepdims=True)
    np.testing.assert_allclose(leg.units, units.sum(axis=0), atol=1e-8)
    np.testing.assert_allclose(leg.draws, [end / np.linalg.norm(end)], atol=1e-9)
    if space.label_noise:
        np.testing.assert_array_equal(leg.hits, np.sum(space.margins(samples) <= 0, axis=0))
    else:
        # A piece ends at two walls, or at fewer if the half circle ends first.
        assert 0 < leg.hits.sum() <= 2 * 5 * len(w)


def test_calls_of_any_length_take_the_same_samples(space, monkeypatch):
    target, w = Target.of(space), new_start(space, np.random.default_rng(0))
    whole, leg = advance(target, w, np.random.default_rng(1), 12)
    monkeypatch.setattr(module, "MARGINS_PER_CALL", 1)
    parts, other = advance(target, w, np.random.default_rng(1), 12)
    np.testing.assert_allclose(parts, whole, atol=1e-9)
    np.testing.assert_allclose(other.means, leg.means, atol=1e-9)
    assert len(other.draws) == 12
    _, short = advance(target, w, np.random.default_rng(1), 12, should_stop=lambda: True)
    assert short.n_samples == 1


def test_leaves_the_hypothesis_it_was_given_alone(space, rng):
    w = new_start(space, rng)
    before = w.copy()
    advance(Target.of(space), w, rng, 3)
    np.testing.assert_array_equal(w, before)


@pytest.mark.parametrize("name", [name for name in SPACES if "no noise" in name])
def test_never_leaves_version_space(name, rng):
    space = SPACES[name]()
    _, leg = advance(Target.of(space), space.enter(rng), rng, 2000, n_draws=2000)
    # Margins are updated at most a few hundred times before they are recomputed.
    assert space.margins(leg.draws).min() > -1e-13
    np.testing.assert_allclose(np.linalg.norm(leg.draws, axis=1), 1)


def test_margins_do_not_drift(space, rng):
    target, w = Target.of(space), new_start(space, rng)
    d, n = space.margins(w), 2000
    w = w @ target.axes
    compiled.sweep(target.columns, target.inverse, w, d, target.penalty, n, rng)
    # Each step rounds a margin, which is below ten, with a relative error of 1e-16. The inverse
    # multiplies this error in the coordinates that follow from margins.
    condition = 1 + np.abs(target.inverse).max(initial=0.0)
    np.testing.assert_allclose(d, w @ target.columns, atol=1e-15 * n * len(w) * condition)


# The law


def brute_force(space, rng, n=400_000):
    """Return means of unit hypothesis and errors from weighted prior draws, and covariance."""
    w = rng.standard_normal((n, space.gram.rank))
    errors = count_errors(space, w)
    x = np.column_stack([w / np.linalg.norm(w, axis=1, keepdims=True), errors])
    weights = weights_of(space, errors)
    weights /= weights.sum()
    mean = weights @ x
    off = (x - mean) * weights[:, None]
    return mean, off.T @ off


def in_the_plane(space, n=0):
    """Return the same means in two dimensions, by integration over the angle."""
    normals = np.arctan2(*space.walls.T[::-1])
    edges = np.sort(np.concatenate([normals + np.pi / 2, normals - np.pi / 2]) % (2 * np.pi))
    edges = np.append(edges, edges[0] + 2 * np.pi)
    middle = (edges[1:] + edges[:-1]) / 2
    errors = count_errors(space, np.column_stack([np.cos(middle), np.sin(middle)]))
    weights = weights_of(space, errors)
    total = weights @ np.diff(edges)
    sums = weights @ np.diff(np.column_stack([np.sin(edges), -np.cos(edges)]), axis=0)
    return np.append(sums, weights * errors @ np.diff(edges)) / total, np.zeros((3, 3))


def law_p_value(space, mean, covariance, seed=0, n_chains=64, n_samples=2000):
    """Test whether means of independent chains have the expected mean (Hotelling)."""
    target, found = Target.of(space), []
    for rng in np.random.default_rng(seed).spawn(n_chains):
        w, _ = advance(target, new_start(space, rng), rng, 100)
        _, leg = advance(target, w, rng, n_samples)
        errors = leg.hits.sum() if space.label_noise else 0
        found.append(np.append(leg.means, errors) / leg.n_samples)
    if not space.label_noise:
        found, mean, covariance = np.array(found)[:, :-1], mean[:-1], covariance[:-1, :-1]
    off = np.mean(found, axis=0) - mean
    covariance = covariance + np.cov(found, rowvar=False) / n_chains
    p, n = len(off), n_chains - 1
    square = off @ np.linalg.solve(covariance, off)
    return stats.f.sf(square * (n - p + 1) / (n * p), p, n - p + 1)


@pytest.mark.parametrize("label_noise", [0.0, 0.05, 0.3])
@pytest.mark.parametrize("seed", [0, 1])
def test_law_in_the_plane(seed, label_noise):
    space = noisy(teacher_space(6, 2, seed), label_noise, flips=2 * (label_noise > 0))
    assert law_p_value(space, *in_the_plane(space), seed) > SIGNIFICANCE


@pytest.mark.parametrize("label_noise", [0.0, 0.05, 0.3])
@pytest.mark.parametrize("n_dimensions", [2, 3])
def test_law_agrees_with_the_weighted_prior(n_dimensions, label_noise, rng):
    space = teacher_space(8, n_dimensions, seed=3)
    space = noisy(space, label_noise, flips=2 * (label_noise > 0))
    assert law_p_value(space, *brute_force(space, rng)) > SIGNIFICANCE


@pytest.mark.parametrize("softness", [0.0, 0.2])
def test_law_of_a_kernel(softness, rng):
    space = noisy(rbf_space(5, softness), 0.2)
    assert law_p_value(space, *brute_force(space, rng)) > SIGNIFICANCE


WRONG_COORDINATES = {
    "ignores errors": ("penalty[int(errors[k] - fewest)]", "1.0"),
    "ignores lengths": ("total += weight * (end - begin)", "total += weight"),
    "turns errors around": ("s[wall[k]] > 0", "s[wall[k]] < 0"),
    "flat instead of normal": (
        "radius * math.cos(angle)",
        "radius * (1.0 - 2.0 * angle / math.pi)",
    ),
    "takes middles": ("(x - before) / (mass[c] - before)", "0.5"),
    "forgets a margin": ("d[j] += step * s[j]", "d[j] += step * s[j] * (j > 0)"),
    "wrong mean": ("(end_sine - sine)", "(end_sine - sine) * (k + 1)"),
}
WRONG_MARGINS = {
    "ignores errors": ("penalty * (math.pi - t)", "(math.pi - t)"),
    "ignores the rest": ("here, other = coef[i] * deviation", "here, other = d[i] / deviation"),
    "wrong variance": ("1.0 / math.sqrt(inverse[i, i])", "1.0 / inverse[i, i]"),
    "flat instead of normal": (
        "math.cos(angle) * radius",
        "(1.0 - 2.0 * angle / math.pi) * radius",
    ),
    "forgets a coefficient": ("coef[j] += step * row[j]", "coef[j] += step * row[j] * (j > 0)"),
}


@pytest.mark.parametrize("wrong", [None, *WRONG_COORDINATES])
def test_a_broken_sampler_fails_the_law(wrong, monkeypatch):
    broken = interpreted(compiled, *WRONG_COORDINATES.get(wrong, ()))
    monkeypatch.setattr(compiled, "sweep", broken.sweep)
    space = noisy(teacher_space(6, 2, 0), 0.05, flips=2)
    p_value = law_p_value(space, *in_the_plane(space), n_chains=32, n_samples=100)
    assert (p_value > SIGNIFICANCE) == (wrong is None)


@pytest.mark.parametrize("wrong", [None, *WRONG_MARGINS])
def test_a_sampler_with_broken_margins_fails_the_law(wrong, monkeypatch):
    broken = interpreted(compiled, *WRONG_MARGINS.get(wrong, ()))
    monkeypatch.setattr(compiled, "sweep", broken.sweep)
    space = noisy(rbf_space(2, 0.3), 0.1)
    assert Target.of(space).inverse.shape == (2, 2)
    p_value = law_p_value(space, *in_the_plane(space), n_chains=32, n_samples=600)
    assert (p_value > SIGNIFICANCE) == (wrong is None)


def test_the_wrong_label_noise_fails_the_law():
    space = noisy(teacher_space(6, 2, 0), 0.05, flips=2)
    mean, covariance = in_the_plane(space._replace(label_noise=0.06))
    assert law_p_value(space, mean, covariance) < SIGNIFICANCE


@pytest.mark.parametrize("name", [name for name in SPACES if "no noise" in name])
def test_agrees_with_the_billiard(name):
    space = SPACES[name]()
    rng = np.random.default_rng(0)
    gibbs, billiard = (solver.solve(space, rng) for solver in (Gibbs(tol=0.03), Billiard(tol=0.01)))
    angle = np.hypot(gibbs.info["angle"], billiard.info["angle"])
    ours, theirs = space.combine(gibbs.coef), space.combine(billiard.coef)
    assert angle_between(ours, theirs) <= 3 * angle
    # The variance of a single hypothesis along the mean is at most its total variance.
    length = np.linalg.norm(ours)
    spread = np.sqrt((1 - length**2) * (1 / gibbs.info["ess"] + 1 / billiard.info["ess"]))
    assert abs(length - np.linalg.norm(theirs)) <= 3 * spread


def test_draws_have_the_law_of_the_angle():
    space = noisy(teacher_space(6, 2, 0), 0.1, flips=2)
    # Each chain has 64 samples and gives one draw, so draws are independent.
    solver = Gibbs(n_chains=500, n_draws=500, n_samples=500 * module.FIRST_ROUND_SAMPLES)
    posterior = solver.solve(space, np.random.default_rng(0))
    draws = space.combine(posterior.draws)
    n = 100_000
    grid = (np.arange(n) + 0.5) * 2 * np.pi / n
    errors = count_errors(space, np.column_stack([np.cos(grid), np.sin(grid)]))
    cdf = np.cumsum(weights_of(space, errors))
    angles = np.arctan2(draws[:, 1], draws[:, 0]) % (2 * np.pi)
    result = stats.kstest(angles, lambda t: np.interp(t, grid, cdf / cdf[-1]))
    assert result.pvalue > SIGNIFICANCE


def test_error_bar_is_honest():
    # As in the test of the billiard: 30 runs give the root mean square to 0.1, and the estimate
    # from 8 chains is itself uncertain by about 15 percent.
    space = noisy(rbf_space(20, 0.1), 0.05)
    rng = np.random.default_rng(0)
    truth = space.combine(Gibbs(tol=0.015, n_samples=10**9).solve(space, rng).coef)
    ratios = []
    for seed in range(30):
        posterior = Gibbs(tol=0.1).solve(space, np.random.default_rng(seed))
        assert posterior.info["mixed"]
        angle = angle_between(space.combine(posterior.coef), truth)
        ratios.append(angle / posterior.info["angle"])
    assert 0.5 < np.sqrt(np.mean(np.square(ratios))) < 1.3


# Special cases


def test_points_on_a_line():
    # One of three labels is wrong: the odds of the two hypotheses are exp(beta).
    space = VersionSpace(
        unit_gram(np.ones((3, 3)), 0.0), np.array([1.0, 1.0, -1.0]), label_noise=0.2
    )
    posterior = Gibbs().solve(space, np.random.default_rng(0))
    (mean,) = space.combine(posterior.coef) * np.sign(space.gram.factor[0])
    std_error = np.sqrt((1 - 0.6**2) / posterior.info["ess"])
    assert abs(mean - (1 - 2 * 0.2)) <= 4 * std_error


def test_a_single_hypothesis():
    space = VersionSpace(unit_gram(np.ones((3, 3)), 0.0), np.ones(3))
    posterior = Gibbs().solve(space, np.random.default_rng(0))
    np.testing.assert_allclose(space.margins(space.combine(posterior.coef)), 1)
    assert posterior.info["stop"] == "tol"


def test_contradictions_carry_no_information():
    # Every point has both labels, so the posterior is the prior.
    half = teacher_space(5, 3, seed=0)
    K = np.tile(half.gram.matrix, (2, 2))
    signs = np.append(half.signs, -half.signs)
    space = VersionSpace(unit_gram(K, 0.0), signs, label_noise=0.1)
    posterior = Gibbs(n_samples=20_000).solve(space, np.random.default_rng(0))
    w = space.combine(posterior.coef)
    # Three components have a variance of 1 / 3 each.
    assert np.linalg.norm(w) <= 4 * np.sqrt(1 / posterior.info["ess"])
    assert posterior.info["errors"] == 5
    with pytest.raises(NoVersionSpaceError, match="different labels"):
        Gibbs().solve(space._replace(label_noise=0.0), np.random.default_rng(0))


def test_points_at_the_origin_are_errors_and_nothing_else():
    space = noisy(teacher_space(6, 2, seed=0), 0.1, flips=1)
    K = np.pad(space.gram.matrix, [(0, 1), (0, 1)])
    more = VersionSpace(unit_gram(K, 0.0), np.append(space.signs, 1.0), label_noise=0.1)
    one, two = (Gibbs().solve(s, np.random.default_rng(0)) for s in (space, more))
    np.testing.assert_allclose(two.coef[:-1], one.coef, atol=1e-12)
    assert two.info["hits"][-1] > 0
    np.testing.assert_allclose(two.info["errors"], one.info["errors"] + 1)


# Behavior


def test_stops_at_tol_and_says_so():
    posterior = Gibbs(tol=0.1).solve(SPACES["soft rbf"](), np.random.default_rng(0))
    assert posterior.info["stop"] == "tol"
    assert posterior.info["angle"] <= 0.1
    assert posterior.info["mixed"]
    assert posterior.info["r_hat"] <= MAX_R_HAT
    assert posterior.draws.shape == (256, 40)
    assert posterior.chains.shape == (8, 40)


def test_stops_at_n_samples():
    for n_samples in [1, 8, 100, 4321]:
        posterior = Gibbs(tol=0, n_samples=n_samples).solve(
            SPACES["soft rbf"](), np.random.default_rng(0)
        )
        assert posterior.info["stop"] == "n_samples"
        assert posterior.info["n_samples"] <= max(n_samples, 8)
        assert np.isfinite(posterior.coef).all()
        assert np.isfinite(posterior.draws).all()


def test_counts_errors():
    space = SPACES["linear"]()
    posterior = Gibbs(n_draws=2000).solve(space, np.random.default_rng(0))
    errors = count_errors(space, space.combine(posterior.draws))
    # Draws and samples overlap, and some draws are correlated.
    std_error = errors.std() / np.sqrt(min(posterior.info["ess"], 2000))
    assert abs(posterior.info["errors"] - errors.mean()) <= 4 * std_error
    assert np.argmax(posterior.info["hits"]) < 3  # one of the flipped labels


def test_hits_without_noise_are_those_on_walls():
    # In an orthant each coordinate has one wall, which bounds the piece up to rounding.
    posterior = Gibbs(tol=0.1).solve(orthant_space(4), np.random.default_rng(0))
    hits = posterior.info["hits"]
    assert posterior.info["errors"] == 0
    np.testing.assert_array_equal(hits, hits[0])
    assert 0 < hits[0] <= posterior.info["n_samples"]


def test_stops_at_the_deadline():
    solver = Gibbs(tol=0, n_samples=10**12)
    solver.solve(SPACES["soft rbf"](), np.random.default_rng(0), deadline=0)  # compile first
    with processor_time_below(5):  # a call takes about 50 ms for each of 8 chains
        deadline = time.perf_counter() + 0.3
        posterior = solver.solve(SPACES["soft rbf"](), np.random.default_rng(0), deadline=deadline)
    assert posterior.info["stop"] == "max_time"


def test_ctrl_c_keeps_the_answer():
    solver = Gibbs(tol=0, n_samples=10**12)
    solver.solve(SPACES["soft rbf"](), np.random.default_rng(0), deadline=0)  # compile first
    with ctrl_c():
        limit = time.perf_counter() + 60
        posterior = solver.solve(SPACES["soft rbf"](), np.random.default_rng(0), deadline=limit)
    assert posterior.info["stop"] == "interrupted"
    assert np.isfinite(posterior.coef).all()


def test_interrupt_before_anything_is_known_is_an_interrupt(monkeypatch):
    def interrupted(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "advance", interrupted)
    with pytest.raises(KeyboardInterrupt):
        Gibbs().solve(SPACES["soft rbf"](), np.random.default_rng(0))


def test_stops_when_asked_to():
    seen = []

    def on_round(info):
        seen.append(info["n_samples"])
        return len(seen) == 3

    posterior = Gibbs(tol=0).solve(
        SPACES["soft rbf"](), np.random.default_rng(0), on_round=on_round
    )
    assert posterior.info["stop"] == "callback"
    assert len(seen) == 3
    assert seen == sorted(seen)


def test_starts_at_the_given_hypothesis(monkeypatch):
    space, starts = SPACES["no noise"](), []

    def noted(target, w, *args, **options):
        starts.append(w)
        return advance(target, w, *args, **options)

    monkeypatch.setattr(module, "advance", noted)
    start = space.enter(np.random.default_rng(5))
    Gibbs(n_samples=8).solve(space, np.random.default_rng(0), start=start)
    for w in starts[:8]:
        assert angle_between(w, start) < 1e-12


def test_same_seed_same_answer_whatever_n_jobs():
    space = SPACES["soft rbf"]()
    one, two, other = (
        Gibbs(tol=0.1).solve(space, np.random.default_rng(seed), n_jobs=n_jobs)
        for seed, n_jobs in [(0, 1), (0, 2), (1, 1)]
    )
    np.testing.assert_array_equal(one.coef, two.coef)
    np.testing.assert_array_equal(one.draws, two.draws)
    assert not np.array_equal(one.coef, other.coef)


@pytest.mark.parametrize(
    "parameters", [{"n_samples": 0}, {"n_chains": 1}, {"tol": -1}, {"n_draws": 0}]
)
def test_wrong_parameters(parameters):
    with pytest.raises(ValueError, match=next(iter(parameters))):
        Gibbs(**parameters).solve(orthant_space(3), np.random.default_rng(0))
