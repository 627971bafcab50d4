"""Sums that do not depend on the order of numbers, nor on how they are divided into parts."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

# Numbers up to one in size are split into a multiple of this and a small rest. Sums of the first
# are exact for up to 2^27 numbers; rounding of the second is far below the last digit of the sum.
GRAIN = 2.0**-26


def coarse_and_fine(values: np.ndarray, weight: np.ndarray | None = None) -> np.ndarray:
    """Return two sums over the first axis, of about one in size each times the number of rows.

    Weights are exact if they are whole numbers.
    """
    coarse = np.rint(values / GRAIN) * GRAIN
    fine = values - coarse
    if weight is None:
        return np.stack([coarse.sum(axis=0), fine.sum(axis=0)])
    return np.stack([weight @ coarse, weight @ fine])


def total(parts: Iterable[np.ndarray]) -> np.ndarray:
    """Return the sum of parts, each as `coarse_and_fine` returns it."""
    coarse, fine = np.sum(list(parts), axis=0)
    return coarse + fine
