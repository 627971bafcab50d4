"""From held-out rows to the threshold of a reject option."""

from __future__ import annotations

import math

import numpy as np

from ..._runtime.warn import warn
from .novelty import was_familiar
from .thresholds import certified_threshold, reject_threshold, why_nothing_is_certified


def set_threshold(option) -> None:
    """Set the threshold of a reject option, and what follows from it.

    Held-out rows that are refused for their novelty are accepted by no threshold. So promises
    come from the other rows, and a share of refused rows counts the novel rows first.
    """
    confidence, familiar = option.calibration_confidence_, was_familiar(option)
    option.threshold_ = -math.inf
    option.certified_error_ = math.nan
    if option.reject_rate is not None:
        lowest = np.where(familiar, confidence, -math.inf)
        option.threshold_ = reject_threshold(lowest, option.reject_rate)
    elif option.max_error is not None:
        option.threshold_ = _certified(option, familiar)
        if option.threshold_ < math.inf:
            option.certified_error_ = float(option.max_error)
    option.coverage_ = float(np.mean((confidence >= option.threshold_) & familiar))


def _certified(option, familiar: np.ndarray) -> float:
    """Return the threshold that is certified by familiar rows; warn if there is none."""
    wanted, n_rows = (option.max_error, option.confidence_level), int(familiar.sum())
    threshold = math.inf
    if n_rows:
        confidence = option.calibration_confidence_[familiar]
        threshold = certified_threshold(confidence, option.calibration_correct_[familiar], *wanted)
    if threshold == math.inf:
        warn(why_nothing_is_certified(n_rows, *wanted))
    return threshold
