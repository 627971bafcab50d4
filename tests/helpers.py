"""Problems, slow twins, marks and timing for several test files."""

import inspect
import os
import signal
import threading
import time
from contextlib import contextmanager

import numpy as np
import pytest
from scipy import stats

from bayespoint.geometry.gram import unit_gram
from bayespoint.geometry.version_space import VersionSpace


def teacher_space(n_points, n_dimensions, seed, softness=0.0):
    """Return points labeled by a random teacher, with a linear kernel: always separable."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_points, n_dimensions))
    y = np.where(X @ rng.standard_normal(n_dimensions) > 0, 1.0, -1.0)
    return VersionSpace(unit_gram(X @ X.T, softness), y)


def rbf_space(n_points, softness, seed=0, n_dimensions=3):
    """Return noisy labels with an rbf kernel."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_points, n_dimensions))
    y = np.where(X[:, 0] + 0.3 * rng.standard_normal(n_points) > 0, 1.0, -1.0)
    squares = np.sum((X[:, None] - X) ** 2, axis=-1)
    return VersionSpace(unit_gram(np.exp(-squares / (2 * n_dimensions)), softness), y)


def orthant_space(n_dimensions):
    """Return the positive orthant, whose center of mass is the diagonal."""
    return VersionSpace(unit_gram(np.eye(n_dimensions), 0.0), np.ones(n_dimensions))


def rejection_sample(space, n, rng, batch=200_000):
    """Draw n unit vectors uniformly from version space, by rejecting all others."""
    kept, count = [], 0
    while count < n:
        w = rng.standard_normal((batch, space.gram.rank))
        w = w[np.all(space.margins(w) > 0, axis=1)]
        kept.append(w / np.linalg.norm(w, axis=1, keepdims=True))
        count += len(w)
    return np.concatenate(kept)[:n]


def angle_between(a, b):
    """Return the angle between two directions, exact also for small angles."""
    a, b = a / np.linalg.norm(a), b / np.linalg.norm(b)
    return 2 * np.arctan2(np.linalg.norm(a - b), np.linalg.norm(a + b))


def angular_std_error(draws):
    """Return the standard error of the direction of the mean of independent draws."""
    mean = draws.mean(axis=0)
    off = draws - mean
    along = off @ mean / np.linalg.norm(mean)
    across = np.sum(off**2, axis=1) - along**2
    return np.sqrt(np.mean(across) / len(draws)) / np.linalg.norm(mean)


def slow_but_for(names, *quick):
    """Return test parameters; all but the named ones are marked slow."""
    assert set(quick) <= set(names)
    return [name if name in quick else pytest.param(name, marks=pytest.mark.slow) for name in names]


# Time


@contextmanager
def processor_time_below(seconds):
    """Assert that this process uses less CPU time, however busy the machine is."""
    began = time.process_time()
    yield
    assert time.process_time() - began < seconds


@contextmanager
def ctrl_c(seconds=0.3):
    """Press Ctrl-C this long after a fit has started to listen for it."""
    done = threading.Event()

    def press():
        while signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            if done.wait(0.01):
                return
        if not done.wait(seconds):
            os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=press)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def normal_cdf(x, covariance, **accuracy):
    """Return the probability that a normal vector with mean zero is below x everywhere."""
    cdf = stats.multivariate_normal.cdf
    # Before SciPy 1.16 there is no seed; the accuracy is the same.
    seed = {"rng": 0} if "rng" in inspect.signature(cdf).parameters else {}
    return cdf(x, np.zeros(len(x)), covariance, **accuracy, **seed)
