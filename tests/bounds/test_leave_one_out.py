import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import lsq_linear
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from bayespoint.bounds import leave_one_out_bound, support_vector_bound, svm_leave_one_out_bound
from bayespoint.datasets.two_gaussians import TwoGaussians


def svm_without_intercept(K, y, C):
    """Return the alphas of an SVM without intercept, by least squares in a box."""
    upper = np.linalg.cholesky(K * np.outer(y, y)).T
    target = np.linalg.solve(upper.T, np.ones(len(y)))
    return lsq_linear(upper, target, (0, C), method="bvls", tol=1e-14).x


def random_problem(rng):
    """Return a few noisy points of both classes, and parameters for an SVM."""
    while True:
        m = rng.integers(6, 14)
        X = rng.standard_normal((m, rng.integers(1, 4)))
        y = np.where(X[:, 0] + rng.choice([0, 0.5, 2]) * rng.standard_normal(m) > 0, 1, -1)
        if min(np.sum(y == 1), np.sum(y == -1)) > 1:
            return X, y, 10 ** rng.uniform(-1, 1), 10 ** rng.uniform(-1, 2)


def test_bounds_the_leave_one_out_error_without_intercept(rng):
    violated_as_printed = tight = 0
    for _ in range(60):
        X, y, gamma, C = random_problem(rng)
        K = rbf_kernel(X, gamma=gamma) + 1e-6 * np.eye(len(y))  # still a kernel, but not singular
        alphas = svm_without_intercept(K, y, C)
        margins = y * (K @ (alphas * y))
        wrong = []
        for i in range(len(y)):
            others = np.arange(len(y)) != i
            left = svm_without_intercept(K[np.ix_(others, others)], y[others], C)
            output = y[i] * (K[i, others] @ (left * y[others]))
            wrong.append(output <= -1e-9)
            # The inequality behind the bound (theorem 1 of 004), point by point.
            assert output >= margins[i] - alphas[i] * K[i, i] - 1e-6
        bound = leave_one_out_bound(margins, alphas, np.diagonal(K), tol=1e-6)
        assert np.mean(wrong) <= bound <= support_vector_bound(np.sum(alphas > 1e-9), len(y))
        violated_as_printed += np.mean(wrong) > np.mean(margins - alphas > 1e-6)
        tight += np.mean(wrong) == bound
    assert violated_as_printed > 5  # eq. 1.84 of 004 has the wrong sign
    assert tight > 20


def left_out(model, X, y):
    """Return the share of points that the model gets wrong if they are left out."""
    wrong = []
    for i in range(len(y)):
        others = np.arange(len(y)) != i
        outputs = model.fit(X[others], y[others]).decision_function(X[i : i + 1])
        wrong.append(y[i] * outputs[0] < -1e-6)
    return np.mean(wrong)


def test_bounds_the_leave_one_out_error_with_intercept(rng):
    n_refused = n_better = 0
    for trial in range(60):
        X, y, gamma, C = random_problem(rng)
        model = SVC(C=1e4 if trial % 2 else C, gamma=gamma, tol=1e-8).fit(X, y)
        share = len(model.support_) / len(y)
        if np.all(np.abs(model.dual_coef_) > model.C * (1 - 1e-3)):
            n_refused += 1
            with pytest.raises(ValueError, match="all have C"):
                svm_leave_one_out_bound(model, X, y)
            continue
        bound = svm_leave_one_out_bound(model, X, y)
        assert left_out(model, X, y) <= bound <= share
        n_better += bound < share
    assert n_refused < 30
    assert n_better > 5


def test_a_small_c_leaves_only_the_support_vectors():
    """The solution is the same, but a coefficient might reach C when a point is left out."""
    rng = np.random.default_rng(4)
    X = np.round(rng.standard_normal((12, 2)), 1)
    y = np.where(X[:, 0] > 0, 1, -1)
    large, small = (SVC(gamma=0.5, C=C, tol=1e-8).fit(X, y) for C in (5.0, 3.5))
    alphas = np.abs(large.dual_coef_[0])
    assert np.allclose(large.dual_coef_, small.dual_coef_, atol=1e-6)
    assert alphas.max() < 3.5 < alphas.sum() / 2 < 5.0  # half of the squared length
    assert svm_leave_one_out_bound(large, X, y) == 5 / 12
    assert svm_leave_one_out_bound(small, X, y) == 7 / 12


