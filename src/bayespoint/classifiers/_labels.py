"""Class labels: checked, numbered, coded as +1 and -1, and back."""

from __future__ import annotations

import numpy as np
from sklearn.utils.multiclass import check_classification_targets


def number_classes(y, announced=()) -> tuple[np.ndarray, np.ndarray]:
    """Return the classes in y, and the number of the class of each label.

    If classes are announced, they are all that y may have.
    """
    check_classification_targets(y)
    if not len(announced):
        classes, target = np.unique(y, return_inverse=True)
        require_two_classes(classes)
        return classes, target
    classes = np.unique(announced)
    require_known(y, classes)
    require_two_classes(classes)
    return classes, np.searchsorted(classes, y)


def require_known(y: np.ndarray, classes: np.ndarray) -> None:
    """Raise an error for labels of other classes."""
    if len(unknown := np.setdiff1d(y, classes)):
        raise ValueError(
            f"y should hold the classes {classes}, but holds {unknown}. Announce new classes with "
            f"classes={unknown.tolist()}."
        )


def require_labels(y) -> None:
    """Raise an error if texts in y are missing: pandas' NA and None cannot be compared."""
    values = np.asarray(y) if y is not None else np.empty(0)
    if values.dtype != object or values.ndim != 1:
        return  # numbers are checked by scikit-learn
    missing = np.array([_is_missing(label) for label in values], dtype=bool)
    if missing.any():
        raise ValueError(
            f"y should hold a class for every row, but it is missing in {missing.sum()} of "
            f"{len(values)} rows (the first is row {int(missing.argmax())}, counted from 0). Leave "
            "these rows out."
        )


def _is_missing(label) -> bool:
    try:
        return label is None or bool(label != label)
    except TypeError:  # pandas' NA is neither true nor false
        return True
    except ValueError:  # an array, which scikit-learn refuses
        return False


def require_two_classes(classes: np.ndarray) -> None:
    """Raise an error unless there are at least two classes to tell apart."""
    if len(classes) < 2:
        found = f"one class: {classes[0]!r}" if len(classes) else "no class"
        raise ValueError(f"y should hold at least two classes to tell apart, but holds {found}.")


def one_against_rest(target: np.ndarray, n_classes: int, dtype=np.int8) -> np.ndarray:
    """Return labels +1 and -1, one row for each output.

    Two classes need one output, which is positive for the second class. More classes need one
    output each.
    """
    outputs = [1] if n_classes == 2 else range(n_classes)
    return np.array([np.where(target == c, 1, -1) for c in outputs], dtype=dtype)


def winning_class(outputs: np.ndarray) -> np.ndarray:
    """Return the number of the class with the largest output, along the last axis.

    A single output stands for two classes: positive means the second.
    """
    if outputs.shape[-1] == 1:
        return (outputs[..., 0] > 0).astype(int)
    return np.argmax(outputs, axis=-1)


def drop_single_output(outputs: np.ndarray) -> np.ndarray:
    """Drop the last axis if it holds one output, as scikit-learn does for two classes."""
    return outputs[..., 0] if outputs.shape[-1] == 1 else outputs
