"""Ask of each column how well it alone predicts the target: too well is a sign of a leak."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

# A column is suspicious if it alone removes this share of the errors of a constant guess.
SUSPICIOUS_SKILL = 0.97
# A column with a value for each class is suspicious earlier: it may be a copy with a few changes.
SUSPICIOUS_SKILL_OF_COPIES = 0.95
# So is a column that leaves a third of the errors of any other column, or fewer.
SUSPICIOUS_SKILL_ALONE = 0.9
SUSPICIOUS_ERROR_RATIO = 1 / 3
# Fewer rows than this cannot prove anything.
MIN_ROWS = 20
# Numbers are put into bins of about this many rows first; only promising columns get a tree.
ROWS_PER_BIN = 10
MAX_BINS = 100
PROMISING_SKILL = 0.5
N_FOLDS = 3
# Few rows need more folds: a fold takes a large part of a rare class away.
N_FOLDS_OF_FEW, FEW_ROWS = 10, 500
# Rows and columns that are looked at, and the largest table of values by classes.
MAX_ROWS = 5000
MAX_COLUMNS = 1000
MAX_CELLS = 2_000_000


class Suspect(NamedTuple):
    """A column that predicts the target too well."""

    name: str
    skill: float  # share of the errors of a constant guess that it removes
    error: float  # cross-validated error of this column alone


def find_suspects(values: dict[str, np.ndarray], y: np.ndarray) -> list[Suspect]:
    """Return the columns that predict the target suspiciously well, the best first.

    Parameters
    ----------
    values : dict of ndarray
        Numbers with NaN where they are missing, or codes of categories as integers, -1 where
        they are missing.
    y : ndarray of int
        Codes of the classes.
    """
    n_classes = int(y.max(initial=-1)) + 1
    if len(y) < MIN_ROWS or n_classes < 2 or len(values) > MAX_COLUMNS:
        return []
    rng = np.random.default_rng(0)
    rows = rng.permutation(len(y))[:MAX_ROWS]
    y, n_folds = y[rows], N_FOLDS_OF_FEW if len(rows) <= FEW_ROWS else N_FOLDS
    # Rows in a random order, sorted by class: each fold has its share of each class.
    fold = np.empty(len(rows), dtype=np.int64)
    fold[np.argsort(y, kind="stable")] = np.arange(len(rows)) % n_folds
    guess = 1 - np.bincount(y).max() / len(y)
    if guess == 0:
        return []
    errors = {name: _error_alone(column[rows], y, fold) for name, column in values.items()}
    skills = {name: 1 - error / guess for name, error in errors.items()}
    suspects = []
    for name, skill in skills.items():
        others = [other for key, other in skills.items() if key != name and other < skill]
        second = max(others, default=0.0)
        is_copy = len(np.unique(values[name][rows])) <= n_classes + 1
        enough = SUSPICIOUS_SKILL_OF_COPIES if is_copy else SUSPICIOUS_SKILL
        lonely = 1 - skill <= SUSPICIOUS_ERROR_RATIO * (1 - second)
        if skill >= enough or (skill >= SUSPICIOUS_SKILL_ALONE and lonely):
            suspects.append(Suspect(name, skill, errors[name]))
    return sorted(suspects, key=lambda suspect: -suspect.skill)


def _error_alone(column: np.ndarray, y: np.ndarray, fold: np.ndarray) -> float:
    """Return the cross-validated error of a prediction from one column."""
    if column.dtype.kind == "i":
        return _error_of_codes(column, y, fold)
    edges = np.unique(column[~np.isnan(column)])
    if len(edges) > MAX_BINS:
        n_bins = int(np.clip(len(y) / ROWS_PER_BIN, 2, MAX_BINS))
        edges = np.quantile(edges, np.arange(1, n_bins) / n_bins)
    error = _error_of_codes(np.searchsorted(edges, column), y, fold)
    guess = 1 - np.bincount(y).max() / len(y)
    if not 0 < error <= (1 - PROMISING_SKILL) * guess:
        return error
    return min(error, _tree_error(column, y, fold))


def _error_of_codes(codes: np.ndarray, y: np.ndarray, fold: np.ndarray) -> float:
    """Predict the class that is most frequent among rows of other folds with the same code."""
    codes = codes - codes.min()
    n_codes, n_classes = int(codes.max()) + 1, int(y.max()) + 1
    if n_codes * n_classes > MAX_CELLS:
        return 1.0
    n_wrong = 0
    for number in range(int(fold.max()) + 1):
        train, test = fold != number, fold == number
        counts = np.bincount(codes[train] * n_classes + y[train], minlength=n_codes * n_classes)
        counts = counts.reshape(n_codes, n_classes)
        most_frequent = counts.sum(axis=0).argmax()
        answers = np.where(counts.any(axis=1), counts.argmax(axis=1), most_frequent)
        n_wrong += int(np.count_nonzero(answers[codes[test]] != y[test]))
    return n_wrong / len(y)


def _tree_error(column: np.ndarray, y: np.ndarray, fold: np.ndarray) -> float:
    """Predict by a small tree, which finds where one class ends and the next begins."""
    from sklearn.tree import DecisionTreeClassifier

    n_classes = int(y.max()) + 1
    # Missing values are a value of their own, below all others.
    x = np.where(np.isnan(column), np.nanmin(column) - 1, column)[:, None]
    tree = DecisionTreeClassifier(max_leaf_nodes=4 * n_classes, random_state=0)
    n_wrong = 0
    for number in range(int(fold.max()) + 1):
        train, test = fold != number, fold == number
        n_wrong += int(np.count_nonzero(tree.fit(x[train], y[train]).predict(x[test]) != y[test]))
    return n_wrong / len(y)
