"""Checks of arguments that the data sets share."""

from __future__ import annotations

import numpy as np


def check_at_least(name: str, value: int, least: int) -> None:
    """Raise an error if a number is too small."""
    if value < least:
        raise ValueError(f"{name} should be at least {least}, but is {value!r}.")


def check_finite(name: str, values) -> np.ndarray:
    """Return values as an array of floats; NaN and infinity are an error."""
    values = np.asarray(values, dtype=float)
    if not np.isfinite(values).all():
        raise ValueError(f"{name} should be finite numbers, but some are NaN or infinite.")
    return values
