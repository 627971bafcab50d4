"""Behavior shared by all classifiers with a kernel."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from bayespoint import AdaptiveMarginSVC, BayesPointClassifier, LinearProgramSVC, OnionClassifier

MACHINES = [AdaptiveMarginSVC, BayesPointClassifier, LinearProgramSVC, OnionClassifier]
X = np.random.default_rng(0).standard_normal((40, 2))
Y = (X[:, 0] > 0).astype(int)
EACH = pytest.mark.parametrize("machine", MACHINES)


@EACH
def test_a_precomputed_kernel_should_be_square(machine):
    with pytest.raises(ValueError, match=r"should be a square matrix, but X has shape \(40, 2\)"):
        machine("precomputed").fit(X, Y)


@EACH
def test_predictions_need_a_fit(machine):
    with pytest.raises(NotFittedError):
        machine().predict(X)


@EACH
@pytest.mark.parametrize(("name", "value"), [("kernel", "rbg"), ("gamma", 0.0), ("degree", -1)])
def test_wrong_kernel_parameters_are_named(machine, name, value):
    with pytest.raises(ValueError, match=f"'{name}' parameter of {machine.__name__} must be"):
        machine(**{name: value}).fit(X, Y)


@EACH
def test_predictions_follow_the_sign_of_the_decision(machine):
    model = machine("linear").fit(X, Y)
    np.testing.assert_array_equal(model.predict(X), (model.decision_function(X) > 0).astype(int))
    assert model.gamma_ == 1  # a linear kernel needs no gamma
