"""Regression in cells that landmarks join: the kernel that its docstring writes, as one matrix."""

import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.utils._param_validation import InvalidParameterError

from bayespoint._runtime.threads import threads
from bayespoint.solvers import Mosaic, Regression, mosaic
from bayespoint.solvers.mosaic import Patch, Sums, condense
from bayespoint.solvers.regression import freedom_of, leave_one_out
from bayespoint.solvers.watch import watching
from mutants import interpreted

SEED = int(os.environ.get("BAYESPOINT_TEST_SEED", "0"))
M, N_CELLS, N_LANDMARKS = 60, 3, 10


class World:
    """Points in cells with landmarks, codes and weights, and the dense matrices of the twin."""

    def __init__(
        self,
        m=M,
        n_cells=N_CELLS,
        n_landmarks=N_LANDMARKS,
        n_outputs=3,
        softness=0.2,
        weights=(1.0, 2.0),
        seed=SEED,
    ):
        rng = np.random.default_rng(seed)
        self.softness, self.X = softness, rng.normal(size=(m, 2))
        self.landmarks = self.X[rng.choice(m, n_landmarks, replace=False)]
        # Cells are stripes, in a random order of rows.
        self.borders = np.quantile(self.X[:, 0], np.arange(1, n_cells) / n_cells)
        self.cell = self.cell_of(self.X)
        self.cells = [rng.permutation(np.flatnonzero(self.cell == c)) for c in range(n_cells)]
        self.weight = rng.choice(weights, m)
        if n_outputs == 1:
            self.codes = rng.choice([-0.5, 0.5], size=(m, 1))
        else:
            self.codes = np.eye(n_outputs)[rng.integers(n_outputs, size=m)] - 1 / n_outputs
        self.K = rbf(self.X, self.X)
        self.features = self.features_of(self.X)

    def cell_of(self, X):
        return np.searchsorted(self.borders, X[:, 0])

    def features_of(self, X):
        """Return the coordinates of points in an orthonormal basis of the landmarks."""
        lower = np.linalg.cholesky(rbf(self.landmarks, self.landmarks))
        return np.linalg.solve(lower, rbf(self.landmarks, X)).T

    def kernel(self, X):
        """Return the kernel of the mosaic between points and training points."""
        Q = self.features_of(X) @ self.features.T
        return np.where(self.cell_of(X)[:, None] == self.cell, rbf(X, self.X), Q)

    @property
    def noisy(self):
        """Return the whole matrix with noise, in units of the noise."""
        return self.kernel(self.X) / self.softness + np.diag(1 / self.weight)

    def patch(self, number, dtype=np.float64):
        rows = self.cells[number]
        K = self.K[np.ix_(rows, rows)]
        return Patch(self.features[rows].astype(dtype), K.astype(dtype))

    def solve(self, solver=None, dtype=np.float64, on_round=None, **options):
        solver = Mosaic() if solver is None else solver
        given = (self.cells, lambda c: self.patch(c, dtype), self.codes, self.softness, self.weight)
        with watching(np.inf, on_round) as watch:
            return solver.solve(*given, watch=watch, **options)

    def tolerance(self, dtype=np.float64):
        """Return the error of a solution: a few eps for each row, times the condition number."""
        return 4 * len(self.X) * np.finfo(dtype).eps * np.linalg.cond(self.noisy)


def rbf(X, Y):
    return np.exp(-0.5 * np.sum((X[:, None] - Y[None]) ** 2, axis=2))


def left_out(C, codes, weight):
    """Return the outputs at points when one of their copies is really left out."""
    outputs = np.empty_like(codes)
    K = C - np.diag(1 / weight)
    for i in range(len(C)):
        less = weight.copy()
        less[i] -= min(weight[i], 1.0)
        kept = np.flatnonzero(less > 1e-12)
        alpha = np.linalg.solve(K[np.ix_(kept, kept)] + np.diag(1 / less[kept]), codes[kept])
        outputs[i] = K[i, kept] @ alpha
    return outputs


def agrees(solver, world, dtype=np.float64):
    """Tell whether everything that a mosaic finds is that of the dense matrix."""
    found, C = world.solve(solver, dtype), world.noisy
    inverse, atol = np.linalg.inv(C), world.tolerance(dtype)
    coef = inverse @ world.codes
    new = np.random.default_rng(SEED + 1).normal(size=(20, 2))
    cell, s = world.cell_of(new), world.softness
    near = rbf(new, world.X) * (cell[:, None] == world.cell) @ found.solution.coef / s
    outputs = near + np.einsum("ir,irc->ic", world.features_of(new), found.of_cells[cell])
    known = C - np.diag(1 / world.weight)
    covariance = np.eye(N_LANDMARKS) - world.features.T @ (inverse / s) @ world.features
    pairs = [
        (found.solution.coef, coef),
        (found.solution.inverse_diagonal, np.diagonal(inverse)),
        (found.solution.outputs, left_out(C, world.codes, world.weight)),
        (found.solution.squared, np.einsum("ic,ic->c", coef, known @ coef) / s),
        (found.solution.log_det, np.linalg.slogdet(C)[1]),
        (outputs, world.kernel(new) @ coef / s),
        (found.root.T @ found.root, covariance),
    ]
    right = np.array_equal(found.rows, np.arange(len(C))) and found.n_done == len(world.cells)
    # Leaving a point out divides by what its neighbors do not know, the least freedom.
    atol /= freedom_of(np.diagonal(inverse), world.weight)[0].min()
    return right and all(
        np.allclose(a, b, rtol=0, atol=atol * max(1, np.abs(b).max())) for a, b in pairs
    )


