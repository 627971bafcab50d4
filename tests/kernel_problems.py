"""Kernels with settled parameters, points, and the formula of each kernel."""

import math
import os

import numpy as np

from bayespoint.geometry.kernels import KERNELS
from bayespoint.geometry.settle import settle_kernel

SEED = int(os.environ.get("BAYESPOINT_TEST_SEED", "0"))
EPS = np.finfo(float).eps
NAMED = tuple(name for name in KERNELS if name != "precomputed")
GAMMA, DEGREE, COEF0 = 0.3, 3, 1.5


def settle(name, X, **changes):
    parameters = {
        "gamma": GAMMA,
        "degree": DEGREE,
        "coef0": COEF0,
        "normalize": False,
        "fit_intercept": False,
    }
    return settle_kernel(name, X, **(parameters | changes))


def gaussian(m, n_features, seed=SEED):
    return np.random.default_rng(seed).standard_normal((m, n_features))


def formula(name, x, z):
    """Return k(x, z) of two lists of numbers, from the formula."""
    inner = math.fsum(a * b for a, b in zip(x, z, strict=True))
    if name == "linear":
        return inner
    if name == "poly":
        return (GAMMA * inner + COEF0) ** DEGREE
    if name == "sigmoid":
        return math.tanh(GAMMA * inner + COEF0)
    differences = [a - b for a, b in zip(x, z, strict=True)]
    if name == "rbf":
        return math.exp(-GAMMA * math.fsum(d * d for d in differences))
    return math.exp(-GAMMA * math.fsum(map(abs, differences)))
