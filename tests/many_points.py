"""Data and a classifier for the tests of landmarks and cells."""

import numpy as np

from bayespoint import BayesPointClassifier

FIXED = {"gamma": 1.0, "softness": 0.3, "random_state": 0}


def classifier(**parameters):
    return BayesPointClassifier(**{**FIXED, **parameters})


def noisy(m, seed=0, noise=0.7):
    """Return a smooth boundary and many labels on the wrong side."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((m, 3))
    return X, (X[:, 0] + noise * rng.standard_normal(m) > 0).astype(int)
