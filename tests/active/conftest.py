"""Small problems, models of them, and a session that has a certificate."""

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_blobs, make_moons
from sklearn.naive_bayes import GaussianNB

from bayespoint import BayesPointClassifier, active
from session_helpers import label


@pytest.fixture(scope="module")
def moons():
    X, y = make_moons(200, noise=0.2, random_state=0)
    return BayesPointClassifier("rbf", gamma=1.0, softness=0.3, random_state=0).fit(X, y), X


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return BayesPointClassifier(random_state=0).fit(X[::5], y[::5]), X


@pytest.fixture(scope="module")
def blobs():
    X, y = make_blobs(300, centers=[[0, 0], [6, 6], [0, 8]], random_state=0)
    return X, np.array(["a", "b", "c"])[y]


@pytest.fixture(scope="module")
def certified(blobs):
    X, y = blobs
    session = active.Session(GaussianNB(), X, max_error=0.1, random_state=0)
    return label(session, y, 170)
