"""Tell which columns of new rows differ from the columns that a model was trained with."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

import numpy as np

from .holm import holm

# Numbers are compared in bins with about the same number of training rows.
N_BINS = 10
# Keep the shares of this many categories of a column; the others count as one.
MAX_CATEGORIES = 50
# Keep a summary of this many columns at most: a model file should stay small.
MAX_COLUMNS = 2000
# Bins with fewer expected rows are joined: the test is not valid for them.
MIN_EXPECTED_ROWS = 5
# A column has drifted if its p-value is below the level and this share of rows has moved.
LEVEL = 0.05
MIN_DISTANCE = 0.1
# List this many categories that training did not have.
MAX_NEW_CATEGORIES = 20


class Drift(NamedTuple):
    """How much a column of new rows differs from training.

    Attributes
    ----------
    column : str
        Name of the column.
    distance : float
        Total variation distance between the two distributions: the share of rows, from 0 to 1,
        that would have to move to another bin or category to make them equal.
    p_value : float
        Probability of such a difference by chance, corrected for looking at all columns.
    missing_before, missing_now : float
        Share of missing values in training and in the new rows.
    new_categories : list of str
        Some categories that training did not have.
    """

    column: str
    distance: float
    p_value: float
    missing_before: float
    missing_now: float
    new_categories: list[str]

    @property
    def drifted(self) -> bool:
        """Tell whether the difference is both too large for chance and large enough to matter."""
        return self.p_value < LEVEL and self.distance >= MIN_DISTANCE


def summarize(frame, texts: Collection[str] = ()) -> dict[str, Any]:
    """Return a compact summary of the columns of a data frame, as plain JSON.

    Parameters
    ----------
    frame : DataFrame
        Training rows: numbers with NaN, and strings with None, for missing values.
    texts : collection of str
        Columns of free text. Only their number of words is summarized.

    Returns
    -------
    dict
        `n_rows`, and `columns`: for each name a dict with `kind` ("number", "category" or
        "text") and the share of `missing` values. Numbers have `edges` and the `shares` of rows
        between them, `min` and `max`; categories have `shares` by name and `other`.
    """
    columns = {}
    for name in list(frame.columns)[:MAX_COLUMNS]:
        values = frame[name]
        if name in texts:
            columns[str(name)] = {"kind": "text", **_summarize_numbers(_n_words(values))}
        elif values.dtype.kind in "fiub":
            columns[str(name)] = {"kind": "number", **_summarize_numbers(values.to_numpy(float))}
        else:
            columns[str(name)] = {"kind": "category", **_summarize_categories(values)}
    return {"n_rows": len(frame), "columns": columns}


def drift(reference: dict[str, Any], frame) -> list[Drift]:
    """Compare new rows with the training rows, column by column.

    A chi-square test compares the counts in bins or categories, missing values being one more.
    The p-values are corrected by Holm's method, so that the chance to accuse any column wrongly
    is at most the level.

    Parameters
    ----------
    reference : dict
        What `summarize` returned for the training rows.
    frame : DataFrame
        New rows, with the same columns. Columns that only one side has are skipped.

    Returns
    -------
    list of Drift
        One for each column that can be compared, the largest distance first.

    Examples
    --------
    >>> import pandas as pd
    >>> from bayespoint.evaluation.drift import drift, summarize
    >>> before = pd.DataFrame({"age": range(100), "town": ["Ulm", "Bonn"] * 50})
    >>> now = before.assign(age=before["age"] + 50)
    >>> [(column.column, column.drifted) for column in drift(summarize(before), now)]
    [('age', True), ('town', False)]
    """
    if not len(frame) or not reference.get("n_rows"):
        return []
    found = []
    for name, known in reference["columns"].items():
        if name not in frame.columns:
            continue
        if known["kind"] == "category":
            before, now, new = _category_counts(known, frame[name])
        else:
            values = frame[name]
            numbers = _n_words(values) if known["kind"] == "text" else values.to_numpy(float)
            before, now, new = *_number_counts(known, numbers), []
        distance = float(np.abs(before / before.sum() - now / now.sum()).sum() / 2)
        p_value = _p_value(before * reference["n_rows"], now)
        missing_now = float(now[-1] / now.sum())
        found.append(Drift(name, distance, p_value, known["missing"], missing_now, new))
    corrected = holm([column.p_value for column in found])
    found = [column._replace(p_value=float(p)) for column, p in zip(found, corrected, strict=True)]
    return sorted(found, key=lambda column: -column.distance)


def _n_words(values) -> np.ndarray:
    """Return the number of words of each text, NaN where it is empty."""
    counts = values.fillna("").str.split().str.len().to_numpy(float)
    counts[counts == 0] = np.nan
    return counts


def _summarize_numbers(values: np.ndarray) -> dict[str, Any]:
    known = values[np.isfinite(values)]
    missing = 1 - len(known) / max(len(values), 1)
    if not len(known):
        return {"edges": [], "shares": [1 - missing], "missing": missing, "min": None, "max": None}
    # A value that fills several bins is one edge: bins are (edge, next edge].
    edges = np.unique(np.quantile(known, np.arange(1, N_BINS) / N_BINS, method="lower"))
    shares = _counts_in_bins(known, edges) / len(values)
    return {
        "edges": edges.tolist(),
        "shares": shares.tolist(),
        "missing": missing,
        "min": float(known.min()),
        "max": float(known.max()),
    }


def _counts_in_bins(known: np.ndarray, edges: np.ndarray) -> np.ndarray:
    bins = np.searchsorted(edges, known, side="left")
    return np.bincount(bins, minlength=len(edges) + 1).astype(float)


def _number_counts(known: dict[str, Any], values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return shares before and counts now in each bin; the last one is missing values."""
    present = values[np.isfinite(values)]
    now = _counts_in_bins(present, np.array(known["edges"]))
    now = np.append(now, len(values) - len(present))
    return np.append(known["shares"], known["missing"]), now


