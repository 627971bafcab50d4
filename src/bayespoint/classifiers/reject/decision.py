"""Answer with the class whose expected cost is smallest."""

from __future__ import annotations

import numpy as np

from .._losses import check_loss, least_costly


def decide(probability: np.ndarray, costs=None) -> np.ndarray:
    """Return the position of the answer for each row.

    Parameters
    ----------
    probability : ndarray of shape (n_rows, n_classes)
        Probabilities of the classes.
    costs : array-like of shape (n_classes, n_classes), default=None
        The cost of each answer (column) for each true class (row). None counts errors: the
        answer is the most probable class.

    Returns
    -------
    ndarray of shape (n_rows,)

    Examples
    --------
    >>> import numpy as np
    >>> from bayespoint.classifiers.reject.decision import decide
    >>> decide(np.array([[0.8, 0.2], [0.9, 0.1]]), [[0, 1], [5, 0]]).tolist()
    [1, 0]
    """
    return probability.argmax(axis=1) if costs is None else least_costly(probability, costs)


def probability_of(probability: np.ndarray, answer: np.ndarray) -> np.ndarray:
    """Return each row's probability of its answer."""
    return probability[np.arange(len(answer)), answer]


def answers(classifier, X, costs=None) -> np.ndarray:
    """Return the label of each answer; without costs, the classifier's own prediction."""
    if costs is None:
        return classifier.predict(X)
    return classifier.classes_[decide(classifier.predict_proba(X), costs)]


def check_costs(costs, classifier) -> None:
    """Refuse costs that do not fit to the classes of a fitted classifier."""
    if costs is None:
        return
    if not hasattr(classifier, "predict_proba"):
        raise TypeError(
            "costs need a classifier with probabilities (predict_proba), but "
            f"{type(classifier).__name__} has none."
        )
    check_loss(costs, len(classifier.classes_), len(classifier.classes_), "costs")
