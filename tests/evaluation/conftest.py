import numpy as np
import pytest
from sklearn.datasets import load_iris


@pytest.fixture(scope="session")
def iris():
    """Return noisy training and test rows of iris, as tables."""
    pytest.importorskip("pandas")
    X, y = load_iris(return_X_y=True, as_frame=True)
    X = X + np.random.default_rng(0).normal(size=X.shape)
    return X[::2], y[::2], X[1::2], y[1::2]
