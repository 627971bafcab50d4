"""Check what compiled loops assume about the attributes of a model from a file.

In Python a wrong attribute raises an exception. In compiled code, of this package or of SciPy, a
wrong index or shape could write anywhere into memory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...geometry.columns import Columns
from ...geometry.mixture import TERMS, Mixture, Views


def _linear(model: Any) -> None:
    """Check the belief of a `LinearBayesPointClassifier` that was fitted."""
    if not any(name in vars(model) for name in ("classes_", "_shift", "_precision")):
        return
    if type(model.n_features_in_) is not int:
        raise ValueError("n_features_in_ should be a whole number")
    if type(model.classes_) is not np.ndarray or not np.array_equal(
        np.unique(model.classes_), model.classes_
    ):
        raise ValueError("classes_ should be sorted")  # otherwise class numbers may be too large
    n_weights = model.n_features_in_ + bool(model.fit_intercept)
    n = n_weights * (len(model.classes_) - 1)
    full = model.covariance_ == "full"
    _expect(model.prior_variance_, "prior_variance_", float, (n_weights,))
    if "center_" not in vars(model):  # saved before features had centers
        model.standardize = False
        model.center_, model.scale_ = np.zeros(model.n_features_in_), np.ones(model.n_features_in_)
    _expect(model.center_, "center_", float, (model.n_features_in_,))
    _expect(model.scale_, "scale_", float, (model.n_features_in_,))
    _expect(model._shift, "_shift", float, (n,))
    _expect(model._precision, "_precision", float, (n, n) if full else (n,))
    _known_rows(model, full)


def _known_rows(model: Any, full: bool) -> None:
    """Check the moments of the training rows that new rows are compared with."""
    known = getattr(model, "_known_rows", None)
    if known is None:
        return
    d, n_classes, k = model.n_features_in_, len(model.classes_), len(known["levels"])
    _expect(known["totals"], "totals of known rows", float, (n_classes,), 0.0, np.finfo(float).max)
    _expect(known["sums"], "sums of known rows", float, (n_classes, d))
    _expect(known["squares"], "squares of known rows", float, (d, d) if full else (d,))
    _expect(known["center"], "center of known rows", float, (d,))
    for name in ("levels", "shares"):
        _expect(known[name], f"{name} of known rows", float, (k,), 0.0, 1.0)
        if not k or np.any(np.diff(known[name]) < 0):
            raise ValueError(f"{name} of known rows should increase")


def _kernel_machine(model: Any) -> None:
    """Check how a `BayesPointClassifier` reads tables, and its perceptrons."""
    columns = getattr(model, "columns_", None)
    if columns is not None:
        if type(columns) is not Columns or len(columns.fill) != model.n_features_in_:
            raise ValueError("columns_ should be Columns with an entry for each column of X")
        if model.support_vectors_.shape[1] != len(columns.groups):
            raise ValueError("columns_ should give the features of support_vectors_")
    mixture = getattr(model, "mixture_", None)
    if mixture is not None:
        if type(mixture) is not Mixture or type(mixture.views) is not Views:
            raise ValueError("mixture_ should be a Mixture with Views")
        n_coordinates = model.support_vectors_.shape[1]
        if not len(mixture.views.knots) == len(mixture.views.scales) == n_coordinates:
            raise ValueError("mixture_ should have ranks for each coordinate of support_vectors_")
        if mixture.views.categories.max(initial=-1) >= n_coordinates:
            raise ValueError("mixture_ should have categories among the coordinates")
        if "overlap" in mixture.names and not len(mixture.views.categories):
            raise ValueError("mixture_ should have categories for its overlap")
    elif getattr(model, "kernel_", None) == "mixture":
        raise ValueError("mixture_ should hold the mixture that kernel_ names")
    _link(model)
    _mosaic(model)
    _known_points(model)
    if getattr(model, "_state", None) is not None:
        _perceptrons(model._state)


def _mosaic(model: Any) -> None:
    """Check the landmarks of a mosaic: without a part of it, answers would be silently wrong."""
    names = ("landmarks_", "landmark_vectors_", "landmark_coef_")
    if not any(hasattr(model, name) for name in names):
        return
    if not all(hasattr(model, name) for name in (*names, "cell_centers_")):
        raise ValueError(f"a mosaic should have {', '.join(names)} and cell_centers_")
    r, n_features = model.landmark_vectors_.shape
    if not n_features == model.support_vectors_.shape[1] == model.cell_centers_.shape[1]:
        raise ValueError("landmark_vectors_ should have the features of support_vectors_")
    largest = np.finfo(float).max
    shape = (len(model.cell_centers_), len(model.dual_coef_), r)
    _expect(model.landmark_coef_, "landmark_coef_", float, shape, -largest, largest)


def _known_points(model: Any) -> None:
    """Check the training points that new rows are compared with."""
    known = getattr(model, "_known_points", None)
    if known is None:
        return
    places, vectors, n = known["places"], known["vectors"], len(known["target"])
    if (places is None) == (vectors is None) or not n:
        raise ValueError("known points should be support vectors, or have vectors of their own")
    if places is not None:
        last = model.support_vectors_.shape[0] - 1
        _expect(places, "places of known points", np.int64, (n,), 0, last)
    elif vectors.shape != (n, model.support_vectors_.shape[1]):
        raise ValueError("known points should have the features of support_vectors_")
    _expect(known["target"], "classes of known points", np.int64, (n,), 0, len(model.classes_) - 1)
    if known["weight"] is not None:
        limits = np.finfo(float).tiny, np.finfo(float).max
        _expect(known["weight"], "weights of known points", float, (n,), *limits)


def _link(model: Any) -> None:
    """Check the link of a label regression: without it, probabilities would be silently wrong."""
    link = [getattr(model, name, None) for name in ("link_power_", "link_floor_")]
    if link != [None, None] and not all(type(v) is float and 0 < v < np.inf for v in link):
        raise ValueError(
            f"link_power_ and link_floor_ should be two positive numbers, but are {link}"
        )


def _reject_option(model: Any) -> None:
    """Check that each group has a threshold."""
    thresholds = getattr(model, "group_thresholds_", None)
    if thresholds is not None:
        groups = getattr(model, "groups_", None)
        if type(groups) is not np.ndarray or groups.ndim != 1 or not len(groups):
            raise ValueError("its groups are missing")
        _expect(thresholds, "group_thresholds_", float, groups.shape)


def _columns(columns: Columns) -> None:
    """Check the arrays that map a table to points."""
    n = len(columns.categories)
    _expect(columns.ordered, "ordered", bool, (n,))
    _expect(columns.missing, "missing", bool, (n,))
    largest = np.finfo(float).max
    _expect(columns.fill, "fill", float, (n,), -largest, largest)
    _expect(columns.center, "center", float, (n,), -largest, largest)
    _expect(columns.scale, "scale", float, (n,), np.finfo(float).smallest_subnormal)
    for levels, ordered in zip(columns.categories, columns.ordered, strict=True):
        if levels is None:
            if ordered:
                raise ValueError("only categories can have an order")
            continue
        kind = levels.dtype if levels.dtype.kind == "U" else np.float64
        _expect(levels, "categories", kind, (len(levels),))
        if len(np.unique(levels)) < len(levels) or (kind == np.float64 and np.isnan(levels).any()):
            raise ValueError("categories should be different from each other, and not missing")


def _mixture(mixture: Mixture) -> None:
    """Check the terms of a mixture of kernels."""
    n = len(mixture.names)
    if not n or any(name not in TERMS for name in mixture.names):
        raise ValueError(f"the names of a mixture should be among {list(TERMS)}")
    largest = np.finfo(float).max
    _expect(mixture.weights, "weights", float, (n,), 0.0, largest)
    _expect(mixture.gammas, "gammas", float, (n,), 0.0, largest)


def _views(views: Views) -> None:
    """Check the knots and ranks that are interpolated."""
    n = len(views.categories)
    _expect(views.categories, "categories", np.int64, (n,), 0)
    limits = np.finfo(float).tiny, np.finfo(float).max
    _expect(views.tolerances, "tolerances", float, (n,), *limits)
    _expect(views.scales, "scales", float, (len(views.knots),), 0.0, np.finfo(float).max)
    for knots, ranks in zip(views.knots, views.ranks, strict=True):
        _expect(knots, "knots", float, (len(knots),))
        _expect(ranks, "ranks", float, (len(knots),))
        if not (
            np.isfinite(knots).all() and np.isfinite(ranks).all() and np.all(np.diff(knots) > 0)
        ):
            raise ValueError("knots should be finite and increasing, with finite ranks")


def _words(vectorizer: Any) -> None:
    """Check that words come from the table and not from files, and that each has its column."""
    if vectorizer.input != "content":
        raise ValueError("input should be 'content': a model opens no files")
    if "vocabulary_" not in vars(vectorizer):
        return
    numbers = sorted(map(int, vectorizer.vocabulary_.values()))
    if numbers != list(range(len(numbers))):
        raise ValueError("vocabulary_ should number its words from 0")
    _expect(vectorizer._tfidf.idf_, "idf_", float, (len(numbers),))


def _perceptrons(state: dict) -> None:
    """Check the perceptrons that continue at the next fit."""
    n_outputs, m = state["signs"].shape
    own = n_outputs, state["order"].shape[1]
    _expect(state["signs"], "signs", np.int8, (n_outputs, m), -1, 1)
    _expect(state["held_out"], "held_out", np.int64, (len(state["held_out"]),), 0, m - 1)
    # Files of earlier versions do not have these, and are not continued.
    if state.keys() >= {"others", "step"}:
        _expect(state["others"], "others", np.int64, (m - len(state["held_out"]),), 0, m - 1)
        _expect(state["softness"], "softness", float, (m,), 0.0)
        _expect(state["step"], "step", float, (m,), 0.0)
    _expect(state["order"], "order", np.int32, (*own, m), 0, m - 1)
    is_older = state["output"].dtype == float  # earlier versions had double precision
    _expect(state["output"], "output", float if is_older else np.float32, (*own, m))
    _expect(state["count"], "count", np.int32, (*own, m))
    _expect(state["best"], "best", float, (*own, 2))
    _expect(state["best_count"], "best_count", np.int32, (*own, m))
    _expect(state["trial"], "trial", float, (*own, len(state["held_out"])))
    _expect(state["walk"], "walk", np.int64, (*own, 4), 0)
    position, in_use = state["walk"][..., 0], state["walk"][..., 3]
    if np.any(position >= in_use) or np.any(in_use > m):
        raise ValueError("the positions of perceptrons should lie within their order")


def _one_hot(encoder: Any) -> None:
    """Check that a `OneHotEncoder` puts no category beyond its last column."""
    if "categories_" not in vars(encoder):
        return
    n = len(encoder.categories_)
    none = [None] * n
    rare_indices = encoder._infrequent_indices if encoder._infrequent_enabled else none
    mappings = encoder._default_to_infrequent_mappings if encoder._infrequent_enabled else none
    dropped = encoder._drop_idx_after_grouping
    columns = encoder.categories_, rare_indices, mappings, none if dropped is None else dropped
    for categories, rare, mapping, drop, n_out in zip(
        *columns, encoder._n_features_outs, strict=True
    ):
        n_codes = len(categories)
        if (rare is None) != (mapping is None):
            raise ValueError("rare categories should have a code")
        if mapping is not None:
            _expect(rare, "_infrequent_indices", np.int64, (len(rare),), 0, n_codes - 1)
            _expect(mapping, "mapping of categories", np.int64, (n_codes,), 0)
            n_codes = int(mapping.max(initial=-1)) + 1
        if drop is not None and 0 <= drop < n_codes:
            n_codes -= 1
        if type(n_out) is not int or n_out != n_codes:
            raise ValueError(f"{n_codes} categories should have {n_codes} columns, not {n_out}")


def _expect(array: Any, name: str, dtype, shape: tuple, low=None, high=None) -> None:
    """Check the type and shape of an array, and that its entries are from low to high."""
    fits = type(array) is np.ndarray and array.dtype == dtype and array.shape == shape
    if not fits:
        found = f"{getattr(array, 'dtype', type(array))} {getattr(array, 'shape', '')}"
        raise ValueError(f"{name} should be {np.dtype(dtype)} {shape}, but is {found}")
    if array.size and not (
        (low is None or array.min() >= low) and (high is None or array.max() <= high)
    ):
        raise ValueError(f"{name} has entries out of bounds")


CHECKS: dict[str, Callable[[Any], None]] = {
    "BayesPointClassifier": _kernel_machine,
    "Columns": _columns,
    "LinearBayesPointClassifier": _linear,
    "Mixture": _mixture,
    "OneHotEncoder": _one_hot,
    "RejectOptionClassifier": _reject_option,
    "TfidfVectorizer": _words,
    "Views": _views,
}
