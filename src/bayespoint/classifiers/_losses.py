"""Decisions of least expected cost, from probabilities or votes of the classes."""

from __future__ import annotations

import numpy as np


def least_costly(probabilities: np.ndarray, loss, *, refusal: bool = False) -> np.ndarray:
    """Return the decision with the smallest expected cost for each row (000, eq. 7).

    Parameters
    ----------
    probabilities : ndarray of shape (n_rows, n_classes)
        How probable each class is, or the votes for it.
    loss : array-like of shape (n_classes, n_decisions)
        Costs, with the true class in rows and the decision in columns.
    refusal : bool, default=False
        Whether there is one more decision than classes: the last column is the cost of a refusal.

    Returns
    -------
    ndarray of int of shape (n_rows,)
        Columns of the loss; the first of those that cost the same.
    """
    n_classes = probabilities.shape[1]
    return np.argmin(probabilities @ check_loss(loss, n_classes, n_classes + refusal), axis=1)


def check_loss(loss, n_classes: int, n_decisions: int, name: str = "loss") -> np.ndarray:
    """Return costs as an array; raise an error if they have another shape or are not finite."""
    loss = np.asarray(loss, dtype=float)
    if loss.shape != (n_classes, n_decisions):
        last = ", the last one for a refusal" if n_decisions > n_classes else ""
        raise ValueError(
            f"{name} should have a row for each true class and a column for each decision{last}, "
            f"shape {(n_classes, n_decisions)}, but has shape {loss.shape}."
        )
    if not np.isfinite(loss).all():
        raise ValueError(f"{name} should hold finite costs, but some are NaN or infinite.")
    return loss
