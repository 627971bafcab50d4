import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.ensemble import AdaBoostClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from bayespoint.bounds import adaboost_margin_bound, adaboost_margin_error, boosting_rounds
from bayespoint.datasets.two_gaussians import TwoGaussians


@pytest.fixture(scope="module")
def data():
    return TwoGaussians([1.0, 0.5]).draw(300, random_state=0)


@pytest.mark.parametrize("learning_rate", [0.3, 1.0, 1.5])
def test_product_is_the_mean_exponential_of_the_votes(data, learning_rate):
    """The same bound follows from margins alone, without the weighted errors."""
    X, y = data
    model = AdaBoostClassifier(n_estimators=40, learning_rate=learning_rate, random_state=0)
    model.fit(X, y)
    total = model.estimator_weights_.sum() / 2
    margins = y * model.decision_function(X) / 2
    for margin in (0.0, 0.05, 0.2, 0.6):
        found = adaboost_margin_error(model, X, y, margin)
        exponential = np.mean(np.exp(total * (margin - margins)))
        assert found.bound == pytest.approx(min(1, exponential), rel=1e-8)
        assert found.observed == np.mean(margins < margin)
        assert found.observed <= found.bound


def test_agrees_with_the_algorithm_of_004(data):
    """Agrees with a plain version of table 1.2, and with eq. 1.86."""
    X, y = data
    D, errors = np.full(len(y), 1 / len(y)), []
    for _ in range(20):
        g = DecisionTreeClassifier(max_depth=1).fit(X, y, sample_weight=D).predict(X)
        error = D[g != y].sum()
        alpha = np.log((1 - error) / error) / 2
        D = D * np.exp(-alpha * y * g) / (2 * np.sqrt(error * (1 - error)))
        errors.append(error)
    e = np.array(errors)
    printed = 2**20 * np.prod(np.sqrt(e ** (1 - 0.1) * (1 - e) ** (1 + 0.1)))
    assert adaboost_margin_bound(errors, 0.1) == pytest.approx(printed)
    model = AdaBoostClassifier(n_estimators=20).fit(X, y)
    assert adaboost_margin_error(model, X, y, 0.1).bound == pytest.approx(printed, rel=1e-6)


@given(st.lists(st.floats(1e-3, 0.5), min_size=1, max_size=50), st.floats(1e-3, 0.2499))
def test_uniform_bound_of_004_is_larger(edges, margin):
    """Eq. 1.87: (1 - margin^2)^(T / 2) if errors are at most 1 / 2 - 2 margin."""
    errors = np.maximum(0.5 - 2 * margin - np.array(edges), 1e-6)
    assert adaboost_margin_bound(errors, margin) <= (1 - margin**2) ** (len(errors) / 2)


def test_rounds_are_enough_and_not_far_too_many():
    for margin, share in ((0.05, 0.01), (0.2, 0.5), (0.24, 1e-6)):
        rounds = boosting_rounds(margin, share)
        assert (1 - margin**2) ** (rounds / 2) <= share
        assert np.exp(-(margin**2) * (rounds - 1) / 2) > share


def test_voter_that_is_always_right(rng):
    X = np.concatenate([rng.uniform(-2, -1, (20, 1)), rng.uniform(1, 2, (20, 1))])
    model = AdaBoostClassifier().fit(X, X[:, 0] > 0)
    found = adaboost_margin_error(model, X, X[:, 0] > 0, 0.5)
    assert found.observed == 0
    assert 0 < found.bound < 1  # scikit-learn gives this voter one vote, not infinitely many
    assert adaboost_margin_bound([0.2, 0.0], 0.5) == 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: adaboost_margin_bound([0.5], 0.1), "errors should be from 0 to below one half"),
        (lambda: adaboost_margin_bound([-0.1], 0.1), "errors should be from 0"),
        (lambda: adaboost_margin_bound([], 0.1), "errors should be a list"),
        (lambda: adaboost_margin_bound([0.1], 1.0), "margin should be between 0 and 1"),
        (lambda: adaboost_margin_bound([0.1], -0.1), "margin should be between 0 and 1"),
        (lambda: adaboost_margin_bound([0.1], 0.1, [1.0, 2.0]), "each of 1 training points"),
        (lambda: adaboost_margin_bound([0.1], 0.1, [-1.0]), "weights should not be negative"),
        (lambda: boosting_rounds(0.3, 0.1), "margin should be between 0 and 0.25"),
        (lambda: boosting_rounds(0.1, 0.0), "margin_error should be between 0 and 1"),
    ],
)
def test_refuses(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_refuses_other_models_and_classes(data):
    X, y = data
    with pytest.raises(TypeError, match="AdaBoostClassifier, but is SVC"):
        adaboost_margin_error(SVC().fit(X, y), X, y, 0.1)
    three = np.arange(len(y)) % 3
    with pytest.raises(ValueError, match="two classes, but this one has 3"):
        adaboost_margin_error(AdaBoostClassifier().fit(X, three), X, three, 0.1)
    with pytest.raises(ValueError, match="y should hold the classes"):
        adaboost_margin_error(AdaBoostClassifier().fit(X, y), X, y + 5, 0.1)
