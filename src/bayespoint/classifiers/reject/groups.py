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
# Characters of the name of a group.
MAX_NAME = 200
# From here on, floats do not tell all whole numbers apart.
LARGEST_NUMBER = 2.0**53


def group_values(groups, X, answers: np.ndarray) -> np.ndarray:
    """Return each row's group: its answer, or its value in a column."""
    if isinstance(groups, str) and groups == BY_PREDICTION:
        return answers
    X = np.asarray(X) if isinstance(X, list | tuple) else X
    _check_column(X, groups)
    column = _safe_indexing(X, [groups], axis=1)
    return as_groups((column.toarray() if sparse.issparse(column) else np.asarray(column))[:, 0])


def as_groups(values) -> np.ndarray:
    """Return groups as floats if they are numbers, otherwise as texts, with a name for missing."""
    values = np.asarray(values)
    if values.dtype.kind in "biuf":
        return values.astype(float)
    if values.dtype.kind in "Mm":  # so that the unit does not matter
        values = values.astype(f"{values.dtype.kind}8[us]")
    # Longer texts are never the name of a group, and one of them would make the array huge.
    return np.array([group_name(value)[: MAX_NAME + 1] for value in values], dtype=str)


def group_name(group) -> str:
    """Return the name of a group for people, the same for 1, 1.0 and True."""
    if is_missing(group):
        return MISSING
    if isinstance(group, bool | np.bool_):
        return str(int(group))
    return str(group).removesuffix(".0") if isinstance(group, float) else str(group)


def known_groups(values: np.ndarray) -> np.ndarray:
    """Return the different groups of held-out rows; raise if they cannot be told apart."""
    groups = np.unique(values)
    if groups.dtype.kind == "f" and np.any(np.abs(groups[np.isfinite(groups)]) >= LARGEST_NUMBER):
        raise ValueError(
            "The column of groups has numbers of 2**53 or more, which cannot be told apart. Make "
            "them texts: X[column].astype(str)."
        )
    if groups.dtype.kind == "U" and np.char.str_len(groups).max(initial=0) > MAX_NAME:
        raise ValueError(
            f"The column of groups has texts of more than {MAX_NAME} characters, which are no "
            "names of groups. Choose a column with a few different values."
        )
    return groups


def group_codes(known: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return the position of each value among the known ones; `UNKNOWN` if it is not there."""
    if known.dtype.kind != values.dtype.kind and "U" in (known.dtype.kind, values.dtype.kind):
        known, values = _texts(known), _texts(values)
    order = np.argsort(known)
    place = order[np.minimum(np.searchsorted(known, values, sorter=order), len(known) - 1)]
    same = known[place] == values
    if values.dtype.kind == "f":
        same |= np.isnan(known[place]) & np.isnan(values)
    return np.where(same, place, UNKNOWN)


def is_missing(value) -> bool:
    """Tell whether a value stands for nothing: None, NaN, NaT or pandas.NA."""
    try:
        return value is None or bool(value != value)
    except TypeError:  # pandas.NA
        return True
    except ValueError:  # a list of arrays
        return False


def _texts(values: np.ndarray) -> np.ndarray:
    """Return values as texts."""
    if values.dtype.kind != "f":
        return values.astype(str)
    different, place = np.unique(values, return_inverse=True)
    return np.array([group_name(value) for value in different.tolist()], dtype=str)[place]


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
    ends = np.cumsum(np.bincount(codes, minlength=n_groups))
    rows = np.split(np.argsort(codes, kind="stable"), ends[:-1])
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
        if list(names).count(column) > 1:
            raise ValueError(f"X has several columns with the name {column!r}. Rename the others.")
    elif not -np.shape(X)[1] <= column < np.shape(X)[1]:
        raise ValueError(
            f"groups={column} should be the number of a column, but X has {np.shape(X)[1]} columns."
        )
