"""The label that stands for rejected rows, and decisions that a refusal is one of."""

from __future__ import annotations

import numpy as np

from .._losses import least_costly


def choose_reject_label(label, classes):
    """Return the label of rejected rows: resolve "auto", and refuse labels that are classes."""
    classes = np.asarray(classes).tolist()
    if isinstance(label, str) and label == "auto":
        if all(isinstance(c, str) for c in classes):
            label = "reject"
        elif -1 in classes:
            label = min(classes) - 1
        else:
            label = -1
    if label in classes:
        raise ValueError(
            f"{label!r} is a class, so it cannot mark rejected rows. Choose a reject_label "
            f"that is not one of the classes {classes[:5]}{' ...' if len(classes) > 5 else ''}."
        )
    return label


def mark_rejected(labels, rejected, label) -> np.ndarray:
    """Replace the labels of rejected rows, in a dtype that holds both kinds of label."""
    labels, mark = np.asarray(labels), np.asarray(label)
    both_or_neither_numeric = (labels.dtype.kind in "biuf") == (mark.dtype.kind in "biuf")
    dtype = np.result_type(labels, mark) if both_or_neither_numeric else object
    labels = labels.astype(dtype)
    labels[rejected] = label
    return labels


def decide(probabilities: np.ndarray, loss, classes, label) -> np.ndarray:
    """Return the labels of least expected cost; the last column of the loss is a refusal."""
    chosen = least_costly(probabilities, loss, refusal=True)
    refused = chosen == len(classes)
    labels = classes[np.where(refused, 0, chosen)]
    return mark_rejected(labels, refused, label) if refused.any() else labels
