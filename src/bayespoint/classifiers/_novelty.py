"""Novelty of rows for a kernel machine, from a sample of its training points."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..fitting.novelty import MAX_KNOWN_POINTS, KnownPoints, Surroundings, learn_surroundings
from ..fitting.sampling import sample_each_class
from ..fitting.task import Answer, Task
from ..geometry.points import canonical
from ._predictions import PredictionMixin

# What was computed from the points of a model, which neither pickles nor model files hold.
_LEARNED: WeakKeyDictionary[Any, tuple[dict, Surroundings]] = WeakKeyDictionary()


class NoveltyMixin(PredictionMixin):
    """Tell which rows are unlike the training rows."""

    _known_points: dict[str, Any]  # see `remember_points`
    softness_: float

    def novelty(self, X):
        """Return how unlike the training rows each row is.

        0.95 means: stranger than 95 % of the training rows, each compared with all others.
        Rows that are stranger than all of them come closer to 1 the stranger they are. A
        probability cannot say this: far from all training rows it may be close to 1.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Points.

        Returns
        -------
        ndarray of shape (n_samples,)
            Numbers in [0, 1].

        Notes
        -----
        The strangeness of a row is the posterior variance of its output over the prior variance,
        given the rows of one class alone; the class that explains it best counts. A left-out
        training row has the same in closed form. Kernel, widths and softness are those of the
        fit, so columns that do not matter for the classes matter less here, too. A missing value
        counts as the median of its column, and a new category as none of the known ones. Of more
        than 1000 training points, a sample of 1000 is compared. The first call takes O(n^3) for
        the n points of a class, and every row O(n^2). docs/notes/novelty.md has measurements.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from bayespoint import BayesPointClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> model = BayesPointClassifier(random_state=0).fit(X, y)
        >>> (model.novelty([[5.0, 3.4, 1.5, 0.2], [9.0, 9.0, 9.0, 9.0]]) > 0.95).tolist()
        [False, True]
        """
        check_is_fitted(self)
        surroundings = _surroundings_of(self)
        return surroundings.novelty(canonical(self._read_points(X)))


def remember_points(model, task: Task, answer: Answer) -> None:
    """Keep a sample of the training points for `novelty`: their places among support vectors.

    Where not all of them are support vectors, the points themselves are kept.
    """
    if task.kernel.name == "precomputed":
        return
    points = answer.rows[sample_each_class(task.target[answer.rows], MAX_KNOWN_POINTS)]
    carriers = answer.rows if answer.carriers is None else answer.carriers
    places = vectors = None
    if model.support_vectors_.shape[0] == len(carriers):
        order = np.argsort(carriers)
        at = np.minimum(np.searchsorted(carriers, points, sorter=order), len(carriers) - 1)
        found = order[at]
        places = found if np.array_equal(carriers[found], points) else None
    if places is None:
        vectors = task.X[points]
    model._known_points = {
        "places": places,
        "vectors": vectors,
        "target": task.target[points],
        "weight": None if task.weight is None else task.weight[points],
    }


def _surroundings_of(model: NoveltyMixin) -> Surroundings:
    """Return what the training points determine, computed once for each fit."""
    known = model.__dict__.get("_known_points")
    if known is None:
        raise ValueError(_why_unknown(model))
    cached = _LEARNED.get(model)
    if cached is None or cached[0] is not known:
        vectors, places = known["vectors"], known["places"]
        points = model.support_vectors_[places] if vectors is None else vectors
        target, weight = known["target"], known["weight"]
        weight = np.ones(len(target)) if weight is None else weight
        found = KnownPoints(points, target, weight)
        cached = known, learn_surroundings(model._fitted_kernel(), found, model.softness_)
        _LEARNED[model] = cached
    return cached[1]


def _why_unknown(model: NoveltyMixin) -> str:
    if model.kernel == "precomputed":
        return (
            "novelty needs the kernel between training points, but a model with a precomputed "
            "kernel does not keep it. Pass the kernel as a function."
        )
    if "compaction_" in model.__dict__:
        return (
            "novelty compares rows with training points, but a compact model does not keep them. "
            "Ask the model that compact was called on."
        )
    return (
        "novelty compares rows with training points, but this model does not keep them: it was "
        "trained by an earlier version of bayespoint, or on a cluster. Train it again with fit."
    )
