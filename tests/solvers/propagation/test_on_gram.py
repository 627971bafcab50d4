import numpy as np
import pytest
from scipy import stats

from bayespoint.geometry.gram import noise_share, soften
from bayespoint.solvers.propagation import approximation, on_gram
from bayespoint.solvers.propagation.approximation import approximate
from bayespoint.solvers.propagation.on_gram import (
    MIN_DAMPING,
    first_guess,
    propagate,
    update_one_by_one,
)
from bayespoint.solvers.propagation.sites import Copies, Sites, copies_of, likelihood
from ep_problems import (
    PROBLEMS,
    REACHED,
    TIGHT,
    fixed_point,
    posterior_of,
    rbf_matrix,
    slow_twin,
    tilted_moments,
)
from helpers import normal_cdf, rbf_space

# Geometry


def test_flipped_labels_flip_signs(problem):
    K, y, eta = problem
    one, two = fixed_point(K, y, eta), fixed_point(K, -y, eta)
    np.testing.assert_allclose(two.coef, -one.coef, rtol=1e-12)
    np.testing.assert_allclose(two.cavity_mean, -one.cavity_mean, rtol=1e-10, atol=1e-14)
    np.testing.assert_allclose(two.cavity_variance, one.cavity_variance, rtol=1e-12)
    assert two.log_evidence == pytest.approx(one.log_evidence, rel=1e-12)


def test_the_order_of_the_points_does_not_matter(problem, rng):
    K, y, eta = problem
    order = rng.permutation(len(y))
    one, two = fixed_point(K, y, eta), fixed_point(K[np.ix_(order, order)], y[order], eta)
    np.testing.assert_allclose(two.coef, one.coef[order], atol=REACHED)
    np.testing.assert_allclose(two.log_loo, one.log_loo[order], atol=REACHED)
    assert two.log_evidence == pytest.approx(one.log_evidence, abs=REACHED)


def test_lengths_of_the_points_do_not_matter(problem, rng):
    # An EP update does not depend on the scale of an output.
    K, y, eta = problem
    scale = np.exp(rng.standard_normal(len(y)))
    one, two = fixed_point(K, y, eta), fixed_point(K * np.outer(scale, scale), y, eta)
    np.testing.assert_allclose(two.coef * scale, one.coef, atol=REACHED)
    np.testing.assert_allclose(two.cavity_variance, one.cavity_variance * scale**2, rtol=REACHED)
    assert two.log_evidence == pytest.approx(one.log_evidence, abs=REACHED)


@pytest.mark.parametrize("tol", [1e-2, 1e-6])
def test_moments_match_to_tol(problem, tol):
    K, y, eta = problem
    found = propagate(K, y, eta, tol=tol)
    mean, covariance = posterior_of(K, found.sites)
    np.testing.assert_allclose(K @ found.coef, mean, atol=1e-10)
    for i, (M, V) in enumerate(zip(found.cavity_mean, found.cavity_variance, strict=True)):
        whole, first, second = tilted_moments(M, V, y[i], eta)
        assert found.log_loo[i] == pytest.approx(np.log(whole), abs=1e-9)
        first, second = first / whole, second / whole
        # The residual is in units of the cavity's standard deviation and variance.
        assert abs(first - mean[i]) <= tol * np.sqrt(V) + 1e-9
        assert abs(second - first**2 - covariance[i, i]) <= tol * V + 1e-9


# A slow twin


def disagreement(K, y, eta):
    """Return the largest difference between `propagate` and the slow twin."""
    found = propagate(K, y, eta, tol=TIGHT, max_iter=200)
    coef, evidence, M, V, _ = slow_twin(K, y, eta)
    return max(
        np.abs(found.coef - coef).max(),
        abs(found.log_evidence - evidence),
        np.abs(found.cavity_mean - M).max(),
        np.abs(found.cavity_variance - V).max(),
    )


def test_agrees_with_the_slow_twin(problem):
    assert disagreement(*problem) <= REACHED


def forget_the_rest_of_the_variance(log_z, a, vb, mean, variance):
    return Sites(vb / variance, a + mean * vb / variance)


def forget_the_mean(log_z, a, vb, mean, variance):
    return Sites(vb / (variance * (1 - vb)), a / (1 - vb))


def forget_the_noise(signs, mean, variance, noise, likelihood=likelihood):
    return likelihood(signs, mean, variance, 0.0)


