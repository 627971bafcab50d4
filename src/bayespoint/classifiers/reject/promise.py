"""What can be promised about accepted rows, and how a promise is tested."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import bdtr, rel_entr

__all__ = ["Promise"]


@dataclass(frozen=True)
class Promise:
    """The mean loss of some accepted rows is at most a limit.

    Parameters
    ----------
    name : str
        What the loss is, for people.
    limit : float
        The promised mean, between 0 and 1.
    loss : ndarray of shape (n_rows,)
        The loss of each row, from 0 to 1: whether its answer is wrong, or a cost.
    counted : ndarray of bool of shape (n_rows,)
        Rows that the mean is taken over: all, or those of a class.
    """

    name: str
    limit: float
    loss: np.ndarray
    counted: np.ndarray

    def of(self, rows: np.ndarray) -> Promise:
        """Return the promise for some rows."""
        return Promise(self.name, self.limit, self.loss[rows], self.counted[rows])

    def p_values(self, order: np.ndarray, accepted: np.ndarray) -> np.ndarray:
        """Return, for each number of accepted rows, the p-value of a mean above the limit.

        Parameters
        ----------
        order : ndarray of int
            Rows, from the most certain one on.
        accepted : ndarray of int
            How many of them are accepted.
        """
        counts = np.append(0, np.cumsum(self.counted[order]))[accepted]
        losses = np.append(0, np.cumsum((self.loss * self.counted)[order]))[accepted]
        total = np.maximum(counts, 1)
        if np.isin(self.loss, (0, 1)).all():
            p = bdtr(losses, total, self.limit)
        else:
            p = _bounded_p_value(losses, total, self.limit)
        return np.where(counts > 0, p, 1.0)


def _bounded_p_value(losses: np.ndarray, total: np.ndarray, limit: float) -> np.ndarray:
    """Return p-values for losses between 0 and 1: the smaller of Hoeffding's and Bentkus'."""
    mean = np.minimum(losses / total, limit)
    distance = rel_entr(mean, limit) + rel_entr(1 - mean, 1 - limit)
    # A sum of decimals may be above a whole number by rounding, but never below it.
    bentkus = np.e * bdtr(np.ceil(losses), total, limit)
    return np.minimum(np.minimum(np.exp(-total * distance), bentkus), 1.0)
