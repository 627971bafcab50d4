import numpy as np
import pytest
from scipy import integrate, sparse, special, stats

from bayespoint._jit import largest
from bayespoint._jit import multiclass as loops
from bayespoint.solvers.propagation.on_gram import propagate
from bayespoint.solvers.weights import linear, multiclass
from bayespoint.solvers.weights.linear import Belief

KINDS = ["full", "factorized"]


def problem(n_classes, n=40, d=3, seed=0, spread=0.5):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    scores = X @ rng.standard_normal((d, n_classes))
    y = np.argmax(scores + spread * rng.standard_normal(scores.shape), axis=1)
    y[:n_classes] = np.arange(n_classes)
    return X, y


def prior_of(n_weights, n_classes, kind, variance=0.7):
    precision = np.full(n_weights * (n_classes - 1), 1 / variance)
    return Belief(np.diag(precision) if kind == "full" else precision, 0 * precision)


def fit(kind, X, y, n_classes, prior=None, weight=None, noise=1.0, max_iter=3000, tol=1e-10):
    prior = prior_of(X.shape[1], n_classes, kind) if prior is None else prior
    weight = np.ones(len(y)) if weight is None else np.asarray(weight, dtype=float)
    noise = multiclass.some_noise(noise, X, prior.variances())
    rows = make_rows(kind, X, y, n_classes, prior, weight, noise)
    return linear.iterate(rows, prior, max_iter, tol)


def make_rows(kind, X, y, n_classes, prior, weight, noise):
    if kind == "full":
        blocks = linear.even_blocks(*X.shape)
        return multiclass.FullRows(X, y, weight, noise, n_classes, blocks)
    intercept = len(prior.shift) > X.shape[1] * (n_classes - 1)
    return multiclass.FactorizedRows(sparse.csr_array(X), y, weight, noise, n_classes, intercept)


def fit_binary(kind, X, y, prior, weight, noise, max_iter=3000, tol=1e-10):
    signs = 2.0 * y - 1
    if kind == "full":
        return linear.fit_full(X, signs, weight, prior, noise, max_iter, tol)
    intercept = len(prior.shift) > X.shape[1]
    rows = linear.FactorizedRows(sparse.csr_array(X), signs, weight, noise, intercept)
    return linear.iterate(rows, prior, max_iter, tol)


def orthant(M, S, rounds=500):
    """Return log P(u > 0) for u ~ N(M, S), and the moments that go with it."""
    n = len(M)
    tau, nu, mean, covariance = np.zeros(n), np.zeros(n), np.empty(n), np.empty((n, n))
    log_z, _ = loops.compare(M, S, tau, nu, rounds, mean, covariance, np.empty(n))
    return log_z, mean, covariance, tau, nu


def random_scores(n_classes, rng, size=1.0):
    """Mean and covariance of scores that sum to zero."""
    H = multiclass.basis(n_classes)
    L = H @ rng.standard_normal((n_classes - 1, n_classes - 1)) * size
    return H @ rng.standard_normal(n_classes - 1), L @ L.T


def comparisons(n_classes, c=0):
    """The matrix of differences of the score of class c with all others."""
    return np.delete(np.eye(n_classes)[c] - np.eye(n_classes), c, axis=0)


# Geometry


@pytest.mark.parametrize("n_classes", [2, 3, 7])
def test_outputs_are_an_orthonormal_basis_of_what_sums_to_zero(n_classes):
    H = multiclass.basis(n_classes)
    np.testing.assert_allclose(H.T @ H, np.eye(n_classes - 1), atol=1e-15)
    np.testing.assert_allclose(H.sum(axis=0), 0, atol=1e-15)
    assert H[1, 0] > 0  # the second class is the positive one


@pytest.mark.parametrize("m", [3.0, 0.0, -4.0, -20.0, -29.9, -30.1, -1e4])
def test_half_line_has_the_moments_of_a_truncated_normal(m):
    v = 1.7
    tau, nu = loops.half_line(m * np.sqrt(v), v)
    variance = 1 / (1 / v + tau)
    mean = variance * (m / np.sqrt(v) + nu)
    unit = 1 / (1 + abs(m))
    rule = {"epsabs": 0, "epsrel": 1e-12}
    moments = [
        integrate.quad(
            lambda u, k=k: u**k * np.exp(m * u * unit - (u * unit) ** 2 / 2), 0, 50, **rule
        )[0]
        for k in range(3)
    ]
    first, second = moments[1] / moments[0], moments[2] / moments[0]
    # Differences lose m^4 and m^6 ulp, the most just above -30, where 1e-16 m^6 is 7e-8.
    assert mean == pytest.approx(np.sqrt(v) * unit * first, rel=1e-8)
    assert variance == pytest.approx(v * unit**2 * (second - first**2), rel=2e-7)


