"""Columns that share a unit: how to undo the standardization of pixels, spectra and sensors."""

from __future__ import annotations

import numpy as np

from ..geometry.columns import Columns
from .pair_score import DIGITS

# Columns may share a unit if there are at least so many of them, and at least this share of them
# has at least this part of the largest deviation. `choose_mixture` decides.
MIN_COLUMNS = 16
SHARE_OF_COLUMNS, PART_OF_LARGEST = 0.25, 0.5
# If all have at least this part of it, standardizing them changes little.
PART_OF_ALIKE = 0.8


def shared_unit_scales(columns: Columns) -> np.ndarray | None:
    """Return scales of features, mean one, that give columns back their spread.

    A pixel at the edge of an image is nearly always white. Standardized, it weighs as much as a
    pixel in the middle. None if the columns cannot have a unit in common, or are standardized.
    """
    spread = columns.scale
    if not columns.is_number.all() or columns.missing.any():
        return None
    varies = np.isfinite(spread)
    if varies.sum() < MIN_COLUMNS:
        return None
    logs = np.log(spread[varies] / spread[varies].max()).round(DIGITS)
    is_wide = logs >= np.log(PART_OF_LARGEST)
    if is_wide.mean() < SHARE_OF_COLUMNS or logs.min() >= np.log(PART_OF_ALIKE):
        return None
    scales = np.zeros(len(spread))
    scales[varies] = np.exp(logs) / np.exp(logs).mean()
    return scales
