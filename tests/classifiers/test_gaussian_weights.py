import numpy as np
import pytest
from scipy import stats
from sklearn.datasets import make_classification

from weights_helpers import classifier

COVARIANCES = ["full", "factorized"]


@pytest.fixture
def data():
    return make_classification(150, 6, n_informative=3, flip_y=0.1, random_state=0)


@pytest.fixture
def three():
    X, y = make_classification(200, 5, n_informative=4, n_redundant=0, n_classes=3, random_state=0)
    return X, np.array(["a", "b", "c"])[y]


@pytest.mark.parametrize("covariance", COVARIANCES)
def test_draws_have_mean_and_spread(data, covariance):
    X, y = data
    model = classifier(covariance=covariance).fit(X, y)
    n = 4000
    draws = model.sample_coef(n, random_state=0)
    mean = np.append(model.coef_, model.intercept_)
    deviation = np.sqrt(np.append(model.coef_variance_, draws[:, -1].var()))
    assert np.abs((draws.mean(axis=0) - mean) / deviation).max() * np.sqrt(n) < 4.5
    # A variance estimated from n draws has a relative standard error of sqrt(2 / n).
    ratio = draws[:, :-1].var(axis=0) / model.coef_variance_[0]
    assert np.abs(ratio - 1).max() < 4.5 * np.sqrt(2 / n)
    outputs = np.column_stack([X, np.ones(len(X))]) @ draws.T
    assert outputs.std(axis=1) == pytest.approx(model.decision_std(X), rel=4.5 / np.sqrt(2 * n))
    assert (model.predict(X) == model.predict_proba(X).argmax(axis=1)).all()


def test_costs_decide(data):
    X, y = data
    model = classifier().fit(X, y)
    np.testing.assert_array_equal(model.predict(X, loss=[[0, 1], [1, 0]]), model.predict(X))
    # Missing a positive costs nine times as much, so predict positive from probability 0.1 on.
    positive = model.predict(X, loss=[[0, 1], [9, 0]])
    np.testing.assert_array_equal(positive, model.predict_proba(X)[:, 1] > 0.1)
    with pytest.raises(ValueError, match=r"shape \(2, 2\), but has shape \(2,\)"):
        model.predict(X, loss=[1, 2])


@pytest.mark.parametrize("covariance", COVARIANCES)
def test_weights_of_classes_sum_to_zero(three, covariance):
    model = classifier(covariance=covariance).fit(*three)
    assert model.coef_.shape == model.coef_variance_.shape == (3, 5)
    np.testing.assert_allclose(model.coef_.sum(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(model.intercept_.sum(), 0, atol=1e-12)
    probability = model.predict_proba(three[0])
    np.testing.assert_allclose(probability.sum(axis=1), 1, atol=1e-12)
    np.testing.assert_array_equal(model.predict(three[0]), model.classes_[probability.argmax(1)])
    np.testing.assert_allclose(
        stats.norm.cdf(model.decision_function(three[0])), probability, atol=1e-6
    )


@pytest.mark.parametrize("covariance", COVARIANCES)
def test_draws_of_classes_have_mean_and_spread(three, covariance):
    X, _ = three
    model = classifier(covariance=covariance).fit(*three)
    n = 4000
    draws = model.sample_coef(n, random_state=0)
    assert draws.shape == (n, 3, 6)
    mean = np.column_stack([model.coef_, model.intercept_])
    assert np.abs((draws.mean(axis=0) - mean) / draws.std(axis=0)).max() * np.sqrt(n) < 4.5
    ratio = draws[:, :, :5].var(axis=0) / model.coef_variance_
    assert np.abs(ratio - 1).max() < 4.5 * np.sqrt(2 / n)
    scores = np.column_stack([X, np.ones(len(X))])[None] @ draws.transpose(0, 2, 1)
    np.testing.assert_allclose(scores.std(axis=0), model.decision_std(X), rtol=4.5 / np.sqrt(2 * n))
    # The largest score, with noise added, wins as often as the probability states.
    noisy = scores + np.random.default_rng(0).standard_normal(scores.shape)
    share = np.mean(noisy.argmax(axis=2)[:, :, None] == np.arange(3), axis=0)
    assert np.abs(share - model.predict_proba(X)).max() < 5 / np.sqrt(4 * n)
    if covariance == "full":
        flat = draws.reshape(n, -1)
        np.testing.assert_allclose(
            np.cov(flat.T), model.coef_covariance_, atol=0.1 * model.coef_covariance_.max()
        )


def test_costs_of_three_classes(three):
    X, y = three
    model = classifier().fit(X, y)
    np.testing.assert_array_equal(model.predict(X, loss=1 - np.eye(3)), model.predict(X))
    never = model.predict(X, loss=[[0, 1, 9], [1, 0, 9], [1, 1, 9]])
    assert "c" not in never