def test_sites_without_noise_are_those_of_the_noisy_ones_integrated():
    rng = np.random.default_rng(0)
    C, y, noise = 5, 2, 0.6
    tau, nu = rng.uniform(0.1, 3, C), rng.standard_normal(C)
    tau[y] = nu[y] = 0
    pi, eta = np.empty(C), np.empty(C)
    kappa, total, log_scale = loops.without_noise(tau, nu, noise, pi, eta)
    A = np.eye(C)[y] - np.eye(C)
    ours = A.T @ (np.diag(pi) - kappa * np.outer(pi, pi)) @ A
    shift = A.T @ (eta - kappa * total * pi)
    # Scores s = f + e, e ~ N(0, noise): the factor of f, by brute force.
    G, h = A.T @ np.diag(tau) @ A, A.T @ nu
    R = np.linalg.inv(np.eye(C) + noise * G)
    np.testing.assert_allclose(ours, G @ R, atol=1e-12)
    np.testing.assert_allclose(shift, R @ h, atol=1e-12)
    constant = 0.5 * (np.linalg.slogdet(R)[1] + noise * h @ R @ h)
    assert log_scale == pytest.approx(constant, abs=1e-12)
    # And in classes: diag(p) - p p' / sum(p), with 1 / noise for the right one.
    p = pi + np.eye(C)[y] / noise
    np.testing.assert_allclose(ours, np.diag(p) - np.outer(p, p) / p.sum(), atol=1e-12)
    # The cavity of a Gaussian that has this factor is what it was without.
    L = rng.standard_normal((C - 1, C - 1))
    u = np.delete(np.arange(C), y)
    mean, S = rng.standard_normal(C - 1), L @ L.T
    precision = np.linalg.inv(S) + (np.diag(pi) - kappa * np.outer(pi, pi))[np.ix_(u, u)]
    both, covariance = np.zeros(C), np.zeros((C, C))
    covariance[np.ix_(u, u)] = np.linalg.inv(precision)
    both[u] = np.linalg.solve(precision, np.linalg.solve(S, mean) + (eta - kappa * total * pi)[u])
    assert loops.divide_row(both, covariance, np.empty(C), pi, eta, kappa, total, 1.0)
    np.testing.assert_allclose(covariance[np.ix_(u, u)], S, atol=1e-10)
    np.testing.assert_allclose(both[u], mean, atol=1e-10)


# Comparisons within a row


def test_independent_comparisons_are_exact():
    M, S = np.array([0.3, -2.0, 5.0]), np.diag([1.0, 0.2, 3.0])
    log_z, *_ = orthant(M, S)
    assert log_z == pytest.approx(special.log_ndtr(M / np.sqrt(np.diag(S))).sum(), abs=1e-12)


@pytest.mark.parametrize("n_classes", [3, 5, 8])
def test_comparisons_against_the_normal_distribution_function(n_classes):
    # Measured: at most 0.056, and 0.03 in the mean square for 8 classes, most where the
    # covariance is large and random.
    rng = np.random.default_rng(n_classes)
    A, errors, broken = comparisons(n_classes), [], []
    for size in [0.1, 0.3, 1.0, 3.0] * 2:
        mean, S = random_scores(n_classes, rng, size)
        S = A @ (S + np.eye(n_classes)) @ A.T
        law = {"abseps": 1e-7, "releps": 1e-5, "maxpts": 200_000, "rng": 0}
        exact = np.log(stats.multivariate_normal.cdf(A @ mean, 0 * A[:, 0], S, **law))
        errors.append(orthant(A @ mean, S)[0] - exact)
        # As if each comparison had noise of its own: the score of the right class is shared.
        broken.append(orthant(A @ mean, S - 1 + np.eye(n_classes - 1))[0] - exact)
    assert np.abs(errors).max() < 0.08
    assert np.sqrt(np.mean(np.square(errors))) < 0.05
    assert np.sqrt(np.mean(np.square(broken))) > 0.15


