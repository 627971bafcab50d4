"""When to choose kernel parameters anew, as rows come and go."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

# Parameters are chosen anew when there are this many times the rows of the last choice.
GROWTH = 1.5
# Rows that a choice needs at least to be worth its time.
MIN_NEW_ROWS = 5
# They are also chosen anew when left-out labels have become less probable than at the last choice
# by this many standard errors, and there are at least so many times the rows.
WORSE_BY = 2.0
GROWTH_IF_WORSE = 1.15


class Quality(NamedTuple):
    """How well parameters predict left-out labels."""

    n_rows: int
    n_classes: int  # that have rows
    mean: float  # log probability of a left-out label
    std_error: float


def quality_of(loo_proba: np.ndarray, target) -> Quality:
    """Return how well left-out labels are predicted; rows that were not used are NaN."""
    known = np.isfinite(loo_proba[:, 0])
    log_p = np.log(loo_proba[known, target[known]])
    n = len(log_p)
    spread = float(log_p.std() / np.sqrt(n)) if n > 1 else np.inf
    return Quality(n, len(np.unique(target[known])), float(log_p.mean()), spread)


def is_due(chosen: Quality, now: Quality) -> bool:
    """Tell whether parameters should be chosen anew."""
    if now.n_classes > chosen.n_classes:
        return True
    factor = max(now.n_rows, 1) / max(chosen.n_rows, 1)
    if abs(now.n_rows - chosen.n_rows) < MIN_NEW_ROWS:
        return False
    if factor >= GROWTH or factor <= 1 / GROWTH:
        return True
    worse = chosen.mean - now.mean > WORSE_BY * np.hypot(chosen.std_error, now.std_error)
    return bool(factor >= GROWTH_IF_WORSE and worse)
