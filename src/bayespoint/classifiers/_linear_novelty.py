"""Novelty of rows for a linear machine, from means and spread of the classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._runtime.threads import one_blas_thread
from ..fitting.class_moments import (
    MAX_LEVEL_ROWS,
    ClassDistances,
    ClassMoments,
    even_sample,
    fewer_levels,
    mixed_scale,
)
from ..fitting.novelty_scale import NoveltyScale, novelty_scale
from ..fitting.weights_fit import Table
from ..solvers.weights.points import centered
from ._gaussian_weights import GaussianWeightsMixin

UNKNOWN_ROWS_MESSAGE = (
    "novelty compares rows with means and spread of the training classes, but this model does not "
    "have them: it was trained by an earlier version of bayespoint, or on a cluster. Train it "
    "again with fit or partial_fit."
)


class LinearNoveltyMixin(GaussianWeightsMixin):
    """Tell which rows are unlike the training rows."""

    scale_: np.ndarray
    _known_rows: dict[str, Any] | None  # moments of classes, and the scale of novelty

    def novelty(self, X):
        """Return how unlike the training rows each row is.

        0.95 means: stranger than 95 % of the training rows, each compared with all others.
        Rows that are stranger than all of them come closer to 1 the stranger they are.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Points.

        Returns
        -------
        ndarray of shape (n_samples,)
            Numbers in [0, 1].

        Notes
        -----
        The strangeness of a row is its squared distance from the nearest mean of a class, in
        units of the covariance within classes (with independent weights, of variances). This is
        the posterior variance of an output for rows that all count the same; the variance of the
        posterior itself heeds only rows near the boundary, and finds far fewer strange rows
        (docs/notes/novelty.md). Features that have not varied in training are ignored, as in
        predictions. A stream adds up what this needs, at most 20,000 rows of each batch.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from bayespoint import LinearBayesPointClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> model = LinearBayesPointClassifier().fit(X, y)
        >>> (model.novelty([[5.0, 3.4, 1.5, 0.2], [9.0, 9.0, 9.0, 9.0]]) > 0.95).tolist()
        [False, True]
        """
        check_is_fitted(self)
        known = self.__dict__.get("_known_rows")
        if known is None:
            raise ValueError(UNKNOWN_ROWS_MESSAGE)
        points = self._check_points(X)
        moments = moments_of(known, self.center_)
        scale = NoveltyScale(known["levels"], known["shares"])
        with one_blas_thread():
            return scale.novelty(ClassDistances(moments, units_of(self)).strangeness(points))


def known_rows(model, table: Table) -> dict[str, Any] | None:
    """Return what `novelty` needs of the rows of a fit."""
    return with_more_rows(model, None, table)


def with_more_rows(model, before: dict[str, Any] | None, table: Table) -> dict[str, Any] | None:
    """Return what `novelty` needs after some more rows; class weights may leave none."""
    if not table.n_rows:
        return before
    n_classes = len(model.classes_)
    target = table.labels.astype(int)
    target = (target + 1) // 2 if n_classes == 2 else target
    points, full = centered(table.X, model.center_), model.covariance_ == "full"
    with one_blas_thread():
        moments = ClassMoments.of_rows(points, target, table.weight, n_classes, full)
        new = moments.totals.sum()
        if before is not None:
            old = moments_of(before, model.center_).times(1 - model.forgetting)
            moments = old.plus(moments)
        some = even_sample(table.n_rows, MAX_LEVEL_ROWS)
        given = points[some], target[some], table.weight[some]
        levels = ClassDistances(moments, units_of(model)).left_out(*given)
    scale = fewer_levels(novelty_scale(levels, table.weight[some]))
    if before is not None:
        last = NoveltyScale(before["levels"], before["shares"])
        scale = mixed_scale(last, scale, float(new / moments.totals.sum()))
    return _as_dict(moments, scale, model.center_)


def joined(first: dict[str, Any], second: dict[str, Any], center: np.ndarray) -> dict[str, Any]:
    """Return what `novelty` needs of the rows of two models."""
    mine, theirs = moments_of(first, center), moments_of(second, center)
    mine_scale, their_scale = (NoveltyScale(k["levels"], k["shares"]) for k in (first, second))
    moments = mine.plus(theirs)
    share = float(theirs.totals.sum() / moments.totals.sum())
    return _as_dict(moments, mixed_scale(mine_scale, their_scale, share), center)


def moments_of(known: dict[str, Any], center: np.ndarray) -> ClassMoments:
    """Return moments of classes, measured from a center."""
    moments = ClassMoments(known["totals"], known["sums"], known["squares"])
    shift = known["center"] - center
    return moments.from_other_center(shift) if shift.any() else moments


def units_of(model) -> np.ndarray:
    """Return the unit of each feature, infinite if it has not varied."""
    return np.where(np.isnan(model.scale_), np.inf, model.scale_)


def _as_dict(moments: ClassMoments, scale: NoveltyScale, center: np.ndarray) -> dict[str, Any]:
    return moments._asdict() | scale._asdict() | {"center": center}