# The posterior


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("noise", [1.3, 0.1, 0.0])
def test_two_classes_are_the_binary_classifier(kind, noise):
    X, _ = problem(2, n=80, d=4)
    y = (X[:, 0] + (np.random.default_rng(1).standard_normal(80) if noise else 0.3) > 0).astype(int)
    weight = np.ones(80)
    weight[:5], weight[5:9] = 2, 0.5
    prior = prior_of(5, 2, kind)  # with an intercept
    one = fit(kind, X, y, 2, prior, weight, noise)
    two = fit_binary(kind, X, y, prior, weight, noise)
    # One row after the other, what is left is a hundred times the last step or more.
    limit = 1e-8 if kind == "full" else 1e-6
    np.testing.assert_allclose(one.belief.mean(), two.belief.mean(), atol=limit)
    np.testing.assert_allclose(one.belief.covariance(), two.belief.covariance(), atol=limit)
    assert one.log_evidence == pytest.approx(two.log_evidence, abs=limit)
    mean, variance = linear.outputs(X, two.belief)
    log_p = multiclass.log_probabilities(X, two.belief, 2, noise)
    decision = mean / np.sqrt(variance + noise)
    np.testing.assert_allclose(log_p[:, 1], special.log_ndtr(decision), atol=1e-10)
    np.testing.assert_allclose(multiclass.decisions(log_p)[:, 1], decision, atol=1e-8)
    # More data: the posterior is the prior.
    one = fit(kind, -X[:9], y[:9], 2, two.belief, weight[:9], noise + 0.1)
    two = fit_binary(kind, -X[:9], y[:9], two.belief, weight[:9], noise + 0.1)
    np.testing.assert_allclose(one.belief.mean(), two.belief.mean(), atol=limit)
    assert one.log_evidence == pytest.approx(two.log_evidence, abs=limit)


@pytest.mark.parametrize("noise", [1.0, 0.1])
def test_full_covariance_is_ep_for_all_comparisons_at_once(noise):
    # An independent solver: the differences of all rows are one Gaussian process.
    C, variance = 4, 0.7
    X, y = problem(C, n=12)
    H = multiclass.basis(C)
    A = np.concatenate([np.kron(comparisons(C, c) @ H, x) for c, x in zip(y, X, strict=True)])
    matrix = variance * A @ A.T
    for i, c in enumerate(y):
        at = slice(i * (C - 1), (i + 1) * (C - 1))
        matrix[at, at] += noise * comparisons(C, c) @ comparisons(C, c).T
    twin = propagate(matrix, np.ones(len(matrix)), tol=1e-12, max_iter=5000)
    found = fit("full", X, y, C, noise=noise)
    np.testing.assert_allclose(found.belief.mean(), variance * A.T @ twin.coef, atol=1e-7)
    assert found.log_evidence == pytest.approx(twin.log_evidence, abs=1e-7)
    prior = prior_of(3, C, "full", variance * 1.01)
    assert abs(fit("full", X, y, C, prior, noise=noise).log_evidence - twin.log_evidence) > 1e-4


