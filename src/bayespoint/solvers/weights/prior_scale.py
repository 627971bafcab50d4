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
    variance_j). The intercept counts by how much its prior variance depends on the factor.
    Iterating the rule converges slowly. So it is read as one equation in the
    logarithm of the factor and solved by secants, one step between two sweeps. If the labels
    can be separated, the evidence is flat for large factors, and if they are random, for small
    ones. So the factor f has a weak prior, f^(n/2) / (1 + f)^n for n imagined weights, which
    moves it by less than n/2 nats per factor e, and a limited range.
    """

    # Number of imagined weights.
    IMAGINED_WEIGHTS = 0.1
    # The smallest slope that a secant step divides by.
    MIN_SLOPE = 0.05
    # The longest step, and the range, of the logarithm of the factor.
    MAX_LOG_STEP = np.log(10.0)
    LOG_FACTOR_RANGE = np.log([1e-6, 1e4])

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
        n, factor = len(self.unit), np.exp(self.log_factor)
        prior = self.variances()
        mean, variances = (
            values.reshape(self.n_outputs, -1) for values in (belief.mean(), belief.variances())
        )
        # Derivatives of the logarithms of prior variances.
        follow = np.where(np.arange(len(prior)) < n, 1.0, factor / (1 + factor))
        determined = np.sum(follow * (1 - variances / prior))
        squares = np.sum(follow * mean**2 / prior)
        more, less = self.IMAGINED_WEIGHTS * np.array([1.0, factor]) / (1 + factor)
        step = np.log((squares + more) / (max(determined, 0.0) + less))
        return float(np.clip(self.log_factor + step, *self.LOG_FACTOR_RANGE) - self.log_factor)

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
