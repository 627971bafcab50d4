"""Checks of the arguments of the bounds."""

from __future__ import annotations

import math
from numbers import Integral

import numpy as np

# A number that should be zero may be negative by this share of the largest number.
MAX_RELATIVE_ROUNDING = 1e-9


def at_risk(confidence: float) -> float:
    """Return the probability that a bound fails."""
    inside("confidence", confidence, 0, 1)
    return 1 - confidence


def sampling_risk(n_samples: int, confidence: float, constant: float | None) -> float:
    """Check what bounds with an unknown constant share; return the probability that one fails."""
    count("n_samples", n_samples)
    if constant is not None:
        positive("constant", constant)
    return at_risk(confidence)


def inside(name: str, value: float, low: float, high: float) -> None:
    """Refuse a number that is not strictly between two others."""
    if not low < value < high:
        raise ValueError(f"{name} should be between {low} and {high}, but is {value!r}.")


def positive(name: str, value: float) -> None:
    """Refuse a number that is not positive and finite."""
    if not 0 < value < math.inf:
        raise ValueError(f"{name} should be a positive finite number, but is {value!r}.")


def at_least(name: str, value: float, least: int) -> None:
    """Refuse a number that is too small, infinite or NaN."""
    if not least <= value < math.inf:
        raise ValueError(f"{name} should be a number of at least {least}, but is {value!r}.")


def share(name: str, value: float) -> None:
    """Refuse a number that is not between 0 and 1."""
    if not 0 <= value <= 1:
        raise ValueError(f"{name} should be a share between 0 and 1, but is {value!r}.")


def count(name: str, value: float, least: int = 1) -> None:
    """Refuse a number that is not whole, or too small."""
    if not isinstance(value, Integral) or value < least:
        raise ValueError(f"{name} should be a whole number of at least {least}, but is {value!r}.")


def vector(name: str, values, length: int | None = None) -> np.ndarray:
    """Return finite numbers, one for each training point."""
    values = np.asarray(values, dtype=float)
    if values.ndim != 1 or not values.size:
        raise ValueError(
            f"{name} should be a list of numbers, one for each training point, but has shape "
            f"{values.shape}."
        )
    if length is not None and len(values) != length:
        raise ValueError(
            f"{name} should have an entry for each of {length} training points, but has "
            f"{len(values)}."
        )
    if not np.isfinite(values).all():
        raise ValueError(f"{name} should be finite numbers, but some are NaN or infinite.")
    return values


def not_negative(name: str, values: np.ndarray) -> np.ndarray:
    """Return numbers; refuse them if one is negative by more than a solver's rounding."""
    if values.min() < -MAX_RELATIVE_ROUNDING * np.abs(values).max():
        worst = int(np.argmin(values))
        raise ValueError(
            f"{name} should not be negative, but entry {worst} is {values[worst]:.3g}."
        )
    return values