@pytest.mark.parametrize("noise", [1.0, 0.25])
def test_posterior_and_evidence_against_weighted_draws_from_the_prior(noise):
    C, d, n, n_draws = 3, 2, 10, 100_000
    X, y = problem(C, n, d, seed=3)
    rng = np.random.default_rng(0)
    v = rng.standard_normal((n_draws, (C - 1) * d)) * np.sqrt(0.7)
    scores = np.einsum("ck,nkd,id->nic", multiclass.basis(C), v.reshape(-1, C - 1, d), X)
    t, share = np.polynomial.hermite_e.hermegauss(20)
    log_weight = np.zeros(n_draws)
    for i in range(n):
        less = (scores[:, i, y[i], None] - np.delete(scores[:, i], y[i], axis=1)) / np.sqrt(noise)
        given = [s * special.ndtr(less + t_).prod(axis=1) for t_, s in zip(t, share, strict=True)]
        log_weight += np.log(np.sum(given, axis=0) / share.sum() + 1e-300)
    weight = np.exp(log_weight)
    evidence = np.log(weight.mean())
    error = weight.std() / weight.mean() / np.sqrt(n_draws)
    weight /= weight.sum()
    mean = weight @ v
    covariance = (v - mean).T @ ((v - mean) * weight[:, None])
    effective = 1 / np.sum(weight**2)
    found = fit("full", X, y, C, noise=noise)
    # EP itself is off by about 0.01 for each comparison that is undecided, in log Z, and
    # by some percent of a variance.
    assert abs(found.log_evidence - evidence) < 0.06 + 4.5 * error
    off = np.abs(found.belief.mean() - mean) / np.sqrt(np.diag(covariance))
    assert off.max() < 0.06 + 4.5 / np.sqrt(effective)
    ratio = np.diag(found.belief.covariance()) / np.diag(covariance)
    assert np.abs(ratio - 1).max() < 0.12 + 4.5 * np.sqrt(2 / effective)
    # Four times the noise would be noticed.
    wrong = fit("full", X, y, C, noise=4 * noise)
    assert np.abs(np.diag(wrong.belief.covariance()) / np.diag(covariance) - 1).max() > 0.2


def test_independent_outputs_come_close_to_the_truth():
    X, y = problem(4, n=200, d=3)
    found = [
        np.exp(multiclass.log_probabilities(X, fit(kind, X, y, 4, tol=1e-4).belief, 4, 1.0))
        for kind in KINDS
    ]
    assert np.abs(found[0] - found[1]).max() < 0.05
    assert np.sqrt(np.mean((found[0] - found[1]) ** 2)) < 0.02


@pytest.mark.parametrize("kind", KINDS)
def test_classes_have_no_order(kind):
    X, y = problem(4)
    order = np.array([2, 0, 3, 1])
    one, two = fit(kind, X, y, 4), fit(kind, X, order[y], 4)
    log_p = [multiclass.log_probabilities(X, found.belief, 4, 1.0) for found in (one, two)]
    # Independent outputs depend on which classes they compare, but hardly.
    limit = 1e-4 if kind == "full" else 0.05
    assert np.abs(np.exp(log_p[0]) - np.exp(log_p[1][:, order])).max() < limit
    assert one.log_evidence == pytest.approx(two.log_evidence, abs=1e-8 if kind == "full" else 1)
    if kind == "full":
        means = [multiclass.class_means(found.belief, 4) for found in (one, two)]
        np.testing.assert_allclose(means[0], means[1][order], atol=1e-8)
        variances = [multiclass.class_variances(found.belief, 4) for found in (one, two)]
        np.testing.assert_allclose(variances[0], variances[1][order], atol=1e-8)


@pytest.mark.parametrize("kind", KINDS)
def test_weights_are_repetitions(kind):
    X, y = problem(3)
    weight = np.random.default_rng(0).integers(1, 3, len(y))
    one = fit(kind, X, y, 3, weight=weight)
    two = fit(kind, np.repeat(X, weight, axis=0), np.repeat(y, weight), 3)
    limit = 1e-8 if kind == "full" else 1e-6
    np.testing.assert_allclose(one.belief.mean(), two.belief.mean(), atol=limit)
    assert one.log_evidence == pytest.approx(two.log_evidence, abs=limit)


@pytest.mark.parametrize("kind", KINDS)
def test_dense_sparse_intercept_and_blocks_agree(kind, monkeypatch):
    X, y = problem(3)
    X = np.where(X > 0, X, 0)
    ones = np.column_stack([X, np.ones(len(X))])
    prior = prior_of(4, 3, kind)
    one = fit(kind, ones, y, 3, prior)
    two = fit(kind, X, y, 3, prior)
    monkeypatch.setattr(multiclass, "BLOCK", 100)
    rows = sparse.csr_array(X)
    three = fit(kind, rows, y, 3, prior)
    for other in (two, three):
        np.testing.assert_allclose(one.belief.mean(), other.belief.mean(), atol=1e-6)
        assert one.log_evidence == pytest.approx(other.log_evidence, abs=1e-6)
    log_p = [multiclass.log_probabilities(x, one.belief, 3, 1.0) for x in (ones, X, rows)]
    np.testing.assert_allclose(log_p[0], log_p[1], atol=1e-12)
    np.testing.assert_allclose(log_p[0], log_p[2], atol=1e-12)
    mean, variance = multiclass.outputs(rows, one.belief, 3)
    weights = multiclass.class_means(one.belief, 3)
    np.testing.assert_allclose(mean, ones @ weights.T, atol=1e-12)
    np.testing.assert_allclose(weights.sum(axis=0), 0, atol=1e-12)
    eye = multiclass.outputs(np.eye(4), one.belief, 3)[1]
    np.testing.assert_allclose(eye, multiclass.class_variances(one.belief, 3).T, atol=1e-12)
    assert variance.min() > 0


