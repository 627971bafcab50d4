"""From the columns of a table to points: fill and mark missing values, encode, standardize."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from .steady_sums import coarse_and_fine, total

# Work on columns in blocks of about this many numbers, to keep temporary copies small.
BLOCK_ENTRIES = 2**20
# Medians that are only a guess are computed from this many rows, evenly spaced.
MAX_MEDIAN_ROWS = 2000
# A column is constant if its deviation is at most this many units in the last place of its mean.
CONSTANT_ULPS = 4
# The value of a mark where a number is missing. Fitted models and their files rely on it.
MARK = 0.5
# The code of a category that the training table did not have.
UNSEEN = -1


@dataclass(frozen=True, eq=False, repr=False)
class Columns:
    """How the columns of a training table become features of points.

    It maps coded rows: a matrix with one column for each column of the table, with NaN for a
    missing value. A column of numbers holds them. A column of categories holds positions in
    `categories`, or `UNSEEN`.

    A column of numbers becomes one feature, in which missing values are replaced by the
    median. If values were missing in training, a second feature is `MARK` where they are missing
    and 0 elsewhere. A column of categories becomes a feature for each category, 1 where it is
    the value and 0 elsewhere; missing is a category of its own if values were missing in
    training. Other categories are 0 in all of these features.

    Attributes
    ----------
    categories : list
        For each column an array of its categories, or None for numbers.
    ordered : ndarray of bool of shape (n_columns,)
        Whether the categories have an order; then their positions are numbers.
    missing : ndarray of bool of shape (n_columns,)
        Whether a feature marks missing values.
    fill : ndarray of shape (n_columns,)
        Medians of numbers, which replace missing values. Those of a column that had no missing
        values are of at most 2000 rows.
    center, scale : ndarray of shape (n_columns,)
        A number x becomes (x - center) / scale. The scale of a constant column is infinite.
    """

    categories: list[np.ndarray | None]
    ordered: np.ndarray
    missing: np.ndarray
    fill: np.ndarray
    center: np.ndarray
    scale: np.ndarray

    def __repr__(self) -> str:
        return f"Columns(<{len(self.groups)} features of {len(self.fill)} columns>)"

    @property
    def is_number(self) -> np.ndarray:
        """Return which columns hold numbers, or categories that have an order."""
        return self.ordered | np.array([levels is None for levels in self.categories], dtype=bool)

    @property
    def widths(self) -> np.ndarray:
        """Return the number of features of each column."""
        levels = [0 if found is None else len(found) for found in self.categories]
        return np.where(self.is_number, 1, levels) + self.missing

    @property
    def groups(self) -> np.ndarray:
        """Return the column of the table that each feature belongs to."""
        return np.repeat(np.arange(len(self.fill)), self.widths)

    @property
    def is_standardized(self) -> bool:
        """Return whether numbers are shifted or scaled."""
        return bool(np.any(self.center != 0) or np.any(self.scale != 1))

    def names(self, features: Sequence[str]) -> list[str]:
        """Return a name for each feature, from the names of the columns."""
        found = []
        for j, name in enumerate(features):
            levels = self.categories[j]
            if levels is None or self.ordered[j]:
                found.append(name)
            else:
                found += [f"{name}={level}" for level in levels]
            found += [f"{name} missing"] * int(self.missing[j])
        return found

    def points(self, coded):
        """Return the points of coded rows; numbers that need no change are not copied."""
        if sparse.issparse(coded):
            if not (np.any(self.center) or self.missing.any()):
                return self._sparse_points(coded)
            coded = coded.toarray()
        number = self.is_number
        if number.all() and not self.missing.any():
            return self._numbers(coded, number)
        absent = np.isnan(coded)
        points = np.zeros((len(coded), len(self.groups)), dtype=coded.dtype)
        starts = np.cumsum(self.widths) - self.widths
        points[:, starts[number]] = self._numbers(coded[:, number], number)
        marked = np.flatnonzero(number & self.missing)
        points[:, starts[marked] + 1] = MARK * absent[:, marked]
        for j in np.flatnonzero(~number):
            of_missing = self.widths[j] - 1 if self.missing[j] else UNSEEN
            place = np.where(absent[:, j], of_missing, coded[:, j]).astype(np.intp)
            rows = np.flatnonzero(place != UNSEEN)
            points[rows, starts[j] + place[rows]] = 1.0
        return points

    def _numbers(self, values, which):
        """Return filled and standardized numbers of some columns."""
        if _has_missing(values):
            values = np.where(np.isnan(values), self.fill[which], values).astype(values.dtype)
        if not self.is_standardized:
            return values
        with np.errstate(over="ignore"):
            found = ((values - self.center[which]) / self.scale[which]).astype(values.dtype)
        finite = np.isfinite(found)
        if not finite.all():
            column = np.flatnonzero(~finite.all(axis=0))[0]
            self._refuse(np.flatnonzero(which)[column], values[~finite[:, column], column][0])
        return found

    def _sparse_points(self, X):
        """Return scaled sparse points."""
        if not self.is_standardized:
            return X
        found = X.copy()
        with np.errstate(over="ignore"):
            found.data /= self.scale[X.indices].astype(X.dtype)
        bad = np.flatnonzero(~np.isfinite(found.data))
        if len(bad):
            self._refuse(X.indices[bad[0]], X.data[bad[0]])
        return found

    def _refuse(self, column: int, value: float):
        raise ValueError(
            f"Column {column} of X (counted from 0) holds {value:.3g}, which cannot be "
            f"standardized: training values have mean {self.center[column]:.3g} and standard "
            f"deviation {self.scale[column]:.3g}. Check the units of this column."
        )


def fit_columns(
    coded,
    categories: Sequence[np.ndarray | None] | None = None,
    ordered: np.ndarray | None = None,
    *,
    standardize: bool,
    weight: np.ndarray | None = None,
) -> Columns:
    """Learn from coded training rows how their columns become features.

    Parameters
    ----------
    coded : {ndarray, CSR matrix} of shape (n_samples, n_columns)
        Rows as `Columns` describes them. A sparse matrix holds numbers without missing values.
    categories : sequence, default=None
        For each column its categories, or None for numbers; by default all are numbers.
    ordered : ndarray of bool of shape (n_columns,), default=None
        Whether categories have an order; by default none has.
    standardize : bool
        Whether to shift numbers to mean 0 and scale them to standard deviation 1. Sparse
        numbers are scaled but not shifted.
    weight : ndarray of shape (n_samples,), default=None
        Positive weights: a whole weight counts as that many equal rows.
    """
    n = coded.shape[1]
    categories = [None] * n if categories is None else list(categories)
    ordered = np.zeros(n, dtype=bool) if ordered is None else ordered
    fill, center, scale = np.zeros(n), np.zeros(n), np.ones(n)
    if sparse.issparse(coded):
        missing = np.zeros(n, dtype=bool)
        scale = _sparse_deviations(coded, weight) if standardize else scale
        return Columns(categories, ordered, missing, fill, center, scale)
    missing = np.isnan(coded).any(axis=0) if _has_missing(coded) else np.zeros(n, dtype=bool)
    columns = Columns(categories, ordered, missing, fill, center, scale)
    few = np.linspace(0, len(coded) - 1, min(len(coded), MAX_MEDIAN_ROWS)).astype(np.intp)
    complete = np.flatnonzero(columns.is_number & ~missing)
    for some in np.array_split(complete, 1 + coded.size // BLOCK_ENTRIES):
        if not len(some):
            continue
        # These medians are for values that are missing only in new rows: they need not be exact.
        fill[some] = medians(coded[np.ix_(few, some)], None if weight is None else weight[few])
        if standardize:
            center[some], scale[some] = _moments(coded[:, some], fill[some], weight, some)
    for j in np.flatnonzero(columns.is_number & missing):
        known = ~np.isnan(coded[:, j])
        if known.any():
            values, of_known = coded[known, j, None], None if weight is None else weight[known]
            fill[j] = medians(values, of_known)[0]
            if standardize:
                center[[j]], scale[[j]] = _moments(values, fill[[j]], of_known, [j])
    return columns


def _has_missing(X: np.ndarray) -> bool:
    """Return whether NaN is among the numbers; a sum finds out without a copy."""
    with np.errstate(over="ignore", invalid="ignore"):
        return not np.isfinite(np.sum(X)) and bool(np.isnan(X).any())


def medians(values: np.ndarray, weight: np.ndarray | None = None) -> np.ndarray:
    """Return the median of each column; a whole weight counts as that many equal rows."""
    if weight is None:
        middle = [(len(values) - 1) // 2, len(values) // 2]
        low, high = np.partition(values, middle, axis=0)[middle]
    else:
        order = np.argsort(values, axis=0)
        total = np.cumsum(weight[order], axis=0)
        # The first row at which half of the weight is reached, and the first beyond it.
        middle = [np.sum(2 * total < total[-1], axis=0), np.sum(2 * total <= total[-1], axis=0)]
        each = np.arange(values.shape[1])
        low, high = (values[order[row, each], each] for row in middle)
    return 0.5 * low.astype(np.float64) + 0.5 * high  # the sum itself could overflow


def _moments(values, origin, weight, which) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and standard deviation of each column, infinity for a constant column.

    Measured from the median and in units of the largest difference, neither large offsets nor
    squares of very large or small numbers lose digits.
    """
    with np.errstate(over="ignore"):
        off = values - origin
        reach = np.abs(off).max(axis=0)
    if not np.isfinite(reach).all():
        j = int(np.flatnonzero(~np.isfinite(reach))[0])
        raise ValueError(
            f"Column {which[j]} of X (counted from 0) holds numbers from {values[:, j].min():.3g} "
            f"to {values[:, j].max():.3g}, too far apart for double precision. Divide them by a "
            "constant, or take their logarithm."
        )
    off /= np.where(reach > 0, reach, 1.0)
    # In single precision, the last digit of a unit can matter: it must not depend on the order.
    n = len(off) if weight is None else weight.sum()
    mean = total([coarse_and_fine(off, weight)]) / n
    deviation = np.sqrt(total([coarse_and_fine((off - mean) ** 2, weight)]) / n)
    center = origin + reach * mean
    return center, unless_constant(reach * deviation, center, values.dtype)


def unless_constant(deviation, center, dtype) -> np.ndarray:
    """Return deviations, infinity where they are rounding errors."""
    precision = CONSTANT_ULPS * np.finfo(dtype).eps
    return np.where(deviation <= precision * np.abs(center), np.inf, deviation)


def _sparse_deviations(X, weight: np.ndarray | None) -> np.ndarray:
    """Return the standard deviation of each column of a CSR matrix, as `_moments` does."""
    m, n = X.shape
    of_row = np.ones(m) if weight is None else weight
    of_entry, columns = np.repeat(of_row, np.diff(X.indptr)), X.indices
    reach = np.abs(X).max(axis=0).toarray().ravel().astype(np.float64)
    reach[reach == 0] = 1.0
    values = X.data / reach[columns]

    def mean_over_rows(entries, others):
        filled = np.bincount(columns, of_entry, minlength=n)
        total = np.bincount(columns, of_entry * entries, minlength=n)
        return (total + (of_row.sum() - filled) * others) / of_row.sum()

    mean = mean_over_rows(values, 0.0)
    deviation = np.sqrt(mean_over_rows((values - mean[columns]) ** 2, mean**2))
    return unless_constant(reach * deviation, reach * mean, X.dtype)
