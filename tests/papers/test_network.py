import numpy as np

from bayespoint.papers.network import Network


def test_network_is_a_weighted_least_squares_fit(rng):
    X = rng.standard_normal((200, 2))
    y = np.where(X.prod(axis=1) > 0, 1, -1)  # no hyperplane separates these
    weight = rng.integers(1, 4, 200) / 400
    model = Network(random_state=0).fit(X, y, weight)
    distances = ((X[:, None] - model.centers_) ** 2).sum(axis=-1)
    features = np.column_stack([np.exp(-distances / 2), np.ones(len(X))])
    root = np.sqrt(weight)
    coef = np.linalg.lstsq(features * root[:, None], root * y, rcond=None)[0]
    np.testing.assert_allclose(features @ model.coef_, features @ coef, atol=0.02)
    assert np.mean(model.predict(X) == y) > 0.85


def test_network_takes_fewer_different_points_than_centers():
    X = np.repeat([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]], 5, axis=0)
    y = np.repeat(["a", "b", "b"], 5)
    model = Network(random_state=0).fit(X, y, np.full(15, 1 / 15))
    assert (model.predict(X) == y).all()
