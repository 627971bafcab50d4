"""The error of a mean direction, estimated from independent stretches."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Precision(NamedTuple):
    """The error of a mean, estimated from independent stretches of trajectory.

    Examples
    --------
    >>> import numpy as np
    >>> from bayespoint.diagnostics import precision
    >>> found = precision(np.ones((4, 2, 3)) / np.sqrt(3), np.ones((4, 2)))  # all stretches agree
    >>> found.angle
    0.0
    """

    angle: float  # estimated angle between sampled and true Bayes point, radians
    ess: float  # independent draws that would give the same error
    r_hat: float  # total spread over the spread within a stretch; 1 when mixed


def precision(integrals: np.ndarray, times: np.ndarray) -> Precision:
    """Estimate the error of a mean direction from chains and from batch means.

    Parameters
    ----------
    integrals : array of shape (n_chains, n_batches, n_dimensions)
        Integral of the position over each stretch of each chain.
    times : array of shape (n_chains, n_batches)
        Lengths of the stretches.

    Notes
    -----
    The variance of the mean is estimated twice: from the chains, which are independent,
    and from the halves of the chains, which also show a common drift. The larger one
    counts. As hypotheses have unit length, the variance of a single one is 1 - |mean|^2 in
    any dimension.

    Examples
    --------
    >>> import numpy as np
    >>> from bayespoint.diagnostics import precision
    >>> rng = np.random.default_rng(0)
    >>> means = [0.6, 0.0, 0.0] + 0.01 * rng.standard_normal((8, 10, 3))  # 8 chains of 10 batches
    >>> found = precision(means, np.ones((8, 10)))
    >>> found.angle < 0.01
    True
    """
    chains = _Stretches(integrals.sum(axis=1), times.sum(axis=1))
    halves = _halves(integrals, times) if times.shape[1] > 1 else chains
    across, total = np.maximum(chains.variance_of_mean(), halves.variance_of_mean())
    resultant = float(np.linalg.norm(chains.mean))
    spread = max(1.0 - resultant**2, 0.0)
    within = max(1.0 - float(np.mean(halves.squared_lengths)), 0.0)
    between = halves.variance_between()
    return Precision(
        angle=float(np.arctan2(np.sqrt(across), resultant)),
        ess=float(spread / total) if total > 0 else np.inf,
        r_hat=float(np.sqrt(1.0 + between / within)) if within > 0 else 1.0,
    )


def _halves(integrals: np.ndarray, times: np.ndarray) -> _Stretches:
    """Cut every chain in two parts of about equal length."""
    reached = np.cumsum(times.mean(axis=0))
    middle = 1 + int(np.argmin(np.abs(reached[:-1] - reached[-1] / 2)))
    parts = [slice(None, middle), slice(middle, None)]
    return _Stretches(
        np.concatenate([integrals[:, part].sum(axis=1) for part in parts]),
        np.concatenate([times[:, part].sum(axis=1) for part in parts]),
    )


class _Stretches:
    """Means of stretches of trajectory, weighted by their lengths."""

    def __init__(self, integrals: np.ndarray, times: np.ndarray):
        self.means = integrals / times[:, None]
        self.share = times / times.sum()
        self.mean = self.share @ self.means
        self.squared_lengths = np.einsum("ij,ij->i", self.means, self.means)

    def variance_of_mean(self) -> np.ndarray:
        """Return the variance of the mean across its direction, and in all directions."""
        n = len(self.share)
        if n < 2:
            return np.array([np.inf, np.inf])
        off = self.means - self.mean
        squared = np.einsum("ij,ij->i", off, off)
        length = np.linalg.norm(self.mean)
        along = off @ self.mean / length if length > 0 else np.zeros(n)
        across = np.maximum(squared - along**2, 0.0)
        return np.array([self.share**2 @ across, self.share**2 @ squared]) * n / (n - 1)

    def variance_between(self) -> float:
        """Return the variance of the means of the stretches."""
        off = self.means - self.mean
        return float(np.sum(off**2) / max(len(self.share) - 1, 1))