# Invariants


def test_the_kernel_of_the_mosaic_is_a_kernel():
    world = World(weights=(1.0,))
    K = world.kernel(world.X)
    np.testing.assert_allclose(K, K.T, atol=1e-12)
    assert np.linalg.eigvalsh(K).min() > -M * 1e-14  # a few eps for each row
    np.testing.assert_allclose(np.diagonal(K), 1)


def test_the_landmarks_know_more_than_before():
    world = World()
    found = world.solve()
    variances = np.linalg.eigvalsh(found.root.T @ found.root)
    assert variances.min() > 0
    assert variances.max() < 1
    assert np.all(np.triu(found.root, 1) == 0)


# Agreement with the dense matrix


@pytest.mark.parametrize("softness", [0.01, 0.2, 5.0])
@pytest.mark.parametrize("n_outputs", [1, 4])
def test_a_mosaic_is_the_regression_with_its_kernel(n_outputs, softness):
    assert agrees(Mosaic(), World(n_outputs=n_outputs, softness=softness))


def test_single_precision_is_as_exact_as_its_digits_allow():
    assert agrees(Mosaic(), World(), np.float32)
    for dtype in (np.float32, np.float64):
        coef = World().solve(dtype=dtype).solution.coef
        assert np.array_equal(coef, coef.astype(np.float32)) == (dtype == np.float32)


def test_points_of_weight_below_one_are_left_out_as_a_whole():
    assert agrees(Mosaic(), World(weights=(0.3, 1.0, 2.5)))


@given(seed=st.integers(0, 10**6), n_cells=st.integers(1, 6), softness=st.floats(0.05, 3.0))
@settings(max_examples=20)
def test_any_cells_agree_with_the_dense_matrix(seed, n_cells, softness):
    assert agrees(Mosaic(), World(n_cells=n_cells, softness=softness, seed=seed))


def test_one_cell_is_the_exact_regression():
    world = World(n_cells=1)
    found = world.solve()
    exact = Regression().solve(
        world.K, world.codes, world.softness, np.random.default_rng(0), world.weight
    )
    plain = leave_one_out(world.K / world.softness, world.codes, world.weight)
    atol = world.tolerance()
    np.testing.assert_allclose(found.solution.coef, plain.coef, atol=atol)
    np.testing.assert_allclose(found.solution.outputs, exact.left_out, atol=atol)
    assert found.solution.log_det == pytest.approx(plain.log_det, abs=M * atol)
    # The only cell says everything itself: nothing is left to the landmarks.
    np.testing.assert_allclose(found.of_cells, 0, atol=atol)


@pytest.mark.parametrize("n_cells", [2, 5])
def test_if_every_point_is_a_landmark_it_is_the_exact_regression(n_cells):
    world = World(m=25, n_cells=n_cells, n_landmarks=25)
    plain = leave_one_out(world.K / world.softness, world.codes, world.weight)
    found = world.solve().solution
    # The basis of all points is as ill-conditioned as the root of their matrix.
    atol = world.tolerance() * np.sqrt(np.linalg.cond(world.K))
    np.testing.assert_allclose(found.coef, plain.coef, atol=atol)
    np.testing.assert_allclose(found.outputs, plain.outputs, atol=atol)


def test_a_weight_of_two_is_a_repeated_point():
    once = World(weights=(1.0, 2.0, 3.0))
    copies = np.repeat(np.arange(M), once.weight.astype(int))
    repeated = World()
    vars(repeated).update(vars(once))
    repeated.X, repeated.codes = once.X[copies], once.codes[copies]
    repeated.cell, repeated.weight = once.cell[copies], np.ones(len(copies))
    repeated.cells = [np.flatnonzero(repeated.cell == c) for c in range(N_CELLS)]
    repeated.K, repeated.features = once.K[np.ix_(copies, copies)], once.features[copies]
    a, b = once.solve(), repeated.solve()
    added = np.zeros_like(a.solution.coef)
    np.add.at(added, copies, b.solution.coef)
    atol = repeated.tolerance()
    np.testing.assert_allclose(a.solution.coef, added, atol=atol)
    np.testing.assert_allclose(a.solution.outputs[copies], b.solution.outputs, atol=10 * atol)
    np.testing.assert_allclose(a.of_cells, b.of_cells, atol=atol)
    np.testing.assert_allclose(a.root, b.root, atol=atol)


# Time


def stop_after(n_rounds):
    reports = []

    def on_round(info):
        reports.append(info)
        return len(reports) == n_rounds

    return on_round, reports