def test_equation_of_004_does_not_hold_with_an_intercept():
    """Eq. 1.84 includes an intercept; six points show that it does not hold then."""
    X = np.array(
        [
            [0.39, 0.92, 1.61],
            [0.64, -0.87, -1.22],
            [-0.6, -0.08, -0.05],
            [-0.42, 0.3, 0.11],
            [0.57, -0.44, 1.14],
            [-2.28, 0.35, 0.09],
        ]
    )
    y = np.array([1, 1, -1, -1, 1, -1])
    model = SVC(C=100.0, gamma=2.84, tol=1e-8).fit(X, y)
    alphas = np.zeros(6)
    alphas[model.support_] = np.abs(model.dual_coef_[0])
    wrong_bound = leave_one_out_bound(y * model.decision_function(X), alphas, np.ones(6))
    bound = svm_leave_one_out_bound(model, X, y)
    assert wrong_bound < left_out(model, X, y) <= bound


@pytest.mark.parametrize("kernel", ["linear", "poly"])
def test_other_kernels_and_sparse_points(kernel, rng):
    X = rng.standard_normal((30, 3))
    y = np.where(X[:, 0] + 0.3 * rng.standard_normal(30) > 0, 1, -1)
    model = SVC(kernel=kernel, gamma=1.0, coef0=1.0, tol=1e-8)
    bound = svm_leave_one_out_bound(model.fit(X, y), X, y)
    sparse_model = SVC(kernel=kernel, gamma=1.0, coef0=1.0, tol=1e-8)
    sparse_bound = svm_leave_one_out_bound(sparse_model.fit(sparse.csr_array(X), y), X, y)
    assert sparse_bound == bound
    assert left_out(model, X, y) <= bound


def test_holds_for_the_error_on_average(rng):
    """On average over training sets the bound exceeds the error with one point less."""
    problem = TwoGaussians([1.0, 0.5])
    bounds, errors = [], []
    for _ in range(60):
        X, y = problem.draw(41, random_state=np.random.RandomState(rng.integers(2**31)))
        model = SVC(kernel="linear", C=1.0).fit(X, y)
        bounds.append(support_vector_bound(len(model.support_), 41))
        model = SVC(kernel="linear", C=1.0).fit(X[1:], y[1:])
        errors.append(problem.error(model.coef_, model.intercept_[0]))
    assert np.mean(bounds) > np.mean(errors)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: support_vector_bound(5, 4), "n_support should be at most n_samples = 4"),
        (lambda: support_vector_bound(-1, 4), "n_support should be a whole number"),
        (lambda: support_vector_bound(1, 0), "n_samples should be a whole number"),
        (lambda: leave_one_out_bound([1.0], [-1.0], [1.0]), "alphas should not be negative"),
        (lambda: leave_one_out_bound([1.0], [1.0], [-1.0]), "diagonal should not be negative"),
        (lambda: leave_one_out_bound([1.0], [1.0, 2.0], [1.0]), "each of 1 training points"),
        (lambda: leave_one_out_bound([np.nan], [1.0], [1.0]), "NaN or infinite"),
        (lambda: leave_one_out_bound([], [], []), "one for each training point"),
        (
            lambda: leave_one_out_bound([1.0], [1.0], [1.0], kernel_range=0.0),
            "kernel_range should be a positive",
        ),
    ],
)
def test_refuses(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_refuses_other_models_and_other_points(rng):
    X, y = TwoGaussians([1.0]).draw(20, random_state=0)
    with pytest.raises(TypeError, match="should be a fitted SVC, but is LogisticRegression"):
        svm_leave_one_out_bound(LogisticRegression().fit(X, y), X, y)
    with pytest.raises(ValueError, match="20 points that the model was fitted to, but has 19"):
        svm_leave_one_out_bound(SVC().fit(X, y), X[1:], y[1:])