@pytest.mark.parametrize("kind", KINDS)
def test_no_rows_leave_the_prior(kind):
    X, y = problem(3)
    found = fit(kind, X[:0], y[:0], 3, max_iter=2)
    np.testing.assert_array_equal(found.belief.mean(), 0)
    assert found.log_evidence == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_one_row_says_one_in_so_many(kind):
    # P(y) = 1 / C before anything is known, but for what EP loses.
    for C in (2, 3, 6):
        found = fit(kind, np.array([[1.0, 2.0]]), np.array([1]), C)
        assert found.log_evidence == pytest.approx(-np.log(C), abs=1e-10 if C == 2 else 0.01)


@pytest.mark.parametrize("kind", KINDS)
def test_batches_add_up(kind):
    X, y = problem(3, n=60)
    whole = fit(kind, X, y, 3)
    belief, evidence = None, 0.0
    for rows in np.array_split(np.arange(60), 3):
        found = fit(kind, X[rows], y[rows], 3, belief)
        belief, evidence = found.belief, evidence + found.log_evidence
    # Not the same, as early rows are not looked at again, but close.
    covariance = whole.belief.covariance()
    deviation = np.sqrt(np.diag(covariance) if kind == "full" else covariance)
    assert np.abs((belief.mean() - whole.belief.mean()) / deviation).max() < 1
    assert evidence == pytest.approx(whole.log_evidence, abs=1.5)


# Ways to break it


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("noise", [1.0, 0.0])
@pytest.mark.parametrize("scale", [2.0**-27, 2.0**27])  # without rounding
def test_scales_of_features_do_not_matter(kind, noise, scale):
    X, y = problem(3, spread=0.5 if noise else 0.0)
    y[:3] = np.argmax(X[:3] @ np.eye(3), axis=1)
    one = fit(kind, X, y, 3, noise=noise, max_iter=20)
    prior = prior_of(3, 3, kind, 0.7 / scale**2)
    two = fit(kind, X * scale, y, 3, prior, noise=noise, max_iter=20)
    np.testing.assert_allclose(one.belief.mean(), two.belief.mean() * scale, atol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("noise", [1.0, 1e-6, 0.0])
def test_whatever_comes_probabilities_are_finite(kind, noise):
    rng = np.random.default_rng(0)
    X = np.repeat(rng.standard_normal((12, 2)), 3, axis=0) @ [[1, 1, 0, 1], [0, 0, 0, 1e-9]]
    X[5] = 0
    y = np.tile([0, 1, 3], 12)  # contradictions, collinear features, and a class without rows
    found = fit(kind, X, y, 4, noise=noise, max_iter=30, tol=1e-3)
    assert np.isfinite(found.log_evidence)
    far = np.concatenate([X, 1e6 * X, 1e-200 * X, 0 * X])
    log_p = multiclass.log_probabilities(far, found.belief, 4, noise)
    p, decision = multiclass.probabilities(log_p), multiclass.decisions(log_p)
    assert np.isfinite(decision).all()
    assert p.min() > 0
    assert p.max() < 1
    np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-12)
    np.testing.assert_array_equal(p.argmax(axis=1), decision.argmax(axis=1))


def test_hard_boundaries_are_learned():
    X, _ = problem(3, n=60)
    y = np.argmax(X, axis=1)
    found = fit("full", X, y, 3, noise=0.0, max_iter=100, tol=1e-3)
    log_p = multiclass.log_probabilities(X, found.belief, 3, 0.0)
    np.testing.assert_array_equal(log_p.argmax(axis=1), y)


