"""Compaction: how steep probabilities are, pieces, threads."""

import os
from functools import partial

import numpy as np
import pytest
from scipy import stats

from bayespoint.fitting import compaction
from bayespoint.fitting.compaction import FAR_TOLERANCES, Piece, compact_pieces, steepest
from bayespoint.fitting.power_link import PowerLink, power_probabilities
from bayespoint.fitting.probabilities import exactly_one, two_classes
from bayespoint.geometry.settle import settle_kernel

SEED = int(os.environ.get("BAYESPOINT_TEST_SEED", "0"))


def kernel_of(X, name="rbf", fit_intercept=True):
    return settle_kernel(
        name, X, gamma=0.2, degree=3, coef0=1.0, normalize=False, fit_intercept=fit_intercept
    )


def piece(n=150, seed=SEED):
    rng = np.random.default_rng(seed)
    coef = rng.standard_normal((n, 2)) / np.sqrt(n)
    return Piece(rng.standard_normal((n, 2)), coef, rng.random(n) < 0.3)


def outputs_of(kernel, points, X, coef):
    return kernel(points, X) @ coef / kernel.lengths(points)[:, None]


@pytest.mark.parametrize("df", [np.inf, 4.0])
def test_two_classes_are_steepest_at_the_boundary(df):
    found = steepest(lambda z: two_classes(z[:, 0], df=df), 1, False)
    expected = stats.norm.pdf(0) if df == np.inf else stats.t.pdf(0, df)
    assert found == pytest.approx(expected, rel=1e-6)  # a difference quotient has error STEP^2


@pytest.mark.parametrize("n_outputs", [1, 3, 10])
@pytest.mark.parametrize("link", [PowerLink(1.5, 0.1), PowerLink(4.0, 0.2)])
def test_no_change_of_codes_changes_probabilities_more(n_outputs, link):
    """Between two classes, at random outputs and changes of one size."""
    probabilities = partial(power_probabilities, link=link)
    slope = steepest(probabilities, n_outputs, True)
    rng = np.random.default_rng(SEED)
    level, step = rng.random((500, 1)), 1e-4
    F = np.hstack([level, 1 - level, np.zeros((500, max(n_outputs - 2, 0)))])
    codes = F[:, 1:2] - 0.5 if n_outputs == 1 else F - 1 / n_outputs
    moved = codes + step * rng.choice([-1, 1], codes.shape)
    change = np.abs(probabilities(moved) - probabilities(codes)).max()
    # Curvature adds a term of the next order: step times a few slopes.
    assert 0.5 * slope <= change / step <= slope * (1 + 100 * step)


def test_several_classes_of_a_probit():
    slope = steepest(exactly_one, 4, False)
    # At a tie both odds are even: p (1 - p) times the slope of the log odds, of both classes.
    assert slope == pytest.approx(2 * 0.25 * stats.norm.pdf(0) / 0.25, rel=1e-3)


@pytest.mark.parametrize("single", [False, True])
@pytest.mark.parametrize("name", ["rbf", "laplacian", "poly", "linear"])
def test_outputs_stay_within_the_limit(name, single):
    one = piece()
    kernel = kernel_of(one.points, name)
    (found,) = compact_pieces(kernel, [one], 0.01, single=single, max_bytes=1e9, n_jobs=1)
    assert len(found.rows) < len(one.points)
    before = outputs_of(kernel, one.points, one.points, one.coef)
    after = outputs_of(kernel, one.points, one.points[found.rows], found.coef)
    change = np.abs(after - before).max(axis=1)
    assert change[~one.far].max() <= 0.01
    assert change[one.far].max() <= FAR_TOLERANCES * 0.01


def test_linear_hypotheses_need_a_point_for_each_dimension():
    one = piece()
    found = compact_pieces(
        kernel_of(one.points, "linear"), [one], 1e-6, single=False, max_bytes=1e9, n_jobs=1
    )
    assert len(found[0].rows) <= 3  # two features and the constant


def test_a_piece_that_needs_all_points_is_kept():
    one = piece(40)
    kernel = kernel_of(one.points, "laplacian")
    assert compact_pieces(kernel, [one], 1e-9, single=False, max_bytes=1e9, n_jobs=1) == [None]
    assert compact_pieces(kernel, [one], 1e-3, single=False, max_bytes=1000, n_jobs=1) == [None]


def test_more_digits_are_not_tried_where_points_are_too_few(monkeypatch):
    """Double precision helps where single precision cannot tell points apart, and only there."""
    tried = []
    compact = compaction._compact

    def spy(kernel, piece, limit, single, max_bytes):
        tried.append(single)
        return compact(kernel, piece, limit, single, max_bytes)

    monkeypatch.setattr(compaction, "_compact", spy)
    one = piece(40)
    kernel = kernel_of(one.points, "rbf")
    assert compact_pieces(kernel, [one], 1e-3, single=True, max_bytes=1000, n_jobs=1) == [None]
    assert tried == [True]
    tried.clear()
    (found,) = compact_pieces(kernel, [one], 1e-9, single=True, max_bytes=1e9, n_jobs=1)
    assert tried == [True, False]
    assert found is not None


def test_the_same_for_any_number_of_threads():
    pieces = [piece(seed=SEED + k) for k in range(5)]
    kernel = kernel_of(pieces[0].points)
    one, two = (
        compact_pieces(kernel, pieces, 0.01, single=True, max_bytes=1e9, n_jobs=n) for n in (1, 2)
    )
    for a, b in zip(one, two, strict=True):
        np.testing.assert_array_equal(a.rows, b.rows)
        np.testing.assert_array_equal(a.coef, b.coef)
