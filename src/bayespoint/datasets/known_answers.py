"""Toy problems whose version space, and so Bayes point, is known."""

from __future__ import annotations

import numpy as np
from sklearn.utils import check_random_state

from ._checks import check_at_least

# Points, labels, and the direction that is the answer.
KnownAnswer = tuple[np.ndarray, np.ndarray, np.ndarray]


def make_wedge(angle: float, n_samples: int = 10, random_state=None) -> KnownAnswer:
    """Make a problem in the plane whose version space is a wedge.

    Parameters
    ----------
    angle : float
        Opening of the wedge in radians, between 0 and pi.
    n_samples : int, default=10
        Number of points, at least 2. Two of them bound the wedge; the other points do not
        cut it.
    random_state : int, RandomState instance or None, default=None
        Seed of the direction of the wedge and of the points.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
        Points.
    y : ndarray of shape (n_samples,)
        Labels, -1 and +1.
    bayes_point : ndarray of shape (2,)
        Bisector of the wedge, of unit length: the Bayes point of a linear kernel without
        intercept.

    Examples
    --------
    >>> X, y, bayes_point = make_wedge(angle=0.5, random_state=0)
    >>> bool((y * (X @ bayes_point)).min() > 0)
    True
    """
    if not 0 < angle < np.pi:
        raise ValueError(f"angle should be between 0 and pi, but is {angle!r}.")
    check_at_least("n_samples", n_samples, 2)
    rng = check_random_state(random_state)
    # A wall that leans by at most this angle does not cut the wedge.
    steepest = (np.pi - angle) / 2
    lean = np.concatenate([[steepest, -steepest], rng.uniform(-steepest, steepest, n_samples - 2)])
    middle = rng.uniform(0, 2 * np.pi)
    walls = np.column_stack([np.cos(middle + lean), np.sin(middle + lean)])
    y = np.where(np.arange(n_samples) % 2, -1, 1)
    X = walls * (y * rng.uniform(0.5, 2.0, n_samples))[:, None]
    return X, y, np.array([np.cos(middle), np.sin(middle)])


def make_orthant(n_features: int) -> KnownAnswer:
    """Make a problem whose version space is the positive orthant.

    Parameters
    ----------
    n_features : int
        Number of features, and of points; at least 2.

    Returns
    -------
    X : ndarray of shape (n_features, n_features)
        Unit vectors of the axes; points of class -1 have the opposite sign.
    y : ndarray of shape (n_features,)
        Labels, alternately +1 and -1.
    bayes_point : ndarray of shape (n_features,)
        The diagonal, of unit length: the Bayes point of a linear kernel without intercept.

    Examples
    --------
    >>> X, y, bayes_point = make_orthant(4)
    >>> bayes_point
    array([0.5, 0.5, 0.5, 0.5])
    """
    check_at_least("n_features", n_features, 2)
    y = np.where(np.arange(n_features) % 2, -1, 1)
    return np.diag(y.astype(float)), y, np.full(n_features, 1 / np.sqrt(n_features))


def make_teacher(n_samples: int, n_features: int, random_state=None) -> KnownAnswer:
    """Make points on the unit sphere, labeled by a random teacher.

    Parameters
    ----------
    n_samples : int
        Number of points, at least 2; both classes occur.
    n_features : int
        Number of features.
    random_state : int, RandomState instance or None, default=None
        Seed of the points and of the teacher.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        Points.
    y : ndarray of shape (n_samples,)
        Labels, -1 and +1.
    teacher : ndarray of shape (n_features,)
        Direction that labels the points, of unit length. Given points and labels it is
        uniform in version space, so the mean of all such teachers is the Bayes point.

    Examples
    --------
    >>> from bayespoint.datasets import make_teacher
    >>> X, y, teacher = make_teacher(100, 5, random_state=0)
    >>> bool((y * (X @ teacher) > 0).all())
    True
    """
    check_at_least("n_samples", n_samples, 2)
    check_at_least("n_features", n_features, 1)
    rng = check_random_state(random_state)
    while True:
        X = rng.standard_normal((n_samples, n_features))
        X /= np.linalg.norm(X, axis=1, keepdims=True)
        teacher = rng.standard_normal(n_features)
        y = np.where(X @ teacher > 0, 1, -1)
        if abs(y.sum()) < n_samples:
            return X, y, teacher / np.linalg.norm(teacher)
