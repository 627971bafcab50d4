"""Behavior shared by both margin machines with a kernel."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linprog
from sklearn.base import clone
from sklearn.datasets import load_iris, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel

from bayespoint import AdaptiveMarginSVC, LinearProgramSVC
from bayespoint.solvers.programs import dual_program
from bayespoint.solvers.programs.highs import NotSolvedError
from linear_programs import OBJECTIVE_TOLERANCE, coefficients, noisy, reference
from weight_checks import (
    WEIGHT_PRECISION,
    check_class_weights_multiply,
    check_integers_are_repetitions,
    check_refuses_wrong_weights,
    check_zero_is_removal,
    check_zero_is_removal_from_a_kernel_matrix,
)


def test_optimality_conditions(rng):
    """Multipliers that prove the minimum can be recovered from the coefficients alone."""
    X, y = noisy(rng)
    model = AdaptiveMarginSVC(gamma=0.5).fit(X, y)
    coef = coefficients(model, y)
    A = np.outer(y, y) * rbf_kernel(X, gamma=0.5) - np.eye(len(y))
    slack = 1 - A @ coef
    near, support = np.abs(slack) < 1e-7, coef > 0
    multipliers = (slack > 0).astype(float)
    # Dual constraints of support vectors are tight: one equation per point at the margin.
    right = -A[support][:, ~near] @ multipliers[~near]
    multipliers[near] = np.linalg.lstsq(A[support][:, near], right)[0]
    assert np.all((multipliers > -1e-7) & (multipliers < 1 + 1e-7))
    assert np.all(A @ multipliers < 1e-7)
    assert np.isclose(multipliers.sum(), model.objective_[0])


def test_a_wrong_program_is_noticed(rng, monkeypatch):
    """The gap is a proof: coefficients of another program do not pass."""
    X, y = noisy(rng)
    good = AdaptiveMarginSVC(gamma=0.5).fit(X, y).objective_[0]
    other = coefficients(AdaptiveMarginSVC(gamma=0.5, adaptivity=1.1).fit(X, y), y)
    A = np.outer(y, y) * rbf_kernel(X, gamma=0.5) - np.eye(len(y))
    assert np.maximum(1 - A @ other, 0).sum() > good + 1e-4
    new_highs = dual_program.new_highs
    monkeypatch.setattr(dual_program, "new_highs", lambda: Broken(new_highs()))
    with pytest.warns(ConvergenceWarning, match=r"solved only to within .* of the minimum"):
        AdaptiveMarginSVC(gamma=0.5).fit(X, y)


class Broken:
    """HiGHS with coefficients that are off by one percent."""

    def __init__(self, highs):
        self.highs = highs

    def __getattr__(self, name):
        return getattr(self.highs, name)

    def getSolution(self):
        found = self.highs.getSolution()
        found.row_dual = [1.01 * value for value in found.row_dual]
        return found


@pytest.mark.parametrize("share", [1, 1000])
def test_rows_in_a_round_do_not_matter(rng, monkeypatch, share):
    X, y = noisy(rng, 200)
    expected = AdaptiveMarginSVC(gamma=0.5).fit(X, y)
    monkeypatch.setattr(dual_program, "_POINTS_PER_NEW_CONSTRAINT", share)
    monkeypatch.setattr(dual_program, "_MIN_NEW_CONSTRAINTS", 2)
    model = AdaptiveMarginSVC(gamma=0.5).fit(X, y)
    assert np.isclose(model.objective_[0], expected.objective_[0], rtol=0, atol=OBJECTIVE_TOLERANCE)
    np.testing.assert_allclose(model.decision_function(X), expected.decision_function(X))


def test_solutions_are_sparse_and_outputs_need_support_vectors_alone(rng):
    X, y = noisy(rng, 300)
    model = AdaptiveMarginSVC(gamma=0.5).fit(X, y)
    assert len(model.support_) < 100
    assert np.all(model.dual_coef_ != 0)
    np.testing.assert_array_equal(model.support_vectors_, X[model.support_])
    new = rng.standard_normal((50, 3))
    expected = rbf_kernel(new, X[model.support_], gamma=0.5) @ model.dual_coef_[0]
    np.testing.assert_allclose(model.decision_function(new), expected)


def test_units_of_the_kernel_do_not_matter(rng):
    X, y = noisy(rng)
    K = rbf_kernel(X, gamma=0.5)
    plain = AdaptiveMarginSVC("precomputed").fit(K, y)
    for unit in (1e-12, 1e12):
        scaled = AdaptiveMarginSVC("precomputed").fit(unit * K, y)
        np.testing.assert_allclose(scaled.objective_, plain.objective_)
        np.testing.assert_array_equal(scaled.predict(unit * K), plain.predict(K))


@pytest.mark.parametrize("machine", [AdaptiveMarginSVC, LinearProgramSVC])
def test_precomputed_sparse_callable_and_pickled_agree(rng, machine):
    X, y = noisy(rng)
    one = machine("linear", fit_intercept=True).fit(X, y)
    K = X @ X.T
    others = [
        (machine("precomputed", fit_intercept=True).fit(K, y), K),
        (machine("linear", fit_intercept=True).fit(sparse.csr_matrix(X), y), sparse.csr_matrix(X)),
        (machine(lambda A, B: A @ B.T, fit_intercept=True).fit(X, y), X),
        (pickle.loads(pickle.dumps(one)), X),
    ]
    for other, points in others:
        assert np.isclose(other.objective_[0], one.objective_[0])
        np.testing.assert_allclose(
            other.decision_function(points), one.decision_function(X), atol=1e-6
        )


def test_three_classes_are_told_apart_one_against_the_rest():
    X, y = load_iris(return_X_y=True)
    model = AdaptiveMarginSVC().fit(X, y)
    assert model.score(X, y) > 0.95
    K = rbf_kernel(X, gamma=model.gamma_)
    for c in range(3):
        expected = reference(K, np.where(y == c, 1, -1), adaptivity=1.0)
        assert abs(model.objective_[c] - expected) < OBJECTIVE_TOLERANCE
    single = AdaptiveMarginSVC(gamma=model.gamma_).fit(X, np.where(y == 2, "c", "other"))
    np.testing.assert_allclose(-single.decision_function(X), model.decision_function(X)[:, 2])


def test_points_twice_with_different_labels():
    X = np.array([[0.0], [0.0], [1.0], [1.0], [2.0]])
    y = np.array([0, 1, 0, 0, 1])
    for model in [AdaptiveMarginSVC(), LinearProgramSVC(), LinearProgramSVC(nu=0.9)]:
        assert np.isfinite(model.fit(X, y).decision_function(X)).all()
    with pytest.warns(UserWarning, match="cannot be separated from the others with nu=0.01"):
        model = LinearProgramSVC(nu=0.01).fit(X, y)
    assert np.isfinite(model.decision_function(X)).all()


@pytest.mark.filterwarnings("ignore:The program:sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore:With adaptivity=.* no coefficient:UserWarning")
@pytest.mark.parametrize("gamma", [1e-6, 1e-2, 100.0, 1e4])
@pytest.mark.parametrize("adaptivity", [0.0, 1e-3, 1.0])
def test_programs_that_are_badly_scaled(gamma, adaptivity):
    X, y = make_moons(200, noise=0.3, random_state=0)
    model = AdaptiveMarginSVC(gamma=gamma, adaptivity=adaptivity).fit(X, y)
    assert np.isfinite(model.decision_function(X)).all()
    assert 0 <= model.objective_[0] <= len(y)


def test_a_program_highs_cannot_solve_gets_a_penalty_or_an_error(rng, monkeypatch):
    X, y = noisy(rng)
    run = dual_program.DualProgram._run

    def give_up(self, ends):
        if self.program.penalty == 0:
            raise NotSolvedError("no")
        return run(self, ends)

    monkeypatch.setattr(dual_program.DualProgram, "_run", give_up)
    with pytest.warns(ConvergenceWarning, match="a small penalty limits them"):
        model = AdaptiveMarginSVC(gamma=0.5).fit(X, y)
    expected = reference(rbf_kernel(X, gamma=0.5), y, adaptivity=1.0)
    # The penalty is 1e-6, and the coefficients at the minimum sum to a few hundred.
    assert -OBJECTIVE_TOLERANCE < model.objective_[0] - expected < 1e-3
    monkeypatch.setattr(dual_program, "_MAX_ITERATIONS", 1)
    monkeypatch.setattr(dual_program, "_MAX_ITERATIONS_PER_POINT", 0)
    monkeypatch.setattr(dual_program.DualProgram, "_run", run)
    with pytest.raises(NotSolvedError, match="iteration limit"):
        AdaptiveMarginSVC(gamma=0.5).fit(X, y)


def test_max_time_gives_the_best_so_far(rng):
    X, y = noisy(rng, 300)
    full = AdaptiveMarginSVC(gamma=0.5).fit(X, y)
    with pytest.warns(ConvergenceWarning, match="was stopped before it was solved"):
        model = AdaptiveMarginSVC(gamma=0.5, max_time=1e-9).fit(X, y)
    assert model.objective_[0] > full.objective_[0]
    # The minimum lies within the reported gap.
    assert model.objective_[0] - model.dual_gap_[0] <= full.objective_[0] + OBJECTIVE_TOLERANCE


def test_kernels_from_single_precision_are_symmetric_enough(rng):
    X, y = noisy(rng)
    K = np.exp(-0.5 * np.sum((X[:, None] - X) ** 2, axis=-1))
    rough = K + 1e-7 * rng.uniform(-1, 1, K.shape)
    exact = LinearProgramSVC("precomputed").fit(K, y)
    model = LinearProgramSVC("precomputed").fit(rough, y)
    # The coefficients of the exact program change no slack by more than the noise times
    # their sum.
    most = 1e-7 * np.abs(exact.dual_coef_).sum() * len(y)
    assert model.objective_[0] <= exact.objective_[0] + exact.dual_gap_[0] + 2 * most


def test_refuses(rng):
    X, y = noisy(rng)
    with pytest.raises(ValueError, match="nu should be at most"):
        LinearProgramSVC(nu=0.99, fit_intercept=True).fit(X, np.where(X[:, 0] > 1, 1, 0))
    with pytest.raises(ValueError, match="squared length of a point"):
        AdaptiveMarginSVC("precomputed").fit(-np.eye(len(y)), y)
    with pytest.raises(ValueError, match="should be symmetric"):
        LinearProgramSVC("precomputed").fit(np.triu(np.ones((len(y), len(y)))), y)
    with pytest.raises(ValueError, match="square"):
        LinearProgramSVC("precomputed").fit(X, y)
    with pytest.raises(ValueError, match="one class"):
        AdaptiveMarginSVC().fit(X, np.ones(len(y)))
    for bad in [{"nu": 0.0}, {"nu": 1.1}, {"C": 0}, {"gamma": "auto"}, {"max_time": 0}]:
        with pytest.raises(ValueError, match="must be"):
            LinearProgramSVC(**bad).fit(X, y)
    with pytest.raises(ValueError, match="must be"):
        AdaptiveMarginSVC(adaptivity=-1).fit(X, y)


def test_the_gap_is_exact_for_a_kernel_with_rounding(rng):
    """Before averaging, an accepted asymmetry of 5e-7 moved the gap by 1e-5."""
    X, y = noisy(rng)
    K = rbf_kernel(X, gamma=0.5)
    rounded = K * (1 + 2.5e-7 * rng.uniform(-1, 1, K.shape))
    model = AdaptiveMarginSVC("precomputed").fit(rounded, y)
    assert abs(model.dual_gap_[0]) < OBJECTIVE_TOLERANCE


MACHINES = {
    "adaptive": AdaptiveMarginSVC(gamma=0.5),
    "adaptive, threshold": AdaptiveMarginSVC(gamma=0.5, adaptivity=0.7, fit_intercept=True),
    "windows": AdaptiveMarginSVC(gamma=0.5, adaptivity=np.inf),
    "penalty": LinearProgramSVC(gamma=0.5, C=3.0),
    "penalty, threshold, scale": LinearProgramSVC(C=3.0, fit_intercept=True),
    "nu": LinearProgramSVC(gamma=0.5, nu=0.3),
    "nu, threshold": LinearProgramSVC(gamma=0.5, nu=0.3, fit_intercept=True),
}


@pytest.mark.parametrize("machine", MACHINES)
def test_sample_weights(rng, machine):
    X, y = noisy(rng, 80)
    weighted, repeated = check_integers_are_repetitions(MACHINES[machine], X, y, rng)
    np.testing.assert_allclose(weighted.objective_, repeated.objective_, rtol=WEIGHT_PRECISION)
    check_zero_is_removal(MACHINES[machine], X, y, rng)
    check_class_weights_multiply(MACHINES[machine], X, y, rng)


def test_sample_weights_of_three_classes_and_kernel_matrices(rng):
    X, y = load_iris(return_X_y=True)
    check_integers_are_repetitions(LinearProgramSVC(), X, y, rng)
    check_class_weights_multiply(LinearProgramSVC(), X, y, rng)
    for machine in (AdaptiveMarginSVC("precomputed"), LinearProgramSVC("precomputed", nu=0.2)):
        check_zero_is_removal_from_a_kernel_matrix(machine, *noisy(rng, 80), rng)
        check_refuses_wrong_weights(machine, np.eye(6), np.array([0, 1] * 3))


@pytest.mark.parametrize("machine", MACHINES)
def test_weights_equal_repeated_rows_that_are_not_merged(rng, machine):
    X, y = noisy(rng, 60)
    times, K = rng.integers(1, 4, 60), rbf_kernel(X, gamma=0.5)
    rows = np.repeat(np.arange(60), times)
    model = clone(MACHINES[machine]).set_params(kernel="precomputed")
    weighted = clone(model).fit(K, y, sample_weight=times)
    repeated = clone(model).fit(K[np.ix_(rows, rows)], y[rows])
    # Two minima of programs with multipliers of up to 3 for each of 60 points.
    atol = 3 * 60 * OBJECTIVE_TOLERANCE
    np.testing.assert_allclose(weighted.objective_, repeated.objective_, rtol=0, atol=atol)
    if machine.startswith("adaptive"):
        return  # copies support each other without slacks, in many ways
    outputs = repeated.decision_function(K[:, rows])
    atol = WEIGHT_PRECISION * np.abs(outputs).sum()
    np.testing.assert_allclose(weighted.decision_function(K), outputs, rtol=0, atol=atol)


def test_fractional_weights_solve_the_weighted_program(rng):
    """A row of weight w has a slack of cost w, and counts as w equal rows when left out."""
    X, y = noisy(rng, 60)
    weight = rng.uniform(0.3, 2.5, 60)
    model = AdaptiveMarginSVC(gamma=0.5).fit(X, y, weight)
    K = rbf_kernel(X, gamma=0.5)
    signed = np.outer(y, y) * K - np.diag(1 / weight)
    expected = linprog(
        np.concatenate([np.zeros(60), weight]),
        A_ub=-np.hstack([signed, np.eye(60)]),
        b_ub=-np.ones(60),
        bounds=(0, None),
    ).fun
    assert abs(model.objective_[0] - expected) < 3 * OBJECTIVE_TOLERANCE
    ignored = np.outer(y, y) * K - np.eye(60)
    slacks = np.maximum(1 - ignored @ np.maximum(coefficients(model, y), 0), 0)
    assert abs(weight @ slacks - expected) > 1e-3


def test_the_order_of_rows_does_not_matter(rng):
    # Without slack there are many optimal coefficients.
    X, y = rng.standard_normal((30, 40)), rng.integers(0, 2, 30)
    order = rng.permutation(30)
    one, two = AdaptiveMarginSVC().fit(X, y), AdaptiveMarginSVC().fit(X[order], y[order])
    np.testing.assert_array_equal(one.decision_function(X), two.decision_function(X))


def test_a_path_takes_weights(rng):
    X, y = noisy(rng, 60)
    weight = rng.integers(0, 3, 60)
    (model,) = AdaptiveMarginSVC(gamma=0.5).fit_path(X, y, [1.0], sample_weight=weight)
    expected = AdaptiveMarginSVC(gamma=0.5).fit(X, y, weight)
    np.testing.assert_allclose(model.decision_function(X), expected.decision_function(X))
