"""The mixture in single precision: as exact as its digits allow, whatever the units."""

import os

import numpy as np
import pytest

from bayespoint.geometry.kernels import Kernel
from bayespoint.geometry.mixture import TERMS, Mixture, distance, fit_views, term_names
from bayespoint.geometry.mixture_kernel import MixtureKernel
from bayespoint.geometry.unit_kernel import PANEL_POINTS, panels

SEED = int(os.environ.get("BAYESPOINT_TEST_SEED", "0"))
EPS = np.finfo(np.float32).eps


def table(n=50, d=6, seed=SEED):
    """Return numbers, two codes of a few values, and a flag."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X[:, 1] = rng.integers(3, size=n)
    X[:, 2] = rng.integers(5, size=n) ** 2
    X[:, 3] = rng.integers(2, size=n)
    return X


def kernel_of(X, constant=0.7, scales=None, seed=SEED):
    """Return a mixture of all terms, each with a reach of about two mean distances."""
    rng = np.random.default_rng(seed)
    views = fit_views(X)
    if scales is not None:
        views = type(views)(**(vars(views) | {"scales": scales}))
    names = term_names(views)
    means = [distance(TERMS[name], views, X, X).mean() for name in names]
    weights = rng.dirichlet(np.ones(len(names)))
    return Kernel(
        "mixture",
        constant=constant,
        mixture=Mixture(names, weights, 0.5 / np.array(means), views),
    )


def values(unit, left, n):
    """Return the kernel with all points on the right, from poisoned memory."""
    out = np.full((n, unit.n_points), np.nan, dtype=np.float32)
    for number, here in enumerate(panels(unit.n_points)):
        part = np.full((n, here.stop - here.start), np.nan, dtype=np.float32)
        unit.panel(left, number, part)
        out[:, here] = part
    return out


def exact(kernel, X, Y):
    """Return the kernel of unit points in double precision: the twin."""
    return kernel(X, Y) / (1 + kernel.constant)


def rounding(kernel, X, Y):
    """Return the largest error of a kernel value in single precision.

    Coordinates have an error of eps times their size, after the mean is subtracted. Over d of
    them, an absolute distance D is off by 2 d eps size, and a squared one by twice as much times
    sqrt(D / d) by Cauchy and Schwarz. The sum over features adds (d + 4) eps D. A term
    exp(-gamma D) changes by gamma times the error of D, times itself; x exp(-x) < 0.37 and
    sqrt(x) exp(-x) < 0.43. Weights, constant and the sum of up to six terms take another ten eps.
    """
    mixture = kernel.mixture
    d = X.shape[1]
    worst = 0.0
    for name, gamma in zip(mixture.names, mixture.gammas, strict=True):
        term = TERMS[name]
        A, B = (mixture.views.see(term.view, Z) for Z in (X, Y))
        size = max(np.abs(Z - B.mean(axis=0)).max() for Z in (A, B))
        if term.measure == "absolute":
            worst = max(worst, gamma * 2 * d * size)
        elif term.measure == "squared":
            worst = max(worst, 4 * 0.43 * np.sqrt(gamma * d) * size)
    return EPS * (worst + 0.37 * (d + 4) + 10)


def assert_exact(kernel, X, Y):
    unit = MixtureKernel(kernel, Y)
    found = values(unit, unit.left(X), len(X))
    np.testing.assert_allclose(found, exact(kernel, X, Y), rtol=0, atol=rounding(kernel, X, Y))


# Invariants


def test_unit_points_have_length_one_and_are_never_longer():
    X = table()
    unit = MixtureKernel(kernel_of(X), X)
    K = values(unit, unit.left(X), len(X))
    np.testing.assert_allclose(np.diagonal(K), 1, atol=10 * EPS)  # six terms and a constant
    assert K.min() > 0
    assert K.max() < 1 + 10 * EPS


def test_the_matrix_is_symmetric_in_every_bit_and_positive_definite():
    X = table()
    unit = MixtureKernel(kernel_of(X), X)
    K = values(unit, unit.left(X), len(X))
    np.testing.assert_array_equal(K, K.T)
    assert np.linalg.eigvalsh(K.astype(float)).min() > -len(X) * rounding(kernel_of(X), X, X)


# Agreement with double precision


@pytest.mark.parametrize("constant", [0.0, 0.7, 30.0])
@pytest.mark.parametrize("d", [4, 7, 20])
def test_values_are_those_of_double_precision(d, constant):
    Y, X = table(d=d), table(30, d, seed=SEED + 1)
    assert_exact(kernel_of(Y, constant), X, Y)


def test_columns_count_as_much_as_their_scales():
    Y, X = table(), table(30, seed=SEED + 1)
    scales = np.array([0.1, 3.0, 0.5, 2.0, 0.0, 1.0])
    assert_exact(kernel_of(Y, scales=scales), X, Y)
    plain = exact(kernel_of(Y), X, Y)
    assert np.abs(exact(kernel_of(Y, scales=scales), X, Y) - plain).max() > 0.01


def test_more_points_than_a_panel_holds():
    Y = table(PANEL_POINTS + 70)
    assert_exact(kernel_of(Y), table(7, seed=SEED + 1), Y)


def test_tables_of_one_kind_of_column():
    rng = np.random.default_rng(SEED)
    numbers, flags = rng.normal(size=(40, 3)), rng.integers(2, size=(40, 3)).astype(float)
    codes = rng.integers(4, size=(40, 5)).astype(float)
    for X in (numbers, flags, codes, numbers[:, :1], flags[:, :1]):
        assert_exact(kernel_of(X), X[:9], X)


def test_constant_columns_and_equal_points_do_no_harm():
    X = np.column_stack([table(), np.full(50, 7.0)])
    assert_exact(kernel_of(X), X, X)
    unit = MixtureKernel(kernel_of(X), np.ones((5, 7)))
    K = values(unit, unit.left(np.ones((3, 7))), 3)
    np.testing.assert_allclose(K, 1, atol=10 * EPS)


def test_new_values_are_those_of_double_precision():
    Y, X = table(), table(30, seed=SEED + 1)
    X[:, 0] = 30 * X[:, 0]  # beyond the ranks of training
    X[:10, 1] = 0.5  # categories that training did not have
    X[10:, 2] = -3
    assert_exact(kernel_of(Y), X, Y)


@pytest.mark.parametrize("size", [1e6, 1e100, 1e300])
def test_outliers_are_far_away_by_position_and_near_by_rank(size):
    Y, X = table(), table(30, seed=SEED + 1)
    kernel = kernel_of(Y)
    X[:5, 0], X[5:10, 0] = size, -size
    unit = MixtureKernel(kernel, Y)
    found = values(unit, unit.left(X), len(X))
    with np.errstate(over="ignore"):
        twin = exact(kernel, X, Y)
    # At ten rows only terms without their position are left: as exact as other rows.
    np.testing.assert_allclose(found, twin, rtol=0, atol=rounding(kernel, X[10:], Y))
    assert found[:10].max() > 0.1 * found[10:].max()


def test_near_points_far_from_zero_keep_their_digits():
    Y, X = table() + 1e6, table(30, seed=SEED + 1) + 1e6
    assert_exact(kernel_of(Y), X, Y)


@pytest.mark.parametrize("unit", [1e-23, 1e-3, 1e3, 1e17])
def test_the_units_of_a_column_do_not_matter(unit):
    """Without standardization, masses in kilograms or times in nanoseconds are such columns."""
    Y, X = unit * table(), unit * table(30, seed=SEED + 1)
    assert_exact(kernel_of(Y), X, Y)


@pytest.mark.parametrize("missing", [99, 999_999, 999_999_999])
def test_a_number_that_stands_for_missing_does_not_merge_the_other_categories(missing):
    rng = np.random.default_rng(SEED)
    Y = table()
    Y[:, 1] = np.where(rng.random(len(Y)) < 0.2, missing, rng.integers(1, 5, len(Y)))
    Y = (Y - Y.mean(axis=0)) / Y.std(axis=0)
    assert_exact(kernel_of(Y), Y[:20], Y)


# Behavior


def test_points_in_single_precision_are_the_same_points():
    Y = table().astype(np.float32)
    kernel = kernel_of(Y.astype(float))
    single, double = MixtureKernel(kernel, Y), MixtureKernel(kernel, Y.astype(float))
    np.testing.assert_array_equal(
        values(single, single.left(Y[:9]), 9), values(double, double.left(Y[:9].astype(float)), 9)
    )


def test_rows_are_points_of_the_right_hand_side():
    Y = table()
    unit, some = MixtureKernel(kernel_of(Y), Y), np.array([7, 3, 3, 40])
    for here, there in zip(unit.rows(some), unit.left(Y[some]), strict=True):
        np.testing.assert_array_equal(here, there)


def test_a_value_has_the_same_bits_in_every_block():
    Y, X = table(PANEL_POINTS + 70), table(30, seed=SEED + 1)
    unit = MixtureKernel(kernel_of(Y), Y)
    whole = values(unit, unit.left(X), 30)
    for rows in (slice(0, 1), slice(5, 22)):
        part = values(unit, unit.left(X[rows]), rows.stop - rows.start)
        np.testing.assert_array_equal(part, whole[rows])


def test_memory_is_that_of_the_points_as_terms_see_them():
    Y = table()
    unit = MixtureKernel(kernel_of(Y), Y)
    # One flag without ranks; five columns with position and rank; three columns of categories.
    assert unit.n_bytes == 4 * len(Y) * (1 + 2 * 5 + 3)
    assert (unit.n_points, unit.n_features) == Y.shape


# Kernels that are broken on purpose


def break_ranks(unit):
    unit._has_ranks = np.zeros(6, dtype=bool)


def break_scales(unit):
    unit._scales = 2 * unit._scales


def break_origin(unit):
    unit._origin = dict.fromkeys(("position", "rank"), 0.0)


@pytest.mark.parametrize("change", [break_ranks, break_scales, break_origin])
def test_a_broken_kernel_is_noticed(change):
    Y, X = table() + 1e6, table(30, seed=SEED + 1) + 1e6
    kernel = kernel_of(Y)
    unit = MixtureKernel(kernel, Y)
    change(unit)
    unit._right = [unit.left(Y).transposed()]
    found = values(unit, unit.left(X), len(X))
    assert np.abs(found - exact(kernel, X, Y)).max() > 10 * rounding(kernel, X, Y)
