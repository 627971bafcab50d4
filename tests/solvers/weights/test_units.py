import numpy as np
import pytest
from scipy import sparse

from bayespoint.solvers.weights import units
from bayespoint.solvers.weights.column_sums import column_sums, column_votes
from bayespoint.solvers.weights.units import UNVARIED_VARIANCE, find_units, require_near


def units_of(X, weight=None, movable=True):
    weight = np.ones(X.shape[0]) if weight is None else weight
    reference = column_votes(X, weight).value if movable else np.zeros(X.shape[1])
    return find_units(reference, column_sums(X, weight, reference), movable)


@pytest.fixture
def table(rng):
    """Return a spread column, a rare one, one that is mostly 3, and a constant one."""
    X = rng.standard_normal((400, 4))
    X[:, 1] *= rng.random(400) < 0.1
    X[:, 2] = np.where(rng.random(400) < 0.7, 3.0, X[:, 2])
    X[:, 3] = 0.1 + 0.2
    return X


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_mean_and_deviation_or_the_most_common_value(table, kind):
    center, scale, n_active = units_of(kind(table))
    np.testing.assert_allclose(center, [table[:, 0].mean(), 0, 3, 0.1 + 0.2], atol=1e-14)
    assert scale[0] == pytest.approx(table[:, 0].std())
    for j in (1, 2):
        away = table[:, j] - center[j]
        assert scale[j] == pytest.approx(np.sqrt(np.mean(away[away != 0] ** 2)))
    assert np.isnan(scale[3])
    assert n_active == pytest.approx(np.mean(table[:, 1:3] != [0, 3]) * 2 + 1)


@pytest.mark.parametrize("offset", [0.0, 1.0, 1e3, 1e6])
@pytest.mark.parametrize("factor", [1e-8, 1.0, 1e8])
def test_units_follow_offsets_and_scales(table, offset, factor):
    one, two = units_of(table), units_of((table + offset) * factor)
    # The data themselves are rounded to eps * offset.
    limit = 1e-15 * (1 + offset)
    np.testing.assert_allclose(two.center / factor - offset, one.center, atol=10 * limit)
    np.testing.assert_allclose(two.scale / factor, one.scale, rtol=10 * limit)
    assert two.n_active == pytest.approx(one.n_active)


def test_rounding_errors_are_not_a_unit():
    X = np.array([[1.0], [1 + 2**-52], [1 - 2**-53], [1 + 2**-51]] * 3)
    assert np.isnan(units_of(X).scale)
    assert units_of((X - 1) * 2.0**52).scale > 0.5


def test_without_an_intercept_the_center_is_zero(table):
    center, scale, _ = units_of(table + 5, movable=False)
    assert not center.any()
    np.testing.assert_allclose(scale, np.sqrt(np.mean((table + 5) ** 2, axis=0)))


def test_a_row_of_weight_two_is_two_rows(table):
    weight = 1.0 + (np.arange(400) % 2)
    for mine, theirs in zip(
        units_of(table, weight), units_of(np.repeat(table, weight.astype(int), axis=0)), strict=True
    ):
        np.testing.assert_allclose(mine, theirs, atol=1e-14)


def test_prior_variances_in_units(table):
    units = units_of(table * 10)
    variances = units.variances(2.0)
    np.testing.assert_allclose(variances[:3], 2 / units.scale[:3] ** 2)
    assert variances[3] == UNVARIED_VARIANCE


@pytest.mark.parametrize(
    ("factor", "message"),
    [
        (1e-160, "feature 0 varies by about .*e-161?0?. Change the unit"),
        (1e-200, "feature 0 varies by less, too little to be squared"),
        (1e120, r"should vary by 1e-100 to 1e\+100, but feature 0 varies by about .*e\+1[12]."),
        (1e300, "feature 0 varies by more, too much to be squared. Change the unit"),
    ],
)
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_extreme_scales_are_explained(table, factor, message, kind):
    with pytest.raises(ValueError, match=message):
        units_of(kind(table * factor))


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_far_entries_are_explained(table, kind):
    center, variances = np.zeros(4), np.array([1.0, 1e16, 1.0, UNVARIED_VARIANCE])
    require_near(kind(table * 1e100), center, variances)
    require_near(kind(table[:0]), center, variances)
    table[3, 1] = 1e135
    with pytest.raises(ValueError, match=r"feature 1 should be at most 1e\+132.* one is 1e\+135"):
        require_near(kind(table), center, variances)
    table[3] = 0, 0, 0, -1e150
    with pytest.raises(
        ValueError, match=r"Entries of feature 3.*Check its unit, or remove its row"
    ):
        require_near(kind(table), center, variances)


def test_scales_of_very_many_rows_are_over_all_rows(table, monkeypatch):
    few = units_of(table)
    monkeypatch.setattr(units, "MAX_ROWS_PER_FEATURE", 99)
    center, scale, n_active = units_of(table)
    np.testing.assert_array_equal(center, few.center)
    np.testing.assert_allclose(scale[:3], np.sqrt(np.mean((table - center) ** 2, axis=0))[:3])
    assert np.isnan(scale[3])
    assert n_active == pytest.approx(3.0)
