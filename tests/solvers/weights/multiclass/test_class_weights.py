import numpy as np
import pytest

from bayespoint.solvers.weights.belief import Belief
from bayespoint.solvers.weights.multiclass.class_weights import (
    basis,
    class_covariance,
    class_means,
    class_variances,
)
from multiclass_helpers import prior_of


@pytest.mark.parametrize("n_classes", [2, 3, 7])
def test_outputs_are_an_orthonormal_basis_of_what_sums_to_zero(n_classes):
    H = basis(n_classes)
    np.testing.assert_allclose(H.T @ H, np.eye(n_classes - 1), atol=1e-15)
    np.testing.assert_allclose(H.sum(axis=0), 0, atol=1e-15)
    assert H[1, 0] > 0  # the second class is positive


def test_moments_of_classes_are_those_of_outputs_in_the_basis(rng):
    C, d = 4, 3
    root = rng.standard_normal((d * (C - 1), d * (C - 1)))
    belief = Belief(root @ root.T + np.eye(len(root)), rng.standard_normal(len(root)))
    to_classes = np.kron(basis(C), np.eye(d))
    covariance = to_classes @ belief.covariance() @ to_classes.T
    np.testing.assert_allclose(class_means(belief, C).ravel(), to_classes @ belief.mean())
    np.testing.assert_allclose(class_covariance(belief, C), covariance, atol=1e-12)
    np.testing.assert_allclose(class_variances(belief, C).ravel(), np.diag(covariance), atol=1e-12)
    diagonal = Belief(np.diag(belief.precision).copy(), belief.shift)
    full = Belief(np.diag(diagonal.precision), belief.shift)
    np.testing.assert_allclose(class_variances(diagonal, C), class_variances(full, C), atol=1e-12)


def test_any_two_classes_differ_by_the_prior_variance():
    H, prior = basis(5), prior_of(2, 5, "factorized", variance=0.7)
    difference = (H[1] - H[3]) / np.sqrt(2)
    assert difference**2 @ prior.variances().reshape(4, 2) == pytest.approx(0.7)
