"""A fitted machine on fewer points, for faster predictions and smaller files."""

from __future__ import annotations

import copy
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import Bunch
from sklearn.utils.validation import check_is_fitted

from ..fitting.carriers import Carriers
from ..fitting.compaction import Piece, compact_pieces, steepest
from ..fitting.outputs import cell_coordinates
from ..fitting.unit_blocks import is_fast
from ..geometry.points import canonical, in_double, stack_points
from ..solvers.cells import nearest
from ._predictions import PredictionMixin
from ._tables import read_table

DROPPED_DRAWS = ("draw_coef_", "draw_chains_", "chain_coef_")
# Rounding in single precision is measured at this many training points.
N_ROUNDING_POINTS = 1000
# It may be this share of the tolerance.
SHARE_OF_ROUNDING = 0.05
# The choice may use these shares of the tolerance, until rounding and the changes between support
# vectors, measured at the end, leave no decision beyond it.
SHARES_OF_CHOICE = (0.9, 0.3, 0.1, 0.03, 0.01, 0.001)


class Part(NamedTuple):
    """The support vectors of a cell, and landmarks that are not among them."""

    own: np.ndarray
    landmarks: np.ndarray


class CompactMixin(PredictionMixin):
    """Keep the answer with fewer points."""

    _single: bool
    cache_size: float
    probit_scale_: float
    support_vectors_: Any

    def compact(self, tol=0.005, X=None):
        """Return a copy of this fitted classifier that predicts with fewer points.

        Decisions at support vectors and at the rows of X change so little that no probability
        there changes by more than `tol`. Between them changes are about as large, rarely twice.
        How many points this takes depends on the data: smooth problems need fewest. Where the
        tolerance allows, kernel values are computed in single precision. The copy has no draws:
        `sample_decision`, `predict_vote` and `decision_std_error` raise an error, as do
        `partial_fit` and `forget`. Attributes such as `loo_proba_` and `diagnostics_` stay those
        of the fit.

        Parameters
        ----------
        tol : float, default=0.005
            How much a probability may change. A larger one leaves fewer points. With 0 all points
            are kept, and predictions stay the same bit for bit.
        X : {array-like, sparse matrix} of shape (n_samples, n_features), default=None
            More rows whose predictions should stay, without labels. Give the training rows to
            "perceptron" and "nystroem", of which only a part are support vectors.

        Returns
        -------
        BayesPointClassifier
            The compact classifier; `compaction_` has the change that was found.

        Notes
        -----
        The copy is the projection of the mean hypothesis onto the span of carriers, which are
        added where a decision is furthest off (docs/notes/compact.md). With "mosaic" and "cells"
        every cell has its own. Choosing r carriers of m points takes O(m r^2) operations and 8 m r
        bytes, at most `cache_size`: if they need more, all points are kept.

        Examples
        --------
        >>> from sklearn.datasets import make_moons
        >>> from bayespoint import BayesPointClassifier
        >>> X, y = make_moons(300, noise=0.2, random_state=0)
        >>> model = BayesPointClassifier("rbf", random_state=0).fit(X, y)
        >>> small = model.compact(tol=0.01)
        >>> len(model.support_), len(small.support_) < 60, small.compaction_.change <= 0.01
        (300, True, True)
        """
        check_is_fitted(self)
        if not isinstance(tol, Real) or not 0 <= float(tol) < 1:
            raise ValueError(f"tol should be a number from 0 to below 1, but is {tol!r}.")
        if self.kernel == "precomputed":
            raise ValueError(
                "compact needs the kernel between training points, but a model with a precomputed "
                "kernel does not keep it. Pass the kernel as a function."
            )
        found = _without_draws(self)
        found.compaction_ = Bunch(tol=float(tol), n_support=len(self.support_), change=0.0)
        points = self.support_vectors_
        if X is not None:
            points = stack_points(points, canonical(read_table(self, X)))
        return found._shrink(self, points, float(tol)) if float(tol) > 0 else found

    def _shrink(self, whole: CompactMixin, points, tol: float):
        """Give this copy of a model fewer points, and check the changes at the given points."""
        slope = steepest(whole._probabilities, len(whole.dual_coef_), whole._link is not None)
        limit = tol / (slope * whole.probit_scale_)
        single = _single_is_enough(whole, limit)
        before = _decide_at(whole, points, single)
        parts = _parts_of(whole)
        pieces = [_piece(whole, c, part) for c, part in enumerate(parts)]
        for share in SHARES_OF_CHOICE:
            carriers = compact_pieces(
                whole._fitted_kernel(),
                pieces,
                share * limit,
                single=single,
                max_bytes=whole.cache_size * 2**20,
                n_jobs=whole.n_jobs,
            )
            for in_single in (True, False)[not single :]:
                model = copy.copy(self)
                _store_carriers(model, parts, carriers, in_single)
                after = _decide_at(model, points, in_single)
                if np.max(np.abs(after - before)) <= limit:
                    both = [whole._probabilities(whole.probit_scale_ * d) for d in (before, after)]
                    change = float(np.abs(both[1] - both[0]).max())
                    model.compaction_ = Bunch(**{**self.compaction_, "change": change})
                    return model
        return self


