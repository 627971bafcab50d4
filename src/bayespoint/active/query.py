"""Choose the rows of a pool whose labels would teach a classifier most."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral

import numpy as np
from sklearn.utils import check_random_state

from .diverse import spread_out
from .draws import halving, information_gain
from .margin import margin

__all__ = ["METHODS", "query"]

# A batch is chosen among this many times as many of the most useful rows.
CANDIDATES_PER_ROW = 10


def random(model, X, rng) -> np.ndarray:
    """Return random numbers: every row is as useful as any other."""
    return rng.uniform(size=np.shape(X)[0])


METHODS: dict[str, Callable] = {
    "margin": margin,
    "halving": halving,
    "information": information_gain,
    "random": random,
}


def query(model, X_pool, n=1, *, method="margin", random_state=None) -> np.ndarray:
    """Return the rows of a pool to ask about next.

    Parameters
    ----------
    model : classifier
        A fitted classifier: any of scikit-learn's that has `predict_proba` or
        `decision_function`. "halving" and "information" need one of ours that has
        `sample_decision`.
    X_pool : array-like or data frame of shape (n_rows, n_features)
        Rows without labels.
    n : int, default=1
        Number of rows. Several rows are spread out, so that they do not all ask the same thing.
    method : {"margin", "halving", "information", "random"}, default="margin"
        What makes a row useful. "margin": its two most probable classes are almost equally
        probable. "halving": the hypotheses disagree most, so that an answer cuts version space
        in half. "information": the answer says most about other rows (EPIG). "random" for
        comparison. For tables, margin is hard to beat (benchmarks/labels.py).
    random_state : int, RandomState instance or None, default=None
        Seed for "random", for the other rows of "information", and for the batch.

    Returns
    -------
    ndarray of shape (min(n, n_rows),)
        Positions in the pool, the most useful row first.

    References
    ----------
    Tong, Koller (2001), Support Vector Machine Active Learning. Bickford Smith et al. (2023),
    Prediction-Oriented Bayesian Active Learning. Zhdanov (2019), Diverse Mini-batch Active
    Learning.

    Examples
    --------
    >>> from bayespoint import BayesPointClassifier, active
    >>> X, y = [[0.0], [1.0], [4.0], [5.0]], [0, 0, 1, 1]
    >>> model = BayesPointClassifier("rbf", gamma=0.1).fit(X, y)
    >>> active.query(model, [[0.5], [2.4], [9.0]])
    array([1])
    """
    if method not in METHODS:
        raise ValueError(f"method should be one of {sorted(METHODS)}, but is {method!r}.")
    if not isinstance(n, Integral) or n < 1:
        raise ValueError(f"n should be a whole number of rows, at least 1, but is {n!r}.")
    n, rng = int(n), check_random_state(random_state)
    usefulness = METHODS[method](model, X_pool, rng)
    order = np.argsort(-usefulness, kind="stable")
    if n == 1 or n >= len(order) or method == "random":
        return order[:n]
    # Equal rows are equally useful: one of them is enough, if there are others.
    first = order[np.sort(np.unique(usefulness[order], return_index=True)[1])]
    candidates = (first if len(first) >= n else order)[: n * CANDIDATES_PER_ROW]
    return spread_out(X_pool, candidates, n, rng)
