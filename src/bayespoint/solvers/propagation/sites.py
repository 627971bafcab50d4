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


class Copies(NamedTuple):
    """How often each row counts, and the variance of the noise that each copy has for itself.

    A row of weight w stands for w copies with one output f. Softness gives each copy its own
    noise. With the same site on each copy, the mean of the copies has w times this site and
    one w-th of the noise: rows of a Gram matrix stand for these means.
    """

    weight: np.ndarray
    noise: np.ndarray

    def of_rows(self, sites: Sites) -> Sites:
        """Return the sites of whole rows from the sites of single copies."""
        return Sites(self.weight * sites.precision, self.weight * sites.shift)

    def prior_variance(self, of_rows: np.ndarray) -> np.ndarray:
        """Return the prior variances of single copies from those of the means of copies."""
        return of_rows + self.noise * (1 - 1 / self.weight)

    def cavities(self, sites: Sites, mean: np.ndarray, variance: np.ndarray):
        """Return mean and variance of the cavities of one copy, from those of whole rows.

        The other copies stay in. Of a weight below one, nothing stays in. Variances are not
        positive where there is no cavity.
        """
        rest = np.maximum(self.weight - 1, 0.0) / (1 + sites.precision * self.noise)
        variance = np.maximum(variance - self.noise / self.weight, 0.0)  # of f, without noise
        share = 1 + rest * sites.precision * variance
        return (mean + rest * sites.shift * variance) / share, variance / share + self.noise


def copies_of(weight: np.ndarray | None, own_noise: float) -> Copies | None:
    """Return the copies of rows of unit variance, this share of it noise of each copy."""
    return None if weight is None else Copies(weight, np.full(len(weight), own_noise))


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
