import numpy as np
import pytest
from sklearn.datasets import make_moons


@pytest.fixture(scope="module")
def moons():
    """Return two noisy half circles."""
    return make_moons(400, noise=0.3, random_state=0)


@pytest.fixture(scope="module")
def three():
    """Return three noisy classes along the first feature."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 2))
    return X, np.digitize(X[:, 0] + 0.5 * rng.standard_normal(300), [-0.5, 0.5])
