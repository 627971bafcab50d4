"""What sample weights and class weights mean, for every classifier that has them."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics.pairwise import rbf_kernel

# The precision that weights are promised to: integers are repetitions.
WEIGHT_PRECISION = 1e-8


def check_integers_are_repetitions(model, X, y, rng):
    times = rng.integers(0, 4, len(y))
    rows = rng.permutation(np.repeat(np.arange(len(y)), times))
    weighted = clone(model).fit(X, y, sample_weight=times)
    repeated = clone(model).fit(X[rows], y[rows])
    outputs = repeated.decision_function(X)
    atol = WEIGHT_PRECISION * (1 + np.abs(outputs).max())
    np.testing.assert_allclose(weighted.decision_function(X), outputs, rtol=0, atol=atol)
    return weighted, repeated


def check_zero_is_removal(model, X, y, rng):
    weight = np.where(rng.random(len(y)) < 0.4, 0.0, 1.0)
    weighted = clone(model).fit(X, y, sample_weight=weight)
    removed = clone(model).fit(X[weight > 0], y[weight > 0])
    np.testing.assert_array_equal(weighted.decision_function(X), removed.decision_function(X))
    if hasattr(weighted, "support_"):
        np.testing.assert_array_equal(weighted.support_, np.flatnonzero(weight)[removed.support_])


def check_class_weights_multiply(model, X, y, rng):
    weight = rng.uniform(0.5, 2.0, len(y))
    classes, target = np.unique(y, return_inverse=True)
    of_class = dict(zip(classes.tolist(), [2.0, 0.5, 3.0], strict=False))
    both = clone(model).set_params(class_weight=of_class).fit(X, y, sample_weight=weight)
    product = weight * np.array(list(of_class.values()))[target]
    expected = clone(model).fit(X, y, sample_weight=product)
    np.testing.assert_array_equal(both.decision_function(X), expected.decision_function(X))
    balanced = clone(model).set_params(class_weight="balanced").fit(X, y)
    counts = np.bincount(target)
    by_hand = clone(model).fit(X, y, sample_weight=(len(y) / (len(classes) * counts))[target])
    np.testing.assert_allclose(balanced.decision_function(X), by_hand.decision_function(X))


def check_zero_is_removal_from_a_kernel_matrix(model, X, y, rng):
    weight = np.where(rng.random(len(y)) < 0.4, 0.0, 1.0)
    K, used = rbf_kernel(X, gamma=0.5), weight > 0
    weighted = clone(model).fit(K, y, sample_weight=weight)
    removed = clone(model).fit(K[np.ix_(used, used)], y[used])
    np.testing.assert_array_equal(
        weighted.decision_function(K), removed.decision_function(K[:, used])
    )


def check_refuses_wrong_weights(model, X, y):
    with pytest.raises(ValueError, match="Negative values"):
        model.fit(X, y, sample_weight=-np.ones(len(y)))
    with pytest.raises(ValueError, match="one class"):
        model.fit(X, y, sample_weight=(y == y[0]).astype(float))
    with pytest.raises(ValueError, match="class_weight"):
        model.set_params(class_weight="even").fit(X, y)
