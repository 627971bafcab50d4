"""A Gaussian belief about weights, by its natural parameters."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from typing import NamedTuple

import numpy as np
from scipy import linalg


class ImproperBeliefError(np.linalg.LinAlgError):
    """The natural parameters do not define a normal distribution."""


class Belief(NamedTuple):
    """The density exp(<shift, w> - <w, precision w> / 2), up to a factor.

    `precision` is a matrix, or its diagonal if weights are independent.
    """

    precision: np.ndarray
    shift: np.ndarray

    @property
    def is_full(self) -> bool:
        """Tell whether weights may be correlated."""
        return self.precision.ndim == 2

    def mean(self) -> np.ndarray:
        """Return the mean of the weights."""
        return self._solve(self.shift) if self.is_full else self.shift / self.precision

    def covariance(self) -> np.ndarray:
        """Return the covariance, or the variances if weights are independent."""
        return self._solve(np.eye(len(self.shift))) if self.is_full else 1 / self.precision

    def variances(self) -> np.ndarray:
        """Return the variance of each weight."""
        covariance = self.covariance()
        return np.diagonal(covariance) if self.is_full else covariance

    def scatter(self, noise: np.ndarray) -> np.ndarray:
        """Give standard normal vectors, one in each row, the covariance of this belief."""
        if self.is_full:
            return linalg.solve_triangular(self.cholesky(), noise.T).T
        return noise / np.sqrt(self.precision)

    def log_integral(self) -> float:
        """Return the logarithm of the integral, up to a constant that the dimension sets."""
        if self.is_full:
            lower = self.cholesky(lower=True)
            half = linalg.solve_triangular(lower, finite(self.shift), lower=True)
            return float(0.5 * half @ half - np.sum(np.log(np.diagonal(lower))))
        return float(0.5 * np.sum(self.shift**2 / self.precision - np.log(self.precision)))

    def times(self, other: Belief) -> Belief:
        """Return the product."""
        return Belief(self.precision + other.precision, self.shift + other.shift)

    def over(self, other: Belief) -> Belief:
        """Return the quotient."""
        return Belief(self.precision - other.precision, self.shift - other.shift)

    def to_the(self, power: float) -> Belief:
        """Return a power."""
        return Belief(power * self.precision, power * self.shift)

    def is_proper(self) -> bool:
        """Tell whether the belief can be normalized."""
        if self.is_full:
            return linalg.lapack.dpotrf(self.precision)[1] == 0
        return bool(np.all(self.precision > 0))

    def nothing(self) -> Belief:
        """Return a belief of the same shape that says nothing: a constant."""
        return Belief(np.zeros_like(self.precision), np.zeros_like(self.shift))

    def moved(self, other: Belief) -> np.ndarray:
        """Return the move from another belief.

        It consists of the moves of the means, in standard deviations, and the relative changes
        of the precisions.
        """
        step = self.mean() - other.mean()
        if self.is_full:
            step = self.cholesky() @ step
            mine, theirs = np.diagonal(self.precision), np.diagonal(other.precision)
        else:
            step *= np.sqrt(self.precision)
            mine, theirs = self.precision, other.precision
        return np.append(step, 1 - theirs / mine)

    def distance(self, other: Belief) -> float:
        """Return the size of the move from another belief."""
        return move_size(self.moved(other))

    def cholesky(self, lower: bool = False) -> np.ndarray:
        """Return the Cholesky factor of a full precision."""
        try:
            # The factor is finite only if the precision is.
            return finite(linalg.cholesky(self.precision, lower=lower, check_finite=False))
        except np.linalg.LinAlgError as error:
            raise ImproperBeliefError(*error.args) from None

    def _solve(self, right: np.ndarray) -> np.ndarray:
        return linalg.cho_solve((self.cholesky(), False), finite(right), check_finite=False)


def finite(values: np.ndarray) -> np.ndarray:
    """Return values of a belief; raise an error if one of them is infinite or NaN."""
    if not np.isfinite(values).all():
        raise ImproperBeliefError("A belief about weights has parameters that are not finite.")
    return values


def move_size(move: np.ndarray) -> float:
    """Return the root mean square of a move; see `Belief.moved`."""
    return float(np.linalg.norm(move) / np.sqrt(len(move) / 2))


def independent(variances: np.ndarray, full: bool) -> Belief:
    """Return a belief about independent weights with mean zero."""
    precision = 1 / variances
    return Belief(np.diag(precision) if full else precision, np.zeros(len(variances)))


def mixed(weights: np.ndarray, beliefs: Iterable[Belief]) -> Belief:
    """Return the product of beliefs, each to the power of its weight."""
    powers = (belief.to_the(weight) for weight, belief in zip(weights, beliefs, strict=True))
    return reduce(Belief.times, powers)
