"""Sample weights: one check for all versions of scikit-learn, and class weights on top."""

from __future__ import annotations

import inspect

import numpy as np
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.validation import _check_sample_weight

# Smaller positive weights count as this one. Many rows of so little weight together change an
# answer less than rounding does. With less, the own noise of a row leaves no digits for its
# left-out probability.
MIN_WEIGHT = 1e-12
# A weight counts equal rows. Larger ones leave no digits for the other rows.
MAX_WEIGHT = 1e10

# Since version 1.9, scikit-learn refuses weights that are all zero, unless this option is set.
_OPTIONAL = "allow_all_zero_weights"
_OPTIONS = (
    {_OPTIONAL: True} if _OPTIONAL in inspect.signature(_check_sample_weight).parameters else {}
)


def check_sample_weight(sample_weight, X, *, allow_all_zero: bool = False) -> np.ndarray:
    """Return one weight per row of X as float64, or raise an error if one is not moderate."""
    weight = _check_sample_weight(
        sample_weight, X, dtype=np.float64, ensure_non_negative=True, **_OPTIONS
    )
    if not allow_all_zero and not np.any(weight):
        raise ValueError("Sample weights must contain at least one non-zero number.")
    if weight.max(initial=0.0) > MAX_WEIGHT:
        raise ValueError(
            f"A weight says how often a row counts, so it should be at most {MAX_WEIGHT:g}, but "
            f"one is {weight.max():.3g}. Divide sample weights, or class weights, by a constant."
        )
    if np.any((weight > 0) & (weight < MIN_WEIGHT)):
        weight = np.where(weight > 0, np.maximum(weight, MIN_WEIGHT), weight)
    return weight


def combined_weight(sample_weight, class_weight, X, y) -> np.ndarray:
    """Return the weight of each row: its sample weight times the weight of its class.

    Class weights are None, a dict, or "balanced": the same total for each class, and the
    total of the sample weights for all. scikit-learn balances numbers of rows. Here rows count
    with their weights, so that zero is still the same as removal, and two as repetition.
    """
    weight = check_sample_weight(sample_weight, X)
    if class_weight is None:
        return weight
    classes, target = np.unique(y, return_inverse=True)
    if isinstance(class_weight, str):
        if class_weight != "balanced":
            raise ValueError(f'class_weight should be None, a dict or "balanced": {class_weight!r}')
        totals = np.bincount(target, weights=weight)
        n_present = np.count_nonzero(totals)
        # A class without weight keeps none.
        of_class = weight.sum() / (n_present * np.where(totals > 0, totals, np.inf))
    else:
        of_class = compute_class_weight(class_weight, classes=classes, y=y)
    return check_sample_weight(weight * of_class[target], X)
