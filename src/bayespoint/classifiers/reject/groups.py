"""Keep a promise in each group of rows, not only on average."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy import sparse
from sklearn.utils import _safe_indexing

from .chain import make_chain, pilot_size
from .promise import Promise

# The groups are the answers themselves.
BY_PREDICTION = "prediction"
MISSING = "(missing)"
UNKNOWN = -1


def group_values(groups, X, answers: np.ndarray) -> np.ndarray:
    """Return each row's group: its answer, or its value in a column."""
    if isinstance(groups, str) and groups == BY_PREDICTION:
        return answers
    _check_column(X, groups)
    column = _safe_indexing(X, [groups], axis=1)
    values = (column.toarray() if sparse.issparse(column) else np.asarray(column))[:, 0]
    if values.dtype.kind in "biuf":
        return values.astype(float)
    missing = np.array([value is None or value != value for value in values], dtype=bool)
    texts = values.astype(str)
    return np.where(missing, MISSING, texts) if missing.any() else texts


def group_codes(known: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return the position of each value among the known ones; `UNKNOWN` if it is not there."""
    if known.dtype.kind != values.dtype.kind and "U" in (known.dtype.kind, values.dtype.kind):
        known, values = known.astype(str), values.astype(str)
    place = np.minimum(np.searchsorted(known, values), len(known) - 1)
    same = known[place] == values
    if values.dtype.kind == "f":
        same |= np.isnan(known[place]) & np.isnan(values)
    return np.where(same, place, UNKNOWN)


def certify_groups(
    confidence: np.ndarray,
    promises: Sequence[Promise],
    codes: np.ndarray,
    n_groups: int,
    risk: float,
) -> np.ndarray:
    """Return a threshold for each group, so that all promises hold in all groups at once.

    Parameters
    ----------
    confidence : ndarray of shape (n_rows,)
        Confidences of predictions for rows that were not trained on.
    promises : sequence of Promise
        What should hold for the accepted rows of each group.
    codes : ndarray of int of shape (n_rows,)
        The group of each row.
    n_groups : int
        Number of groups.
    risk : float
        The probability, over draws of these rows, that any promise is broken in any group.

    Returns
    -------
    ndarray of shape (n_groups,)
        Infinity refuses all rows of a group.

    Notes
    -----
    Groups share the risk. A group in which everything can be accepted does not need its share
    any longer, and gives it to the others (Bretz, Maurer, Brannath, Posch, 2009, A Graphical
    Approach to Sequentially Rejective Multiple Test Procedures). Which groups are too small for
    any promise depends on the number of their rows alone, so these get nothing of it.
    """
    rows = [np.flatnonzero(codes == code) for code in range(n_groups)]
    thresholds = np.full(n_groups, math.inf)
    able = [code for code in range(n_groups) if _could_pass(len(rows[code]), promises, risk)]
    if not able:
        return thresholds
    each = risk / len(able)
    tests = {
        code: make_chain(confidence[rows[code]], [p.of(rows[code]) for p in promises], each)
        for code in able
    }
    share = dict.fromkeys(able, each)
    while share:
        found = {code: tests[code].lowest_certified(share[code]) for code in share}
        for code, (threshold, _) in found.items():
            thresholds[code] = threshold
        given = sum(left for _, left in found.values())
        # Who accepts everything needs no more; the others try again with what it leaves.
        share = {code: share[code] for code in share if found[code][1] == 0}
        if not given:
            break
        share = {code: part + given / len(share) for code, part in share.items()}
    return thresholds


def _could_pass(n_rows: int, promises: Sequence[Promise], risk: float) -> bool:
    """Tell whether so many rows could be enough if all of them counted and none had a loss."""
    n_tested = n_rows - pilot_size(n_rows)
    return all(n_tested * math.log1p(-p.limit) <= math.log(risk) for p in promises)


def _check_column(X, column) -> None:
    """Raise if there is no such column."""
    names = getattr(X, "columns", None)
    if isinstance(column, str):
        if names is None:
            raise TypeError(
                f"groups={column!r} names a column, but X is a {type(X).__name__} without column "
                "names. Pass a DataFrame, or the number of the column."
            )
        if column not in list(names):
            raise ValueError(
                f"groups={column!r} should be 'prediction' or a column of X, but X has the columns "
                f"{list(names)[:20]}."
            )
    elif not -np.shape(X)[1] <= column < np.shape(X)[1]:
        raise ValueError(
            f"groups={column} should be the number of a column, but X has {np.shape(X)[1]} columns."
        )
