import pytest
from sklearn.datasets import make_classification


@pytest.fixture
def data():
    # Few features with little correlation, because correlation makes factorized sweeps slow.
    X, y = make_classification(
        200, 4, n_informative=3, n_redundant=0, flip_y=0.2, class_sep=0.5, random_state=0
    )
    return X, y
