"""PAC-Bayes: a certificate for random classifiers around the fitted one, and for itself."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import ndtr, xlogy
from sklearn.svm import SVC, NuSVC

from ..geometry.kernels import GAMMA_KERNELS
from ._checks import at_least, at_risk, count, share, vector
from .hyperplane import normalized_margins

# Try this many lengths of the mean before the best one is refined.
_N_LENGTHS_TRIED = 100
# After this many halvings, the ends of an interval are neighbors in double precision.
_HALVINGS = 60


class Certificate(NamedTuple):
    """Upper limits of errors that hold together with the stated confidence."""

    gibbs: float  # of a random classifier, drawn again for each point
    mean: float  # of the classifier itself
    confidence: float
    training_gibbs: float  # of a random classifier, on the training points
    mu: float  # distance of random classifiers from zero, in standard deviations
    divergence: float  # KL of their distribution to the prior, in nats


def pac_bayes_certificate(
    model,
    X,
    y,
    *,
    confidence: float = 0.95,
    n_tuned: float | None = None,
    intercept_scaling: float = 1.0,
) -> Certificate:
    """Return a certificate of the error of a fitted classifier from its training data.

    Parameters
    ----------
    model : classifier
        Fitted to two classes; any that `normalized_margins` takes.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        All training points, independent draws of the distribution, as the classifier gets them.
    y : array-like of shape (n_samples,)
        Their classes.
    confidence : float, default=0.95
        Probability, over training sets, with which both limits hold.
    n_tuned : float, default=None
        Number of feature spaces that the data could choose from: the values of gamma, degree
        and so on that were compared. `C`, softness and label noise do not count. The default
        is 1 if gamma is a number. "scale" and BayesPointClassifier's "auto" depend on the data,
        so this gamma has to be rounded. With two digits between 1e-4 and 1e2 it is one of 540.
    intercept_scaling : float, default=1.0
        Prior standard deviation of the intercept, as in `normalized_margins`.

    Returns
    -------
    Certificate
        `gibbs` is an upper limit of the error of a random classifier, normal around the fitted
        one; `mean`, twice `gibbs`, is an upper limit for the fitted classifier itself.

    Notes
    -----
    Features must not be scaled by the training data either, as `StandardScaler` does, unless
    the scale is one of finitely many. See `gaussian_bound` for the mathematics.

    References
    ----------
    Langford (2005), Tutorial on practical prediction theory for classification, JMLR 6.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> from bayespoint.bounds import pac_bayes_certificate
    >>> from bayespoint.datasets import TwoGaussians
    >>> X, y = TwoGaussians([1.5, 0.0]).draw(2000, random_state=0)
    >>> model = SVC(gamma=0.1).fit(X, y)  # its true error is 0.067
    >>> certificate = pac_bayes_certificate(model, X, y)
    >>> round(certificate.gibbs, 2), round(certificate.mean, 2)
    (0.16, 0.32)
    """
    if n_tuned is None:
        _check_not_tuned(model)
        n_tuned = 1.0
    cosines = normalized_margins(model, X, y, intercept_scaling=intercept_scaling)
    return gaussian_bound(cosines, confidence=confidence, n_tuned=n_tuned)


def gaussian_bound(cosines, *, confidence: float = 0.95, n_tuned: float = 1.0) -> Certificate:
    """Return the PAC-Bayes bound of a Gaussian around any direction.

    Parameters
    ----------
    cosines : array-like of shape (n_samples,)
        `normalized_margins` of the training points.
    confidence : float, default=0.95
        Probability, over training sets, with which the bound holds for all directions.
    n_tuned : float, default=1
        Number of feature spaces that the data could choose from.

    Returns
    -------
    Certificate
        Upper limits of the error of classifiers from the Gaussian, and of its mean.

    Notes
    -----
    The prior is N(0, I) in feature space, the posterior N(mu w, I) with w of length one.
    Their divergence is mu^2 / 2, and the training error of the posterior is the mean of
    Phi(-mu cosine). The bound holds for all posteriors at once, so the best mu costs nothing.
    Where the mean is wrong, at least half of the posterior is wrong. If no other mu is better,
    mu is 0, where the error is one half.

    Examples
    --------
    >>> from bayespoint.bounds import gaussian_bound
    >>> certificate = gaussian_bound([0.3] * 2000)
    >>> round(certificate.gibbs, 3), round(certificate.mu, 1)
    (0.034, 9.8)
    """
    cosines = vector("cosines", cosines)
    if np.abs(cosines).max() > 1:
        raise ValueError(
            "cosines should be between -1 and 1, but the largest absolute value is "
            f"{np.abs(cosines).max():.3g}. Divide margins by the lengths of weights and points."
        )
    at_least("n_tuned", n_tuned, 1)
    m = len(cosines)
    each = 1 - at_risk(confidence) / n_tuned

    def gibbs(mu: float) -> float:
        if mu == 0:  # half of the prior is right at every point, without any data
            return 0.5
        return pac_bayes_bound(_gibbs_error(cosines, mu), mu**2 / 2, m, confidence=each)

    # Beyond sqrt(2 m) the divergence alone makes the bound larger than one half.
    tried = np.concatenate([[0.0], np.geomspace(0.01, math.sqrt(2 * m), _N_LENGTHS_TRIED)])
    values = [gibbs(mu) for mu in tried]
    best = int(np.argmin(values))
    around = tried[max(best - 1, 0)], tried[min(best + 1, len(tried) - 1)]
    refined = minimize_scalar(gibbs, bounds=around, method="bounded")
    mu, value = min((tried[best], values[best]), (refined.x, refined.fun), key=lambda t: t[1])
    error = _gibbs_error(cosines, mu)
    return Certificate(
        float(value), float(min(1.0, 2 * value)), confidence, error, float(mu), float(mu**2 / 2)
    )


def pac_bayes_bound(
    gibbs_error: float, divergence: float, n_samples: int, *, confidence: float = 0.95
) -> float:
    """Return the PAC-Bayes bound on the error of random classifiers.

    Parameters
    ----------
    gibbs_error : float
        Training error of a classifier drawn from the posterior, on average.
    divergence : float
        KL divergence of the posterior to a prior that does not depend on the data, in nats.
    n_samples : int
        Number of training points, independent draws of the distribution.
    confidence : float, default=0.95
        Probability, over training sets, with which the bound holds for all posteriors.

    Returns
    -------
    float
        Upper limit of the error of a classifier drawn from the posterior, on average: the
        largest p with kl(gibbs_error, p) <= (divergence + ln(2 sqrt(m) / (1 -
        confidence))) / m.

    References
    ----------
    Langford, Seeger (2001); Maurer (2004), A note on the PAC Bayesian theorem.

    Examples
    --------
    >>> from bayespoint.bounds import pac_bayes_bound
    >>> round(pac_bayes_bound(0.1, 10.0, 1000), 3)
    0.164
    """
    share("gibbs_error", gibbs_error)
    count("n_samples", n_samples)
    if not divergence >= 0:
        raise ValueError(f"divergence should be a number of at least 0, but is {divergence!r}.")
    budget = divergence + math.log(2 * math.sqrt(n_samples) / at_risk(confidence))
    return invert_binary_kl(gibbs_error, budget / n_samples)


def invert_binary_kl(q: float, divergence: float) -> float:
    """Return the largest p that is compatible with an observed share q.

    Parameters
    ----------
    q : float
        Observed share.
    divergence : float
        Upper limit of kl(q, p) = q ln(q / p) + (1 - q) ln((1 - q) / (1 - p)).

    Returns
    -------
    float
        p from q to 1, rounded up.

    Examples
    --------
    >>> from bayespoint.bounds import invert_binary_kl
    >>> round(invert_binary_kl(0.1, 0.02), 3)
    0.17
    """
    share("q", q)
    if not divergence >= 0:
        raise ValueError(f"divergence should be a number of at least 0, but is {divergence!r}.")
    low, high = q, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        entropy = xlogy(q, q / middle) + xlogy(1 - q, (1 - q) / (1 - middle))
        low, high = (middle, high) if entropy <= divergence else (low, middle)
    return high


def _gibbs_error(cosines: np.ndarray, mu: float) -> float:
    """Return the share of errors of classifiers that are normal around mu w."""
    return float(np.mean(ndtr(-mu * cosines)))


def _check_not_tuned(model) -> None:
    """Refuse a model with a gamma from the training data."""
    if _is_tuned(model):
        raise ValueError(
            f"gamma={model.gamma!r} was computed from the training data, so that n_tuned is "
            "needed: the number of values it could have. Fit with a rounded number, "
            f"gamma={float(f'{_gamma(model):.1e}'):g}, and pass n_tuned: 90 for each factor of "
            "ten in the range that gamma could come from."
        )


def _is_tuned(model) -> bool:
    """Return whether gamma was computed from the training data."""
    if getattr(model, "kernel_", getattr(model, "kernel", None)) not in GAMMA_KERNELS:
        return False
    gamma = getattr(model, "gamma", None)
    if isinstance(model, SVC | NuSVC) and gamma == "auto":  # 1 / n_features
        return False
    return isinstance(gamma, str)


def _gamma(model) -> float:
    return getattr(model, "gamma_", getattr(model, "_gamma", 1.0))
