"""Training data of the linear classifier, here and on workers of a cluster."""

from __future__ import annotations

import numpy as np
from sklearn.utils import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from .._runtime.sample_weight import check_sample_weight
from ..fitting.weights_fit import Table
from ..geometry.points import canonical
from ._labels import require_labels, require_two_classes


def check_training_data(estimator, X, y, *, reset: bool = True, classes=None) -> tuple:
    """Return validated points, CSR or dense, and labels.

    With `reset`, the estimator learns the number and names of the features. Labels are only
    checked if classes are not given, as they are compared with the classes later.
    """
    require_labels(y)
    X, y = validate_data(estimator, X, y, accept_sparse="csr", dtype=np.float64, reset=reset)
    if reset and classes is None:
        check_classification_targets(y)
    return canonical(X), y


def label_rows(X, y, sample_weight, classes: np.ndarray, class_weight) -> Table:
    """Return the rows with a positive weight, with coded labels and weights.

    Labels become +1 and -1 for two classes, otherwise class numbers.
    """
    require_two_classes(classes)
    target = np.searchsorted(classes, y)
    unknown = classes[np.minimum(target, len(classes) - 1)] != y
    if np.any(unknown):
        raise ValueError(f"y should hold classes {classes}, but holds {np.unique(y[unknown])}.")
    weight = check_sample_weight(sample_weight, X)
    if class_weight is not None:
        weight = weight * compute_class_weight(class_weight, classes=classes, y=y)[target]
        weight = check_sample_weight(weight, X, allow_all_zero=True)
    labels, used = 2.0 * target - 1 if len(classes) == 2 else target, weight > 0
    table = Table(X, labels, weight)
    return table if used.all() else table.take(used)


def require_all_classes(labels: np.ndarray, classes: np.ndarray) -> None:
    """Raise an error if a class has no row with a positive weight."""
    if len(np.unique(labels)) < len(classes):
        raise ValueError("A class of y has no row of positive weight.")
