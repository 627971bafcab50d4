"""The scale of the prior, chosen by the evidence between sweeps."""

from __future__ import annotations

import numpy as np

from .belief import Belief, independent


class PriorScale:
    """Prior variances that are known up to a factor, which the evidence chooses.

    Parameters
    ----------
    unit : array of shape (n_features,)
        The variances for a factor of one.
    noise : float
        Variance of the noise on outputs.
    intercept : float
        Prior variance of an intercept, in units of noise plus prior output variance; 0 if
        there is no intercept.
    n_outputs : int
        Number of outputs. Each has its own weights.

    Notes
    -----
    Where the evidence is largest, MacKay's rule holds: the sum of w_j^2 / unit_j is the factor
    times the number of weights that the data determine, sum_j (1 - variance_j / prior
    variance_j). Iterating the rule converges slowly. So it is read as one equation in the
    logarithm of the factor and solved by secants, one step between two sweeps. If the labels
    can be separated, the evidence is flat for large factors; a few imagined weights with a
    factor of one, and a limited range, keep the factor finite.
    """

    # Number of imagined weights.
    IMAGINED_WEIGHTS = 2.0
    # The smallest slope that a secant step divides by.
    MIN_SLOPE = 0.05
    # The longest step, and the range, of the logarithm of the factor.
    MAX_LOG_STEP = np.log(10.0)
    LOG_FACTOR_RANGE = np.log([1e-4, 1e2])

    def __init__(self, unit: np.ndarray, noise: float, intercept: float, n_outputs: int):
        self.unit = unit
        self.n_outputs = n_outputs
        self.noise = noise
        self.intercept = intercept
        self.log_factor = 0.0
        self._before: tuple[float, float] | None = None

    def prior(self, full: bool) -> Belief:
        """Return the prior, with a full or a diagonal precision."""
        return independent(np.tile(self.variances(), self.n_outputs), full)

    def variances(self) -> np.ndarray:
        """Return the prior variance of each weight of an output, the intercept last."""
        factor = np.exp(self.log_factor) * (self.noise or 1.0)
        variances = factor * self.unit
        if not self.intercept:
            return variances
        return np.append(variances, self.intercept * (self.noise + factor))

    def restart(self) -> None:
        """Forget the last step, before sweeps over other rows begin."""
        self._before = None

    def correction(self, belief: Belief) -> float:
        """Return by how much MacKay's rule would change the logarithm of the factor."""
        n = len(self.unit)
        prior = self.variances()[:n]
        mean, variances = (
            values.reshape(self.n_outputs, -1)[:, :n]
            for values in (belief.mean(), belief.variances())
        )
        determined = np.sum(1 - variances / prior)
        squares = np.sum(mean**2 / prior) * np.exp(self.log_factor)
        imagined = self.IMAGINED_WEIGHTS
        wanted = np.log((squares + imagined) / (max(determined, 0.0) + imagined))
        return float(np.clip(wanted, *self.LOG_FACTOR_RANGE) - self.log_factor)

    def step(self, correction: float) -> None:
        """Step towards the factor whose correction is zero."""
        step = correction
        if self._before is not None:
            place, correction_there = self._before
            slope = (correction - correction_there) / (self.log_factor - place or 1.0)
            if slope < 0:
                step = correction / np.clip(-slope, self.MIN_SLOPE, 1.0)
        self._before = self.log_factor, correction
        self.go_to(self.log_factor + step)

    def go_to(self, log_factor: float) -> None:
        """Go to a factor, but not farther than one step and not out of the range."""
        step = np.clip(log_factor - self.log_factor, -self.MAX_LOG_STEP, self.MAX_LOG_STEP)
        self.log_factor = float(np.clip(self.log_factor + step, *self.LOG_FACTOR_RANGE))
