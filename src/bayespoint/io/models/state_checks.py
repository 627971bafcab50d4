"""Check what compiled loops assume about the attributes of a model from a file.

In Python a wrong attribute raises an exception. In compiled code, of this package or of SciPy, a
wrong index or shape could write anywhere into memory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


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
    _expect(model._shift, "_shift", float, (n,))
    _expect(model._precision, "_precision", float, (n, n) if full else (n,))


def _kernel_machine(model: Any) -> None:
    """Check the perceptrons that a `BayesPointClassifier` continues at the next fit."""
    state = getattr(model, "_state", None)
    if state is None:
        return
    n_outputs, m = state["signs"].shape
    own = n_outputs, state["order"].shape[1]
    _expect(state["signs"], "signs", np.int8, (n_outputs, m), -1, 1)
    _expect(state["held_out"], "held_out", np.int64, (len(state["held_out"]),), 0, m - 1)
    _expect(state["order"], "order", np.int32, (*own, m), 0, m - 1)
    _expect(state["output"], "output", float, (*own, m))
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
    "LinearBayesPointClassifier": _linear,
    "OneHotEncoder": _one_hot,
}
