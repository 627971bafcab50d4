"""Curves: against slow twins, with ties, and thinned without a visible change."""

import numpy as np
import pytest

from bayespoint.evaluation.report import curves


@pytest.fixture
def ranked():
    rng = np.random.default_rng(0)
    truth = rng.random(3000) < 0.1
    # Rounding makes ties.
    return truth, np.round(rng.normal(size=3000) + truth, 2)


def test_points_are_on_the_curves(ranked):
    truth, score = ranked
    for curve, x_of, y_of in (
        (curves.roc(truth, score), lambda top: top[~truth].mean(), lambda top: top[truth].mean()),
        (
            curves.precision_recall(truth, score),
            lambda top: top[truth].mean(),
            lambda top: truth[top].mean(),
        ),
    ):
        assert len(curve.x) <= curves.MAX_POINTS + 2
        every = [score >= threshold for threshold in np.unique(score)]
        on_curve = {(round(x_of(top), 9), round(y_of(top), 9)) for top in every} | {(0.0, 0.0)}
        points = {(round(x, 9), round(y, 9)) for x, y in zip(curve.x, curve.y, strict=True)}
        assert points <= on_curve
        assert (np.diff(curve.x) >= 0).all()


def test_lift_and_top_rows(ranked):
    truth, score = ranked
    curve = curves.lift(truth, score)
    assert curve.x[0] == pytest.approx(curves.MIN_TOP_ROWS / 3000)
    assert (curve.x[-1], curve.y[-1]) == pytest.approx((1, 1))
    # Twin: mean over random orders of equal scores.
    rng = np.random.default_rng(1)
    found = []
    for _ in range(200):
        order = np.lexsort([rng.random(3000), -score])
        found.append(truth[order[:300]].sum())
    top = curves.top(truth, score, 0.1)
    error = 4 * np.std(found) / np.sqrt(200) + 1e-9
    assert abs(top.recall * truth.sum() - np.mean(found)) <= error
    assert top.n_rows == 300
    assert top.lift == pytest.approx(top.recall / 0.1)


def test_no_order_has_no_lift():
    truth = np.arange(100) < 20
    curve = curves.lift(truth, np.full(100, 0.3))
    np.testing.assert_allclose(curve.y, 1)
    assert curves.top(truth, np.full(100, 0.3), 0.5).lift == pytest.approx(1)
