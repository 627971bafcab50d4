"""Sites: the Gaussian factors that stand for the likelihoods of the training points."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import special

# Multiply the damping by this when updates oscillate.
OSCILLATION_DAMPING = 0.8
_LOG_SQRT_2PI = 0.5 * np.log(2 * np.pi)


class Sites(NamedTuple):
    """One Gaussian factor exp(shift f - precision f^2 / 2) for each training point."""

    precision: np.ndarray
    shift: np.ndarray

    def moved(self, target: Sites, damping: float) -> Sites:
        """Return sites that are moved this share of the way to the target."""
        return Sites(*(a + damping * (b - a) for a, b in zip(self, target, strict=True)))


def likelihood(signs, mean, variance, noise):
    """Return log Z of cavities, a = d log Z / dM, V b = -V d^2 log Z / dM^2, and the cavity."""
    deviation = np.sqrt(variance)
    z = signs * mean / deviation
    log_step = special.log_ndtr(z)
    if noise:
        log_z = np.log(noise + (1 - 2 * noise) * np.exp(log_step))
        slope = (1 - 2 * noise) * np.exp(-0.5 * z * z - _LOG_SQRT_2PI - log_z)
    else:
        log_z = log_step
        slope = np.exp(-0.5 * z * z - _LOG_SQRT_2PI - log_z)
    return log_z, signs * slope / deviation, slope * (slope + z), mean, variance


def match_moments(log_z, a, vb, mean, variance) -> Sites:
    """Return the sites that match the moments of cavity times likelihood."""
    # Far on the wrong side of a step, vb is 1 up to rounding.
    left = np.maximum(1 - vb, np.finfo(float).eps)
    return Sites(vb / (variance * left), (a + mean * vb / variance) / left)