def forget_half_of_the_noise(signs, mean, variance, noise, likelihood=likelihood):
    return likelihood(signs, mean, variance, noise / 2)


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("match_moments", forget_the_rest_of_the_variance),
        ("match_moments", forget_the_mean),
        ("likelihood", forget_the_noise),
        ("likelihood", forget_half_of_the_noise),
    ],
)
def test_a_broken_site_disagrees_with_the_slow_twin(name, wrong, monkeypatch):
    for module in (on_gram, approximation):
        monkeypatch.setattr(module, name, wrong, raising=False)
    assert disagreement(*PROBLEMS["flip"]()) > 1e4 * REACHED


def test_one_by_one_is_the_same_as_all_at_once(problem):
    K, y, eta = problem
    one = fixed_point(K, y, eta, one_by_one=False)
    two = fixed_point(K, y, eta, damping=MIN_DAMPING)  # no parallel update
    start = first_guess(K, y, eta, None)
    sweeps = update_one_by_one(K, y, eta, start, 500, TIGHT, 0.8, lambda found: False)
    for other in (two, sweeps):
        np.testing.assert_allclose(other.coef, one.coef, atol=REACHED)
        np.testing.assert_allclose(other.cavity_variance, one.cavity_variance, atol=REACHED)
        assert other.log_evidence == pytest.approx(one.log_evidence, abs=REACHED)


@pytest.mark.parametrize("softness", [0.03, 0.3, 3.0])
@pytest.mark.parametrize("eta", [0.0, 0.1])
def test_softness_is_a_probit(softness, eta):
    everything, labels = rbf_matrix(14, seed=4)
    K, y, new = everything[:12, :12], labels[:12], everything[12:, :12]
    step = fixed_point(soften(K, softness), y, eta)
    coef, evidence, M, V, sites = slow_twin(K, y, eta, noise=softness)
    assert step.log_evidence == pytest.approx(evidence, abs=REACHED)
    # Outputs of the softened matrix are smaller by sqrt(1 + softness).
    scale = np.sqrt(1 + softness)
    np.testing.assert_allclose(step.cavity_mean * scale, M, atol=REACHED)
    np.testing.assert_allclose(step.cavity_variance * scale**2, V + softness, atol=REACHED)
    np.testing.assert_allclose(new @ step.coef / scale, new @ coef, atol=REACHED)
    along = new / scale
    S = step.sites.precision
    inner = np.linalg.solve(np.eye(12) + S[:, None] * soften(K, softness), S[:, None] * along.T)
    theirs = new @ np.linalg.inv(K + np.diag(1 / sites.precision)) @ new.T
    np.testing.assert_allclose(along @ inner, theirs, atol=REACHED)


# Weights


def weighted(K, softness, weight):
    """Return the matrix and the copies of softened points with weights."""
    return soften(K, softness, weight), copies_of(weight, noise_share(softness))


# Flips, a soft boundary, or both: on a hard boundary weights have no meaning.
@pytest.mark.parametrize(("softness", "eta"), [(0, 0.1), (0.03, 0), (0.03, 0.1), (1, 0)])
def test_whole_weights_are_repeated_points_at_every_iterate(softness, eta, rng):
    K, y = rbf_matrix(15, seed=3)
    weight = rng.integers(1, 5, 15).astype(float)
    copy = np.repeat(np.arange(15), weight.astype(int))
    matrix, copies = weighted(K, softness, weight)
    repeated = soften(K, softness)[np.ix_(copy, copy)]
    repeated[copy[:, None] == copy] = 1 - noise_share(softness)
    np.fill_diagonal(repeated, 1.0)
    for max_iter in (1, 2, 4, 100):
        ours = propagate(matrix, y, eta, copies=copies, max_iter=max_iter, one_by_one=False)
        twin = propagate(repeated, y[copy], eta, max_iter=max_iter, one_by_one=False)
        assert ours.n_iter == twin.n_iter
        # The trajectory is the same up to rounding.
        close = {"rtol": 1e-8, "atol": 1e-10}
        np.testing.assert_allclose(ours.coef, np.bincount(copy, twin.coef), **close)
        np.testing.assert_allclose(ours.cavity_mean[copy], twin.cavity_mean, **close)
        np.testing.assert_allclose(ours.cavity_variance[copy], twin.cavity_variance, **close)
        np.testing.assert_allclose(ours.log_loo[copy], twin.log_loo, **close)
        assert ours.log_evidence == pytest.approx(twin.log_evidence, abs=1e-9)
        assert ours.residual == pytest.approx(twin.residual, rel=1e-6, abs=1e-10)


