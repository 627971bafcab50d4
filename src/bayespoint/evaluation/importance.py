"""How much each column matters: what it costs to shuffle it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

# Shuffle the columns of at most this many rows: enough to see which columns matter.
MAX_SHUFFLED_ROWS = 400
# Predict about this many rows at once, each with one shuffled column.
ROWS_PER_PREDICTION = 4000
# Shuffle every column this many times, unless the time is over.
N_ROUNDS = 5
# CPU seconds for all columns.
MAX_SECONDS = 8.0
# The log loss clips probabilities at this, as scikit-learn does.
MIN_PROBABILITY = float(np.finfo(float).eps)


class Importance(NamedTuple):
    """How much worse a model gets if a column is shuffled.

    Attributes
    ----------
    column : int
        Position of the column.
    log_loss, error : float
        Mean increase over rows and shuffles.
    deviation : float
        Standard error of the increase of the log loss, by the spread between rows.
    """

    column: int
    log_loss: float
    error: float
    deviation: float


def importances(
    model,
    X,
    y,
    *,
    max_rows: int = MAX_SHUFFLED_ROWS,
    max_seconds: float = MAX_SECONDS,
    random_state: int = 0,
) -> list[Importance] | None:
    """Return how much worse a model gets if a column is shuffled, the largest loss first.

    A column whose information other columns also hold may look unimportant.

    Parameters
    ----------
    model : classifier
        Fitted, with `predict_proba`.
    X : DataFrame or ndarray of shape (n_rows, n_columns)
        Rows.
    y : array-like of shape (n_rows,)
        Their classes. Rows of classes that the model does not know are left out.
    max_rows : int, default=400
        A random sample is used if there are more rows.
    max_seconds : float, default=8.0
        CPU time; each column is shuffled five times or as often as the time allows.
    random_state : int, default=0
        Seed of the shuffles.

    Returns
    -------
    list of Importance or None
        None if X is sparse or has fewer than two rows, or if shuffling every column once takes
        longer than the time.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from bayespoint import LinearBayesPointClassifier
    >>> from bayespoint.evaluation.importance import importances
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LinearBayesPointClassifier().fit(X[::2], y[::2])
    >>> importances(model, X[1::2], y[1::2])[0].column
    3
    """
    if sparse.issparse(X):
        return None
    began = time.process_time()
    rng = np.random.default_rng(random_state)
    X, position = _sample(model, X, np.asarray(y), max_rows, rng)
    if len(position) < 2:  # no spread between rows
        return None
    rounds = _rounds(model, X, position, rng, began, max_seconds)
    return _means(rounds) if rounds else None


def _rounds(model, X, position, rng, began: float, max_seconds: float) -> list[np.ndarray]:
    """Return what shuffling every column changes, as often as the time allows."""
    clean = _score(model.predict_proba(X), position)
    rounds: list[np.ndarray] = []
    while len(rounds) < N_ROUNDS:
        changes = _shuffle_all(model, X, position, clean, rng, began + max_seconds)
        if changes is None:
            break
        rounds.append(changes)
        seconds = time.process_time() - began
        if seconds * (1 + 1 / len(rounds)) > max_seconds:
            break
    return rounds


def _shuffle_all(model, X, position, clean, rng, deadline: float) -> np.ndarray | None:
    """Return how loss and error of each column and row change; None if it takes too long."""
    began, n_rows, n_columns, changes = time.process_time(), len(position), X.shape[1], []
    for columns in _batches(n_columns, n_rows):
        probability = model.predict_proba(_shuffled(X, columns, rng))
        scores = _score(probability, np.tile(position, len(columns)))
        changes.append(scores.reshape(2, len(columns), n_rows) - clean[:, None])
        seconds = time.process_time() - began
        if began + seconds * n_columns / columns.stop > deadline:
            return None
    return np.concatenate(changes, axis=1)


def _sample(model, X, y: np.ndarray, max_rows: int, rng) -> tuple[Any, np.ndarray]:
    """Return some rows, and their classes as positions in the classes of the model."""
    place = {label: i for i, label in enumerate(np.asarray(model.classes_).tolist())}
    known = np.flatnonzero([label in place for label in y.tolist()])
    rows = known
    if len(known) > max_rows:
        rows = np.sort(rng.choice(known, max_rows, replace=False))
    X = X.iloc[rows].reset_index(drop=True) if hasattr(X, "iloc") else np.asarray(X)[rows]
    return X, np.array([place[label] for label in y[rows].tolist()], dtype=int)


def _batches(n_columns: int, n_rows: int) -> Iterator[range]:
    size = max(1, ROWS_PER_PREDICTION // n_rows)
    for start in range(0, n_columns, size):
        yield range(start, min(start + size, n_columns))


def _shuffled(X, columns: range, rng) -> Any:
    """Return one copy of the rows for each of these columns, which is shuffled in it."""
    n_rows = len(X)
    rows = np.tile(np.arange(n_rows), len(columns))
    many = X.iloc[rows].reset_index(drop=True) if hasattr(X, "iloc") else X[rows]
    for block, j in enumerate(columns):
        order, here = rng.permutation(n_rows), slice(block * n_rows, (block + 1) * n_rows)
        if hasattr(X, "iloc"):
            many.iloc[here, j] = X.iloc[order, j].array
        else:
            many[here, j] = X[order, j]
    return many


def _score(probability: np.ndarray, position: np.ndarray) -> np.ndarray:
    """Return the log loss of each row, and 1 where the most probable class is wrong."""
    right = probability[np.arange(len(position)), position]
    wrong = probability.argmax(axis=1) != position
    return np.stack([-np.log(np.clip(right, MIN_PROBABILITY, 1)), wrong])


def _means(rounds: list[np.ndarray]) -> list[Importance]:
    loss, wrong = np.mean(rounds, axis=0)  # for each column and row
    n_rows = loss.shape[1]
    deviation = loss.std(axis=1, ddof=1) / np.sqrt(n_rows)
    found = [
        Importance(j, float(loss[j].mean()), float(wrong[j].mean()), float(deviation[j]))
        for j in range(len(loss))
    ]
    return sorted(found, key=lambda one: -one.log_loss)
