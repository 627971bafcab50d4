"""From any measure of strangeness to a novelty in [0, 1]: a rank among left-out training rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class NoveltyScale(NamedTuple):
    """Strangeness of left-out training rows, and the share of them that is less strange.

    Both increase. Strangeness is a number in [0, 1].
    """

    levels: np.ndarray
    shares: np.ndarray

    def novelty(self, strangeness: np.ndarray) -> np.ndarray:
        """Return the share of training rows that are less strange, interpolated between them.

        Beyond the strangest training row it goes on to 1, which only strangeness 1 reaches.
        """
        levels, shares = self
        inside = (levels > 0) & (levels < 1)
        levels = np.concatenate([[0.0], levels[inside], [1.0]])
        shares = np.concatenate([[0.0], shares[inside], [1.0]])
        return np.interp(strangeness, levels, shares)


def novelty_scale(strangeness: np.ndarray, weight: np.ndarray) -> NoveltyScale:
    """Return the scale of left-out training rows; rows that are equally strange count half."""
    levels, place = np.unique(strangeness, return_inverse=True)
    of_level = np.bincount(place, weights=weight)
    return NoveltyScale(levels, (np.cumsum(of_level) - of_level / 2) / of_level.sum())
