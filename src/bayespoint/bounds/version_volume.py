"""McAllester's bound, from the share of the sphere that version space takes."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ._checks import at_least, at_risk, count


class VolumeBound(NamedTuple):
    """Upper limits of errors of classifiers that make no training error."""

    gibbs: float  # of a random classifier, drawn again for each point
    vote: float  # of the vote of all classifiers
    bayes_point: float  # of the center of mass
    confidence: float
    log_volume: float


def version_space_bound(
    log_volume: float, n_samples: int, *, confidence: float = 0.95, n_tuned: float = 1.0
) -> VolumeBound:
    """Return a bound on the error of hypotheses in version space from its volume.

    Parameters
    ----------
    log_volume : float
        Logarithm of the share of all directions that make no training error. If it is an
        estimate, so is the bound.
    n_samples : int
        Number of training points, independent draws of the distribution.
    confidence : float, default=0.95
        Probability, over training sets, with which the bounds hold.
    n_tuned : float, default=1
        Number of feature spaces that the data could choose from, as in
        `pac_bayes_certificate`.

    Returns
    -------
    VolumeBound
        `gibbs` is for a hypothesis drawn from version space; `vote`, twice `gibbs`, for the
        Bayes classification strategy; `bayes_point`, e = 2.718 times `gibbs`, for the center
        of mass.

    Notes
    -----
    The bound is 1 - (volume (1 - confidence))^(1 / m). A hypothesis with error p is consistent
    with probability (1 - p)^m, so the mean of (1 - p)^-m over the prior, for consistent
    hypotheses, is at most 1. Markov's and Jensen's inequalities do the rest. McAllester's bound,
    (ln(1 / volume) + ln(1 / (1 - confidence)) + 2 ln m + 1) / m, is always larger. Where the
    center of mass is wrong, at least 1 / e of version space is wrong (Grünbaum's theorem, for
    the Gaussian restricted to a convex cone).

    References
    ----------
    McAllester (1998), Some PAC-Bayesian theorems, COLT.
    Grünbaum (1960); Lovász, Vempala (2007), The geometry of logconcave functions, lemma 5.4.

    Examples
    --------
    >>> from bayespoint.bounds import version_space_bound
    >>> round(version_space_bound(-20.0, 1000).gibbs, 4)
    0.0227
    """
    count("n_samples", n_samples)
    if not -math.inf < log_volume <= 0:
        raise ValueError(
            f"log_volume should be the logarithm of a share, 0 or negative, but is {log_volume!r}."
        )
    at_least("n_tuned", n_tuned, 1)
    risk = at_risk(confidence) / n_tuned
    gibbs = -math.expm1((log_volume + math.log(risk)) / n_samples)
    vote, bayes_point = min(1.0, 2 * gibbs), min(1.0, math.e * gibbs)
    return VolumeBound(gibbs, vote, bayes_point, confidence, log_volume)


def estimate_version_space_bound(
    model, *, confidence: float = 0.95, n_tuned: float = 1.0
) -> VolumeBound:
    """Estimate the bound from the volume that expectation propagation finds.

    This is an estimate, as the volume is approximate; `pac_bayes_certificate` returns a
    certificate.

    Parameters
    ----------
    model : BayesPointClassifier
        Fitted to two classes with solver="ep" and a hard boundary, softness=0 and
        label_noise=0.
    confidence, n_tuned : float
        As in `version_space_bound`.

    Returns
    -------
    VolumeBound
        Estimated upper limits.

    Examples
    --------
    >>> from bayespoint import BayesPointClassifier
    >>> from bayespoint.bounds import estimate_version_space_bound
    >>> from bayespoint.datasets import make_teacher
    >>> X, y, _ = make_teacher(200, 3, random_state=0)
    >>> model = BayesPointClassifier("linear", fit_intercept=False, softness=0, solver="ep")
    >>> round(estimate_version_space_bound(model.fit(X, y)).bayes_point, 2)
    0.16
    """
    check_is_fitted(model)
    soft = getattr(model, "softness_", None), getattr(model, "label_noise_", None)
    is_volume = hasattr(model, "log_evidence_") and not hasattr(model, "link_power_")
    if soft != (0, 0) or not is_volume or len(model.classes_) != 2:
        raise ValueError(
            "model should be a BayesPointClassifier of two classes with a hard boundary, "
            'BayesPointClassifier(solver="ep", softness=0, label_noise=0): only then is its '
            "log_evidence_ the logarithm of the volume of version space."
        )
    if np.isnan(model.log_evidence_):
        raise ValueError(
            "Expectation propagation did not converge, so the volume is not known. Try another "
            "kernel."
        )
    n_samples = int(np.sum(~np.isnan(model.loo_proba_[:, 0])))
    log_volume = min(model.log_evidence_, 0.0)
    return version_space_bound(log_volume, n_samples, confidence=confidence, n_tuned=n_tuned)