@pytest.mark.parametrize("low", [0.05, 1.0])
@pytest.mark.parametrize("eta", [0.0, 0.1])
def test_any_weight_is_the_power_of_a_likelihood(low, eta, rng):
    K, y = rbf_matrix(10, seed=1)
    weight, softness = rng.uniform(low, 3.0, 10), 0.3
    matrix, copies = weighted(K, softness, weight)
    coef, evidence, M, V, _ = slow_twin(K, y, eta, noise=softness, weight=weight)
    at_once = fixed_point(matrix, y, eta, copies=copies)
    start = first_guess(matrix, y, eta, None, copies)
    limit = (500, TIGHT, 0.8, lambda found: False, copies)
    in_turn = update_one_by_one(matrix, y, eta, start, *limit)
    scale = np.sqrt(1 + softness)
    for found in (at_once, in_turn):
        assert found.residual <= TIGHT
        assert found.log_evidence == pytest.approx(evidence, abs=REACHED)
        np.testing.assert_allclose(found.cavity_mean * scale, M, atol=REACHED)
        np.testing.assert_allclose(found.cavity_variance * scale**2, V + softness, atol=REACHED)
        np.testing.assert_allclose(found.coef / scale, coef, atol=REACHED)


@pytest.mark.parametrize(
    ("name", "broken"),
    [
        ("cavities", lambda self, sites, mean, variance: (mean, variance)),
        ("of_rows", lambda self, sites: sites),
        ("prior_variance", lambda self, of_rows: 0.5 * of_rows),
    ],
)
def test_broken_copies_are_noticed(monkeypatch, name, broken):
    monkeypatch.setattr(Copies, name, broken)
    with pytest.raises(AssertionError):
        test_whole_weights_are_repeated_points_at_every_iterate(0.03, 0.0, np.random.default_rng(0))


def test_weights_are_continuous_and_vanish_at_zero():
    K, y = rbf_matrix(12, seed=5)

    def at(last):
        weight = np.append(np.ones(11), last)
        matrix, copies = weighted(K, 0.3, weight)
        return fixed_point(matrix, y, copies=copies)

    step = 1e-6
    for w in (0.5, 1.0, 2.0):
        # Derivatives by a weight are of order one: coefficients and log probabilities are.
        low, high = at(w - step), at(w + step)
        assert np.abs(high.coef - low.coef).max() < 20 * step
        assert abs(high.log_evidence - low.log_evidence) < 20 * step
    without = fixed_point(soften(K[:11, :11], 0.3), y[:11])
    tiny = at(step)
    np.testing.assert_allclose(tiny.coef[:11], without.coef, atol=20 * step)
    assert tiny.log_evidence == pytest.approx(without.log_evidence, abs=20 * step)


# The law


@pytest.mark.parametrize("eta", [0.0, 0.05, 0.3])
@pytest.mark.parametrize("y", [-1.0, 1.0])
def test_a_single_point(y, eta):
    found = propagate(np.eye(1), np.array([y]), eta)
    assert found.log_evidence == pytest.approx(-np.log(2), abs=1e-14)
    assert found.log_loo[0] == pytest.approx(-np.log(2), abs=1e-14)
    # Mean and variance of half a normal distribution, mixed with the other half.
    mean = (1 - 2 * eta) * np.sqrt(2 / np.pi)
    assert found.coef[0] == pytest.approx(y * mean, abs=1e-14)
    assert 1 / (1 + found.sites.precision[0]) == pytest.approx(1 - mean**2, abs=1e-14)
    assert (found.cavity_mean[0], found.cavity_variance[0]) == pytest.approx((0, 1), abs=1e-14)


@pytest.mark.parametrize("eta", [0.0, 0.2])
def test_exact_for_independent_points(eta, rng):
    y = rng.choice([-1.0, 1.0], 7)
    found = propagate(np.eye(7), y, eta)
    assert found.n_iter == 1
    assert found.residual < 1e-14
    assert found.log_evidence == pytest.approx(-7 * np.log(2), abs=1e-13)
    np.testing.assert_allclose(found.coef, (1 - 2 * eta) * y * np.sqrt(2 / np.pi), atol=1e-14)
    np.testing.assert_allclose(found.log_loo, -np.log(2), atol=1e-14)
    np.testing.assert_allclose(found.cavity_mean, 0, atol=1e-14)
    np.testing.assert_allclose(found.cavity_variance, 1, atol=1e-14)