def _without_draws(model):
    """Return a copy of a model that can predict, and nothing else."""
    found = copy.copy(model)
    for name in (*DROPPED_DRAWS, "_session_tables", "_draw_seed", "_known_points"):
        found.__dict__.pop(name, None)
    found._learned, found._state = None, None
    return found


def _decide_at(model, points, single: bool) -> np.ndarray:
    """Return the decisions at points, in the given precision."""
    model = copy.copy(model)
    model._single = single
    return np.concatenate(list(model._outputs_at(points, model.dual_coef_)))


def _single_is_enough(model, limit: float) -> bool:
    """Tell whether single precision changes decisions by much less than the limit."""
    points = model.support_vectors_
    if not is_fast(model._fitted_kernel(), points):
        return False
    some = np.unique(np.linspace(0, points.shape[0] - 1, N_ROUNDING_POINTS).astype(int))
    fast, exact = (_decide_at(model, points[some], single) for single in (True, False))
    return bool(np.abs(fast - exact).max() <= SHARE_OF_ROUNDING * limit)


def _parts_of(model) -> list[Part]:
    """Return the support vectors of each cell, all of them if there are no cells."""
    none, n = np.empty(0, dtype=np.intp), len(model.support_)
    if not hasattr(model, "cell_centers_"):
        return [Part(np.arange(n), none)]
    cell = _cells_of(model, model.support_vectors_)
    owns = [np.flatnonzero(cell == c) for c in range(len(model.cell_centers_))]
    if not hasattr(model, "landmarks_"):
        return [Part(own, none) for own in owns]
    others = [np.flatnonzero(~np.isin(model.landmarks_, model.support_[own])) for own in owns]
    return [Part(own, other) for own, other in zip(owns, others, strict=True)]


def _cells_of(model, points) -> np.ndarray:
    if hasattr(model, "landmarks_"):
        points = cell_coordinates(model._fitted_kernel(), in_double(points))
    return nearest(points, model.cell_centers_)


def _piece(model, c: int, part: Part) -> Piece:
    """Return the hypothesis of a cell."""
    points, coef = model.support_vectors_[part.own], model.dual_coef_[:, part.own].T
    far = np.zeros(len(part.own), dtype=bool)
    if not hasattr(model, "landmarks_"):
        return Piece(points, coef, far)
    on_landmarks = model.landmark_coef_[c].T
    here = np.setdiff1d(np.arange(len(on_landmarks)), part.landmarks)
    order = np.argsort(model.support_[part.own])
    place = order[np.searchsorted(model.support_[part.own], model.landmarks_[here], sorter=order)]
    coef = coef.copy()
    coef[place] += on_landmarks[here]
    others = model.landmark_vectors_[part.landmarks]
    outside = _cells_of(model, others) != c if len(others) else far[:0]
    return Piece(
        stack_points(points, others),
        np.vstack([coef, on_landmarks[part.landmarks]]),
        np.append(far, outside),
    )


def _store_carriers(
    model, parts: list[Part], carriers: list[Carriers | None], single: bool
) -> None:
    """Store the carriers of all cells as support vectors and landmarks."""
    model._single = single
    has_landmarks = hasattr(model, "landmarks_")
    coef = np.zeros_like(model.dual_coef_)
    kept = np.zeros(coef.shape[1], dtype=bool)
    on_landmarks = model.landmark_coef_.copy() if has_landmarks else None
    for c, (part, found) in enumerate(zip(parts, carriers, strict=True)):
        if found is None:
            kept[part.own] = True
            coef[:, part.own] = model.dual_coef_[:, part.own]
            continue
        is_own = found.rows < len(part.own)
        own = part.own[found.rows[is_own]]
        kept[own], coef[:, own] = True, found.coef[is_own].T
        if on_landmarks is not None:
            on_landmarks[c] = 0.0
            others = part.landmarks[found.rows[~is_own] - len(part.own)]
            on_landmarks[c][:, others] = found.coef[~is_own].T
    model.support_ = model.support_[kept]
    model.support_vectors_ = model.support_vectors_[kept]
    model.dual_coef_ = np.ascontiguousarray(coef[:, kept])
    model.intercept_ = model.constant_ * model.dual_coef_.sum(axis=1)
    if on_landmarks is not None:
        used = np.any(on_landmarks != 0, axis=(0, 1))
        model.landmarks_ = model.landmarks_[used]
        model.landmark_vectors_ = model.landmark_vectors_[used]
        model.landmark_coef_ = np.ascontiguousarray(on_landmarks[:, :, used])
    if single:
        _round_points(model)


def _round_points(model) -> None:
    """Store points in single precision, unless one would move to another cell."""
    points = model.support_vectors_.astype(np.float32)
    if hasattr(model, "cell_centers_"):
        before = _cells_of(model, model.support_vectors_)
        if not np.array_equal(_cells_of(model, points), before):
            return
    model.support_vectors_ = points
    if hasattr(model, "landmarks_"):
        model.landmark_vectors_ = model.landmark_vectors_.astype(np.float32)