@pytest.mark.parametrize("kind", KINDS)
def test_a_class_that_never_came_is_not_excluded(kind):
    X, y = problem(4, n=60)
    some = y != 2
    found = fit(kind, X[some], y[some], 4)
    p = np.exp(multiclass.log_probabilities(X, found.belief, 4, 1.0))
    assert p[some, 2].max() < 0.5
    # Where it would have been, no other class was, either.
    assert p[~some, 2].mean() > 2 * p[some, 2].mean()
    assert p[:, 2].min() > 1e-6


@pytest.mark.parametrize("share", [1.0, 0.3])
def test_the_product_is_that_of_the_sites(share):
    X, y = problem(3)
    weight = np.random.default_rng(1).uniform(0.5, 2, len(y))
    prior = prior_of(4, 3, "factorized")
    rows = make_rows("factorized", X, y, 3, prior, weight, 1.0)
    belief = prior
    for _ in range(3):
        belief = prior.times(rows.sweep(belief, share))
    n_entries = X.size
    for product, sites in zip(rows.product, rows.sites[:2], strict=True):
        of_entries = np.einsum("i,ijk->kj", weight, sites[:n_entries].reshape(*X.shape, 2))
        of_intercept = weight @ sites[n_entries:]
        expected = np.column_stack([of_entries, of_intercept])
        np.testing.assert_allclose(product.reshape(2, 4), expected, atol=1e-10)


@pytest.mark.parametrize("kind", KINDS)
def test_lost_sites_are_found_again(kind, monkeypatch):
    monkeypatch.setattr(linear, "RECOVERED", 1e-12)
    X, y = problem(3)
    prior = prior_of(3, 3, kind)
    rows, again = (make_rows(kind, X, y, 3, prior, np.ones(len(y)), 1.0) for _ in range(2))
    found = linear.iterate(rows, prior, 3000, 1e-10)
    product = again.recover(found.belief, found.belief.over(prior), 3000)
    # As exact as the fit, whose sweeps move it by 1e-10 and come closer by a few percent each.
    assert prior.times(product).distance(found.belief) < 1e-8
    constants = [each.log_constant(found.belief) for each in (rows, again)]
    assert constants[0] == pytest.approx(constants[1], abs=1e-6)


def test_a_wide_intercept_does_not_swing():
    # It used to take hundreds of sweeps to come back from the first rows of the first one.
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((600, 20)), rng.integers(0, 10, 600)
    X += np.eye(20)[y]
    precision = np.tile(np.append(np.full(20, 10.0), 1e-3), 9)
    found = fit("factorized", X, y, 10, Belief(precision, 0 * precision), tol=0.02, max_iter=100)
    assert found.n_iter < 15


# Probabilities


def by_quadrature(mean, variance):
    """P(each of independent scores is the largest), on a fine grid."""
    deviation = np.sqrt(variance)
    low, high = (mean - 10 * deviation).max(), (mean + 10 * deviation).max()
    t = np.linspace(low, high, int((high - low) / min(0.2 * deviation.min(), 0.01)) + 2)
    z = (t[:, None] - mean) / deviation
    cdf, density = special.ndtr(z), np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi * variance)
    others = [np.delete(cdf, c, axis=1).prod(axis=1) for c in range(len(mean))]
    return np.sum(density * np.transpose(others), axis=0) * (t[1] - t[0])


def rule(n_nodes=multiclass.NODES):
    nodes, weights = np.polynomial.legendre.leggauss(n_nodes)
    return (nodes + 1) / 2, weights / 2


def log_p_of(mean, covariance, noise):
    return largest.log_probabilities(mean[None], covariance[None], noise, *rule())[0]


@pytest.mark.parametrize("n", [1, 3, 25])
@pytest.mark.parametrize("steep", [0.5, 0.99, 1 - 1e-8])
def test_integral_against_scipy(n, steep):
    rng = np.random.default_rng(n)
    for _ in range(5):
        z, a = 2 * rng.standard_normal(n), rng.uniform(-0.3, 1, n) * steep
        a[0] = steep

        def integrand(t, z=z, a=a):
            return stats.norm.pdf(t) * special.ndtr((z + a * t) / np.sqrt(1 - a * a)).prod()

        width = 9 * np.sqrt(1 - steep**2) / steep
        points = np.concatenate([-z / a, -z[:1] / steep - width, -z[:1] / steep + width])
        points = np.unique(points[np.abs(points) < 9])
        exact = integrate.quad(integrand, -9, 9, points=points, limit=1000, epsabs=1e-14)[0]
        ours = largest.integrate(z, a, n, *rule())
        assert ours == pytest.approx(exact, rel=1e-8, abs=1e-13)