def correction(K, y, eta, found):
    """Return the contribution of third and fourth cumulants to the log evidence.

    First-order terms of Opper, Paquet and Winther (2013), Perturbative corrections for
    approximate inference in Gaussian latent variable models, JMLR 14: the sum over pairs and
    l = 3, 4, ... of c_li c_lj / l! (S_ij / (S_ii S_jj))^l. Here c_li are cumulants of the
    tilted distributions and S is the covariance. Cumulants 1 and 2 match.
    """
    _, S = posterior_of(K, found.sites)
    ratio = S / np.outer(np.diagonal(S), np.diagonal(S))
    np.fill_diagonal(ratio, 0)
    cumulants = []
    for M, V, sign in zip(found.cavity_mean, found.cavity_variance, y, strict=True):
        m = tilted_moments(M, V, sign, eta, 5)
        m = m / m[0]
        third = m[3] - 3 * m[2] * m[1] + 2 * m[1] ** 3
        fourth = m[4] - 4 * m[3] * m[1] - 3 * m[2] ** 2 + 12 * m[2] * m[1] ** 2 - 6 * m[1] ** 4
        cumulants.append((third, fourth))
    c3, c4 = np.transpose(cumulants)
    return np.array([c3 @ ratio**3 @ c3 / 12, c4 @ ratio**4 @ c4 / 48])


@pytest.mark.parametrize(
    ("rho", "measured"),
    [(-0.99, 0.0042), (-0.9, 0.0033), (-0.5, 0.0007), (0.5, -0.0018), (0.9, -0.030)],
)
def test_bias_for_two_points(rho, measured):
    # The orthant has probability 1/4 + asin(rho) / (2 pi).
    K, y = np.array([[1, rho], [rho, 1]]), np.ones(2)
    found = fixed_point(K, y)
    bias = found.log_evidence - np.log(0.25 + np.arcsin(rho) / (2 * np.pi))
    assert bias == pytest.approx(measured, rel=0.1)
    # The correction equals the bias up to higher orders, which are smaller.
    terms = correction(K, y, 0.0, found)
    assert abs(bias + terms.sum()) <= 0.2 * np.abs(terms).sum()