def _summarize_categories(values) -> dict[str, Any]:
    shares = values.value_counts(normalize=False) / max(len(values), 1)
    kept = shares.iloc[:MAX_CATEGORIES]
    missing = float(values.isna().mean()) if len(values) else 0.0
    return {
        "shares": {str(name): float(share) for name, share in kept.items()},
        "other": float(shares.iloc[MAX_CATEGORIES:].sum()),
        "missing": missing,
    }


def _category_counts(known: dict[str, Any], values) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Return shares before and counts now of each category, and new categories.

    The last two are other categories and missing values.
    """
    counts = values.dropna().astype(str).value_counts()
    shares = known["shares"]
    others = [name for name in counts.index if name not in shares]
    now = [float(counts.get(name, 0)) for name in shares]
    now += [float(counts[others].sum()), float(values.isna().sum())]
    new = others[:MAX_NEW_CATEGORIES] if not known["other"] else []
    return np.array([*shares.values(), known["other"], known["missing"]]), np.array(now), new


def _p_value(before: np.ndarray, now: np.ndarray) -> float:
    """Return the p-value of a chi-square test that both counts have the same law."""
    from scipy.stats import chi2_contingency

    used = before + now > 0
    before, now = before[used], now[used]
    # Expected rows of the smaller table decide which bins are too small to be tested alone.
    share = min(before.sum(), now.sum()) / (before.sum() + now.sum())
    order = np.argsort(before + now, kind="stable")
    pairs, sums = [], np.zeros(2)
    for i in order:
        sums = sums + np.array([before[i], now[i]])
        if share * sums.sum() >= MIN_EXPECTED_ROWS:
            pairs.append(sums)
            sums = np.zeros(2)
    if sums.any() and pairs:
        pairs[-1] = pairs[-1] + sums
    if len(pairs) < 2:
        return 1.0
    return float(chi2_contingency(np.array(pairs).T).pvalue)