@pytest.mark.parametrize("sizes", [(1, 1, 1), (0.01, 1, 30), (1e-6, 1, 1)])
def test_three_classes_are_exact(sizes):
    rng = np.random.default_rng(0)
    for _ in range(5):
        mean, variance = rng.standard_normal(3), np.array(sizes, dtype=float)
        log_p = log_p_of(mean, np.diag(variance), 0.0)
        np.testing.assert_allclose(np.exp(log_p), by_quadrature(mean, variance), atol=1e-8)


def test_three_classes_with_opposite_comparisons_are_exact():
    # No independent scores have these differences: that of the first class is nearly known.
    L = np.array([[0.02, 0.01], [1.0, 0.3], [-1.02, -0.31]])
    mean, S = np.array([0.2, -0.3, 0.1]), L @ L.T
    exact = []
    for c in range(3):
        A = comparisons(3, c)
        law = {"abseps": 1e-10, "releps": 1e-10, "maxpts": 1_000_000, "rng": 0}
        exact.append(
            stats.multivariate_normal.cdf(A @ mean, [0, 0], A @ S @ A.T + 1e-3 * A @ A.T, **law)
        )
    np.testing.assert_allclose(np.exp(log_p_of(mean, S, 1e-3)), exact, atol=1e-7)


@pytest.mark.parametrize("n_classes", [4, 10, 26])
def test_independent_scores_of_many_classes(n_classes):
    # A common factor exists; it is looked for until it moves by less than 1e-4.
    rng = np.random.default_rng(n_classes)
    for spread in (0.5, 3.0):
        mean, variance = spread * rng.standard_normal(n_classes), rng.uniform(0.2, 5, n_classes)
        p = np.exp(log_p_of(mean, np.diag(variance), 0.0))
        np.testing.assert_allclose(p, by_quadrature(mean, variance), atol=1e-4)


@pytest.mark.parametrize("n_classes", [5, 12])
@pytest.mark.parametrize("noise", [1.0, 0.0])
def test_probabilities_against_draws(n_classes, noise):
    rng = np.random.default_rng(n_classes)
    n, errors, broken = 200_000, [], []
    for size in (0.3, 1.0, 3.0):
        mean, S = random_scores(n_classes, rng, size)
        draws = rng.multivariate_normal(mean, S + noise * np.eye(n_classes), n, method="eigh")
        exact = np.bincount(draws.argmax(axis=1), minlength=n_classes) / n
        errors.append(np.exp(log_p_of(mean, S, noise)) - exact)
        # Comparisons as if they were independent.
        S += noise * np.eye(n_classes)
        difference = np.subtract.outer(mean, mean)
        variance = np.add.outer(np.diag(S), np.diag(S)) - 2 * S + np.eye(n_classes)
        product = special.ndtr(difference / np.sqrt(variance)).prod(axis=1)
        broken.append(product / product.sum() - exact)
    # Random covariances are the worst case; real posteriors were within sampling error.
    assert np.abs(errors).max() < 0.02 + 4.5 * np.sqrt(0.25 / n)
    assert np.abs(broken).max() > 0.05


def test_decisions_tell_what_probabilities_no_longer_do():
    mean = np.array([[0.0, -1.0, 1.0], [0.0, 0.0, 0.0], [-30.0, 0, 30], [-300, 0.0, 300]])
    S = np.tile(np.eye(3) - 1 / 3, (4, 1, 1))
    log_p = largest.log_probabilities(mean, S, 1.0, *rule())
    p, decision = multiclass.probabilities(log_p), multiclass.decisions(log_p)
    np.testing.assert_allclose(special.ndtr(decision[0]), p[0], atol=1e-12)
    np.testing.assert_allclose(p[1], 1 / 3, atol=1e-9)
    # The score that is left behind most is ahead of nothing.
    assert decision[3, 2] > decision[2, 2] > 10
    np.testing.assert_allclose(decision[3, 1], -300 / 2, rtol=1e-6)