def log_evidence_by_force(K, y, eta, rng, n=100_000):
    """Return the log evidence and its standard error.

    Without label noise this is the probability of an orthant. With label noise it is the mean
    likelihood of draws: half from the prior, which bounds the weights, and half from near the
    posterior.
    """
    m = len(y)
    if eta == 0:
        return np.log(normal_cdf(np.zeros(m), K * np.outer(y, y), maxpts=50_000)), 1e-4
    prior = stats.multivariate_normal(np.zeros(m), K)
    near = stats.multivariate_normal(*posterior_of(K, propagate(K, y, eta).sites))
    f = np.concatenate([law.rvs(n // 2, random_state=rng) for law in (prior, near)])
    likelihood = np.prod(np.where(f * y > 0, 1 - eta, eta), axis=1)
    weights = likelihood * 2 / (1 + np.exp(near.logpdf(f) - prior.logpdf(f)))
    return np.log(weights.mean()), weights.std() / weights.mean() / np.sqrt(n)


CASES = {"hard": (0.0, 0.0), "soft": (0.3, 0.0), "flip": (0.0, 0.1), "both": (0.3, 0.1)}


def bias_of_evidence(m, softness, eta, seed, law_noise=None):
    """Return the bias of the log evidence, its first-order prediction and its standard error."""
    K, y = rbf_matrix(m, seed)
    K = soften(K, softness)
    found = propagate(K, y, eta if law_noise is None else law_noise, tol=1e-6)
    truth, error = log_evidence_by_force(K, y, eta, np.random.default_rng(seed))
    return found.log_evidence - truth, -correction(K, y, eta, found), error


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("m", [3, 5, 8])
def test_log_evidence_against_brute_force(m, case):
    # The bias is the first-order correction up to terms of higher order, which are at most as
    # large as the correction. Measured here, the bias is below 0.03 with a hard boundary and
    # about 0.005 with a soft one: less than 1 % of the log evidence.
    for seed in range(3):
        bias, expected, error = bias_of_evidence(m, *CASES[case], seed)
        assert abs(bias - expected.sum()) <= np.abs(expected).sum() + 4 * error


def test_the_wrong_label_noise_has_another_evidence():
    failed = []
    for seed in range(3):
        bias, expected, error = bias_of_evidence(8, 0.3, 0.1, seed, law_noise=0.2)
        failed.append(abs(bias - expected.sum()) > np.abs(expected).sum() + 4 * error)
    assert all(failed)


LEAVE_OUT = {
    "soft": lambda: (rbf_space(30, 0.1), 0.0),
    "softer": lambda: (rbf_space(30, 0.5), 0.0),
    "flip": lambda: (rbf_space(30, 0.1), 0.1),
}


@pytest.mark.parametrize("name", LEAVE_OUT)
def test_leave_one_out_agrees_with_a_fit_without_the_point(name):
    # A cavity keeps the sites of the other points as they were with the point. After the point
    # is removed, their moments have a mismatch r. The evidence is stationary at the fixed
    # point, so the error of log_loo is quadratic: at most r^2 for each point. Outputs move by r
    # for each point with practically random signs: by sqrt(m) r standard deviations.
    # Measured: probabilities change by 0.002 to 0.006 (root mean square), by 0.02 at most.
    space, eta = LEAVE_OUT[name]()
    K, y = space.gram.matrix, space.signs
    whole, m = fixed_point(K, y, eta), len(y)
    for i in range(m):
        rest = np.delete(np.arange(m), i)
        part, k = K[np.ix_(rest, rest)], K[rest, i]
        kept = Sites(*(values[rest] for values in whole.sites))
        mismatch = approximate(part, y[rest], eta, kept, 1).residual
        without = fixed_point(part, y[rest], eta, sites=kept)
        gained = whole.log_evidence - without.log_evidence
        assert abs(whole.log_loo[i] - gained) <= m * mismatch**2 + REACHED
        S = without.sites.precision
        variance = 1 - k @ np.linalg.solve(np.eye(m - 1) + S[:, None] * part, S * k)
        refitted = k @ without.coef / np.sqrt(variance)
        ours = whole.cavity_mean[i] / np.sqrt(whole.cavity_variance[i])
        assert abs(ours - refitted) <= np.sqrt(m) * mismatch + REACHED


# Special cases of the algebra


def test_flips_make_negative_precisions():
    K, y, eta = PROBLEMS["negative sites"]()
    found = fixed_point(K, y, eta)
    assert found.sites.precision.min() < 0
    assert np.argmin(found.sites.precision) == np.argmin(y)
    # This label is more likely wrong than right.
    assert found.log_loo[np.argmin(y)] < np.log(0.5)


@pytest.mark.parametrize("eta", [0.0, 0.1])
def test_indefinite_matrices_do_not_crash(eta, rng):
    for _ in range(20):
        A = rng.standard_normal((12, 12))
        K = (A + A.T) / 2
        np.fill_diagonal(K, 1.0)
        assert np.linalg.eigvalsh(K)[0] < 0
        found = propagate(K, rng.choice([-1.0, 1.0], 12), eta, max_iter=30)
        assert np.isfinite(found.coef).all()
        assert np.isfinite(found.log_evidence)
        assert np.all(found.cavity_variance > 0)


def test_duplicates_and_contradictions():
    # Ten copies of one point; then both labels at one point, which carry no information.
    found = fixed_point(np.ones((10, 10)), np.ones(10))
    np.testing.assert_allclose(found.coef, found.coef[0], atol=REACHED)
    assert found.coef.sum() > 0
    found = fixed_point(np.ones((2, 2)), np.array([1.0, -1.0]), 0.1)
    assert found.coef.sum() == pytest.approx(0, abs=REACHED)


# Behavior


def test_few_passes_suffice(problem):
    K, y, eta = problem
    found = propagate(K, y, eta)
    assert found.residual <= 1e-3
    assert 1 < found.n_iter <= 30


def test_more_passes_come_closer(problem):
    K, y, eta = problem
    residuals = [propagate(K, y, eta, tol=0, max_iter=n).residual for n in (1, 2, 5, 10, 20)]
    assert residuals == sorted(residuals, reverse=True)
    for n in (1, 2, 7):
        assert propagate(K, y, eta, tol=0, max_iter=n).n_iter == n


def test_warm_start_ends_in_the_same_place_sooner():
    K, y = rbf_matrix(20, 3)
    near = fixed_point(soften(K, 0.1), y)
    cold, warm = (fixed_point(soften(K, 0.12), y, sites=start) for start in (None, near.sites))
    assert warm.n_iter < cold.n_iter
    np.testing.assert_allclose(warm.coef, cold.coef, atol=REACHED)
    assert fixed_point(soften(K, 0.1), y, sites=near.sites).n_iter == 1


def test_useless_start_sites_are_discarded(problem):
    K, y, eta = problem
    useless = Sites(np.full(len(y), -10.0), np.zeros(len(y)))
    cold, warm = (fixed_point(K, y, eta, sites=start) for start in (None, useless))
    np.testing.assert_array_equal(warm.coef, cold.coef)
