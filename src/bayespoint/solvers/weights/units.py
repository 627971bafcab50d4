"""Center and unit of each feature, so that offsets and scales of features do not matter."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .column_sums import ColumnSums

# Differences of at most this share of the center are rounding errors: the feature is constant.
ROUNDING_SHARE = 8 * np.finfo(float).eps
# With more rows than this for each feature, the prior hardly matters. Then all scales are root mean
# squares over all rows, which takes fewer sweeps where all rows of a rare category have one label.
MAX_ROWS_PER_FEATURE = 1000
# Squares of scales in this range, and products of squares, are far from overflow.
SCALE_RANGE = (1e-100, 1e100)
# Outputs of entries up to this many prior units can be squared and added up.
MAX_ENTRY = 1e140
# Prior variance of the weight of a feature that has not varied yet. Such a feature has no unit;
# this variance makes predictions ignore it.
UNVARIED_VARIANCE = 1e-200


class Units(NamedTuple):
    """Center and scale of each feature."""

    center: np.ndarray
    scale: np.ndarray  # NaN for features that have not varied yet
    n_active: float  # how many features of a row differ from their center, on average

    def variances(self, variance: float) -> np.ndarray:
        """Return prior variances of weights, given the variance of weights of scaled features."""
        known = np.isfinite(self.scale)
        return np.divide(
            variance, self.scale**2, out=np.full(len(known), UNVARIED_VARIANCE), where=known
        )


def find_units(reference: np.ndarray, sums: ColumnSums, movable: bool) -> Units:
    """Choose center and scale of each feature from sums of its differences from a reference.

    The center is the reference if more than half of the rows have this value, or if centers are
    not movable. Then the scale is the root mean square of the differences that are not zero:
    with the root mean square of all differences, rare features would get large weights. Otherwise
    center and scale are mean and standard deviation. With very many rows, the scale is the root
    mean square of all differences in both cases. If more than half of the entries of a
    column are zero, its center is zero, so that sparse rows stay sparse.
    """
    shifts, squares, counts, n_rows = sums
    with np.errstate(over="ignore", invalid="ignore"):
        moved = movable & (2 * counts >= n_rows)
        mean = np.where(moved, shifts / n_rows, 0.0)
        center = reference + mean
        # The reference is a value of the feature, so it is within sqrt(n) deviations of the mean.
        squares = np.where(moved, squares - n_rows * mean**2, squares)
        many = n_rows > MAX_ROWS_PER_FEATURE * len(center)
        counts = np.where((moved | many) & (counts > 0), n_rows, counts)
        variance = np.divide(squares, counts, out=np.zeros(len(center)), where=counts > 0)
        rounding = (ROUNDING_SHARE * np.abs(center)) ** 2
    constant = (counts == 0) | (variance < rounding)
    _require_moderate(np.sqrt(np.where(constant, 1.0, np.maximum(variance, 0.0))), center)
    scale = np.sqrt(np.where(constant, np.nan, variance))
    return Units(center, scale, float(counts @ ~constant / n_rows))


def require_near(X, center: np.ndarray, variances: np.ndarray) -> None:
    """Raise an error if entries are so far from the center that outputs would overflow.

    `variances` are prior variances of the weights of the features.
    """
    entries = X if isinstance(X, np.ndarray) else X.data
    if not entries.size:
        return
    largest = max(float(entries.max()), -float(entries.min()))
    units = np.sqrt(variances)
    if largest + np.abs(center).max(initial=0.0) <= MAX_ENTRY / max(units.max(), 1.0):
        return
    largest_of, limits = _largest_of_columns(X), MAX_ENTRY / np.maximum(units, 1.0)
    worst = int(np.argmax(largest_of / limits))
    if largest_of[worst] > limits[worst]:
        raise ValueError(
            f"Entries of feature {worst} should be at most {limits[worst]:.2g}, because outputs "
            f"overflow for larger ones, but one is {largest_of[worst]:.3g}. Check its unit, or "
            "remove its row."
        )


def _largest_of_columns(X) -> np.ndarray:
    """Return the largest absolute value of each column."""
    largest = abs(X).max(axis=0)
    return largest if isinstance(largest, np.ndarray) else largest.toarray().ravel()


def _require_moderate(scale: np.ndarray, center: np.ndarray) -> None:
    """Raise an error if squares of differences overflow or underflow."""
    low, high = SCALE_RANGE
    with np.errstate(invalid="ignore"):
        good = (low <= scale) & (scale <= high) & (np.abs(center) <= high)
    if good.all():
        return
    worst = int(np.argmin(good))
    raise ValueError(
        f"Features should vary by {low:g} to {high:g}, but feature {worst} varies by "
        f"{_describe(scale[worst])}. Change the unit of this feature, or remove rows with "
        "extreme values."
    )


def _describe(scale: float) -> str:
    if 0 < scale < np.inf:
        return f"about {scale:.3g}"
    return "less, too little to be squared" if scale == 0 else "more, too much to be squared"
