"""One check of sample weights for all supported versions of scikit-learn."""

from __future__ import annotations

import inspect

import numpy as np
from sklearn.utils.validation import _check_sample_weight

# Since version 1.9, scikit-learn refuses weights that are all zero, unless this option is set.
_OPTIONAL = "allow_all_zero_weights"
_OPTIONS = (
    {_OPTIONAL: True} if _OPTIONAL in inspect.signature(_check_sample_weight).parameters else {}
)


def check_sample_weight(sample_weight, X, *, allow_all_zero: bool = False) -> np.ndarray:
    """Return one weight per row of X as float64, or raise an error if one is negative."""
    weight = _check_sample_weight(
        sample_weight, X, dtype=np.float64, ensure_non_negative=True, **_OPTIONS
    )
    if not allow_all_zero and not np.any(weight):
        raise ValueError("Sample weights must contain at least one non-zero number.")
    return weight