@pytest.mark.parametrize("n_done", [1, 2])
@pytest.mark.parametrize("n_held", [None, 0])
def test_cells_that_were_not_reached_have_the_mean_of_the_others(n_done, n_held):
    world = World()
    on_round, reports = stop_after(n_done)
    found = world.solve(on_round=on_round, n_held=n_held, n_at_once=2)
    assert found.n_done == n_done
    assert [(r["n_done"], r["n_cells"]) for r in reports] == [
        (k + 1, N_CELLS) for k in range(n_done)
    ]
    rows = np.sort(np.concatenate(world.cells[:n_done]))
    np.testing.assert_array_equal(found.rows, rows)
    # A regression that has only these rows.
    C, codes = world.noisy[np.ix_(rows, rows)], world.codes[rows]
    coef, atol = np.linalg.solve(C, codes), world.tolerance()
    np.testing.assert_allclose(found.solution.coef, coef, atol=atol)
    known = left_out(C, codes, world.weight[rows])
    np.testing.assert_allclose(found.solution.outputs, known, atol=10 * atol)
    mean = world.features[rows].T @ coef / world.softness
    for c in range(n_done, N_CELLS):
        np.testing.assert_allclose(found.of_cells[c], mean, atol=atol)


# Errors, determinism


@pytest.mark.parametrize("wrong", [{"n_landmarks": 0}, {"n_points": 9}, {"n_draws": 1}])
def test_wrong_parameters_are_refused(wrong):
    with pytest.raises(InvalidParameterError, match=next(iter(wrong))):
        World().solve(Mosaic(**wrong))


def assert_same_bits(a, b):
    for here, there in zip(a.solution, b.solution, strict=True):
        np.testing.assert_array_equal(here, there)
    for name in ("rows", "of_cells", "root", "n_done"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("n_at_once", [1, 2, 7])
@pytest.mark.parametrize("n_held", [0, 2, None])
def test_threads_and_memory_do_not_change_a_bit(n_held, n_at_once, n_jobs, dtype):
    world = World(n_cells=5)
    with threads(n_jobs) as thread_map:
        options = {"n_held": n_held, "n_at_once": n_at_once, "thread_map": thread_map}
        assert_same_bits(world.solve(dtype=dtype), world.solve(dtype=dtype, **options))


def test_no_more_cells_are_computed_than_necessary():
    world, calls = World(n_cells=5), []
    plain = world.patch
    world.patch = lambda c, dtype: calls.append(c) or plain(c, dtype)
    world.solve(n_held=2)
    assert calls == [0, 1, 2, 3, 4, 2, 3, 4]  # all once, and those that were not held again


def test_the_order_of_the_cells_does_not_matter():
    world = World()
    a = world.solve()
    world.cells = world.cells[::-1]
    b = world.solve()
    np.testing.assert_allclose(a.solution.coef, b.solution.coef, atol=world.tolerance())
    np.testing.assert_allclose(a.of_cells, b.of_cells[::-1], atol=world.tolerance())


def test_cells_of_single_precision_are_added_up_in_double_precision():
    world = World(n_cells=5)
    halves = [
        condense(world.patch(c, np.float32), world.codes[rows], 0.2, world.weight[rows])
        for c, rows in enumerate(world.cells)
    ]

    def total(order):
        sums = Sums(N_LANDMARKS, 3)
        for c in order:
            sums.add(halves[c])
        return sums

    forth, back, parts = total(range(5)), total(range(4, -1, -1)), total([3, 1])
    parts.add_sums(total([4, 0, 2]))
    assert all(half.square.dtype == np.float32 for half in halves)
    for found in (back, parts):
        # Each of four additions rounds once.
        for name in ("square", "pull", "log_det"):
            a, b = getattr(forth, name), getattr(found, name)
            np.testing.assert_allclose(a, b, rtol=0, atol=4 * np.abs(a).max() * 2.0**-52)
        assert found.n_cells == 5
    in_single = [sum(h.square for h in some) for some in (halves, halves[::-1])]
    assert np.abs(in_single[0] - in_single[1]).max() > 1e-8


# Versions that are broken on purpose

BROKEN = {
    "a diagonal without landmarks": (
        "diagonal[here] -= np.einsum",
        "diagonal[here] -= 0 * np.einsum",
    ),
    "a cell counted twice": ("mean - half.features.T @ gap", "mean"),
    "no prior": ("[:: len(root) + 1] += 1\n", "[:: len(root) + 1] += 0\n"),
    "no weights": ("[:: len(matrix) + 1] += 1 / weight", "[:: len(matrix) + 1] += 1"),
    "another noise": ("dtype.type(softness**-0.5)", "dtype.type(softness**0.5)"),
    "no span between cells": ("pull += found.half", "pull += 0 * found.half"),
    "the order of the cells": ("for cell in found])[order].astype", "for cell in found]).astype"),
    "half the determinant": ("+ factor(root", "+ 0.5 * factor(root"),
}


@pytest.mark.parametrize("change", BROKEN.values(), ids=BROKEN)
def test_a_broken_version_is_noticed(change):
    assert not agrees(interpreted(mosaic, *change).Mosaic(), World())
