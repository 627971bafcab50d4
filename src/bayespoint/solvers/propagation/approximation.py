"""The Gaussian posterior of the training outputs that given sites lead to."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..._runtime.lapack import factor_upper, invert_upper
from .sites import Copies, Sites, likelihood

# Below this site precision, 1 - q has too few digits left for (1 - q) / precision.
MIN_PRECISION_TO_DIVIDE_BY = 1e-8
# Reject an inverse if its product with the matrix is further from one than this.
MAX_INVERSE_ERROR = 1e-6
# Up to this mismatch of moments the answer is close to the fixed point. With a larger
# mismatch the evidence can be any number.
MAX_TRUSTED_RESIDUAL = 0.1
# Outputs of an answer that is not close keep at least this share, so that their signs remain.
MIN_TRUST = 1e-3


class Approximation(NamedTuple):
    """A Gaussian posterior of the outputs f at the training points, f ~ N(0, K) a priori.

    Its mean is K @ coef. The cavity of a point is the posterior of its output given all
    other points. With weights, sites and cavities are those of one copy of each row.
    """

    sites: Sites
    coef: np.ndarray  # with weights, sums over the copies
    cavity_mean: np.ndarray
    cavity_variance: np.ndarray
    log_loo: np.ndarray  # log p(y_i | all other labels)
    log_evidence: float  # log p(y)
    residual: float  # largest mismatch of moments, in standard deviations
    n_iter: int
    mismatch: np.ndarray  # (m,), of the moments of each output


class Solved(NamedTuple):
    """The Gaussian posterior that given sites lead to."""

    q: np.ndarray  # diagonal of (I + K S)^-1
    variance: np.ndarray  # of the outputs
    coef: np.ndarray
    log_det: float  # of I + K S


def approximate(
    matrix, signs, noise, sites: Sites, n_iter: int, copies: Copies | None = None
) -> Approximation | None:
    """Return the posterior that the sites give, or None if it is not a distribution."""
    precision, shift = sites if copies is None else copies.of_rows(sites)
    solved = (solve_cholesky if precision.min() >= 0 else solve_lu)(matrix, precision, shift)
    if solved is None:
        return None
    return judge(matrix @ solved.coef, signs, noise, sites, solved, n_iter, copies)


def judge(
    mean, signs, noise, sites: Sites, solved: Solved, n_iter: int, copies: Copies | None = None
) -> Approximation | None:
    """Return cavities, evidence and how well moments match; None without a distribution."""
    precision, shift = sites if copies is None else copies.of_rows(sites)
    q, variance, coef, log_det = solved
    cavity_variance = variance / q
    if not (np.all(q > 0) and np.all(cavity_variance > 0) and np.all(np.isfinite(coef))):
        return None
    cavity_mean = mean - cavity_variance * coef
    of_sites, own_coef = 0.5 * (shift @ mean - log_det), coef
    if copies is not None:
        precision, shift = sites
        cavity_mean, cavity_variance = copies.cavities(sites, cavity_mean, cavity_variance)
        proper = 1 + precision * cavity_variance
        if not (np.all(cavity_variance > 0) and np.all(proper > 0)):
            return None
        q, own_coef = 1 / proper, (shift - precision * cavity_mean) / proper
        # A row has the noise of all its copies, but its mean only counts the noise once.
        of_sites -= 0.5 * (copies.weight - 1) @ np.log1p(precision * copies.noise)
    log_z, a, vb, M, V = likelihood(signs, cavity_mean, cavity_variance, noise)
    # The integral of cavity times site is exp(exponent) sqrt(q).
    exponent = q * (shift**2 * V + 2 * shift * M - precision * M**2) / 2
    constants = log_z - 0.5 * np.log(q) - exponent
    of_points = np.sum(constants) if copies is None else copies.weight @ constants
    mismatch = np.maximum(np.abs(a - own_coef) * np.sqrt(V), np.abs(1 - vb - q))
    return Approximation(
        sites,
        coef,
        M,
        V,
        log_z,
        float(of_points + of_sites),
        float(mismatch.max()),
        n_iter,
        mismatch,
    )


def solve_cholesky(matrix, precision, shift) -> Solved | None:
    """Return q, variances, coefficients and log |I + K S| for precisions >= 0."""
    root = np.sqrt(precision)
    b = np.multiply(matrix, root, order="C")
    b *= root[:, None]
    b.flat[:: len(b) + 1] += 1
    inverse = b.T  # it is symmetric
    if not factor_upper(inverse):
        return None
    log_det = 2 * np.sum(np.log(np.diagonal(inverse)))
    invert_upper(inverse)
    q = np.einsum("ij,ij->i", inverse, inverse)
    coef = shift - root * (inverse @ ((root * (matrix @ shift)) @ inverse))
    variance = (1 - q) / np.maximum(precision, MIN_PRECISION_TO_DIVIDE_BY)
    tiny = np.flatnonzero(precision < MIN_PRECISION_TO_DIVIDE_BY)
    if tiny.size:
        projected = inverse.T @ (root[:, None] * matrix[:, tiny])
        variance[tiny] = np.diagonal(matrix)[tiny] - np.einsum("ij,ij->j", projected, projected)
        q[tiny] = 1 - precision[tiny] * variance[tiny]
    return Solved(q, variance, coef, log_det)


def solve_lu(matrix, precision, shift) -> Solved | None:
    """Do the same as `solve_cholesky` where label noise makes some precisions negative."""
    unit = np.eye(len(matrix))
    a = unit + matrix * precision
    sign, log_det = np.linalg.slogdet(a)
    if sign <= 0:
        return None
    inverse = np.linalg.inv(a)
    if not np.abs(inverse @ a - unit).max() < MAX_INVERSE_ERROR:
        return None
    mean = inverse @ (matrix @ shift)
    variance = np.einsum("ij,ji->i", inverse, matrix)
    return Solved(1 - precision * variance, variance, shift - precision * mean, log_det)


def predict(
    matrix: np.ndarray, found: Approximation, across: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and variance of the outputs at new points.

    Parameters
    ----------
    matrix : array of shape (m, m)
        The Gram matrix of the training points.
    found : Approximation
        The posterior of their outputs.
    across : array of shape (n, m)
        Inner products of new unit points with the training points. For softened training
        points, the variance includes their noise.

    Returns
    -------
    mean, variance : ndarray of shape (n,)
        Phi(mean / sqrt(variance)) is the probability of a positive output.
    """
    precision = found.sites.precision
    known = np.linalg.solve(np.eye(len(matrix)) + matrix * precision, across.T)
    return across @ found.coef, 1 - np.einsum("ij,j,ji->i", across, precision, known)


def trust_in(residual: float) -> float:
    """Return how much of the outputs, in standard deviations, to believe after a mismatch.

    A mismatch of r deviations says that means may be wrong by about as much. Then outputs shrink
    towards zero, and probabilities towards the prior, until the mismatch that is left is trusted.
    """
    if residual <= MAX_TRUSTED_RESIDUAL:
        return 1.0
    share = MAX_TRUSTED_RESIDUAL / residual
    return max(share, MIN_TRUST) if np.isfinite(residual) else MIN_TRUST


def approximation_info(found: Any, stop: str = "") -> dict[str, Any]:
    """Return the info of an approximation for users."""
    close = found.residual <= MAX_TRUSTED_RESIDUAL
    return {
        "angle": 0.0 if close else np.nan,
        "ess": np.inf,
        "mixed": close,
        "n_iter": found.n_iter,
        "residual": found.residual,
        "log_evidence": found.log_evidence if close else np.nan,
        "stop": stop,
    }
