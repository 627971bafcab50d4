import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

from bayespoint.fitting.equal_points import weigh_points
from bayespoint.fitting.task import Task
from bayespoint.fitting.training_points import (
    heed_weights,
    kernel_matrix,
    single_precision_pays,
    used_points,
)
from bayespoint.geometry.gram import IndefiniteKernelError
from bayespoint.geometry.kernels import Kernel
from bayespoint.solvers import (
    EP,
    Billiard,
    Cells,
    Corners,
    Gibbs,
    Nystroem,
    Perceptron,
    Regression,
)

X = np.random.default_rng(0).standard_normal((30, 3))
RBF = Kernel("rbf", gamma=0.5)


def task(X, kernel):
    m = len(X)
    return Task(
        X, np.ones((1, m)), np.zeros(m, dtype=int), kernel, None, 0.0, np.random.default_rng(0)
    )


def test_the_matrix_of_some_rows_is_a_part_of_the_whole():
    rows = np.array([4, 7, 9])
    whole = kernel_matrix(RBF, X)
    np.testing.assert_allclose(whole, rbf_kernel(X, gamma=0.5), atol=1e-12)
    np.testing.assert_allclose(kernel_matrix(RBF, X, rows), whole[np.ix_(rows, rows)], atol=1e-12)


def test_a_precomputed_matrix_gets_the_constant():
    K = X @ X.T
    kernel = Kernel("precomputed", constant=2.0)
    np.testing.assert_array_equal(kernel_matrix(kernel, K), K + 2)
    np.testing.assert_array_equal(kernel_matrix(kernel, K, np.array([1, 2])), K[1:3, 1:3] + 2)


def test_single_precision_points_give_a_double_precision_matrix():
    assert kernel_matrix(RBF, X.astype(np.float32)).dtype == np.float64


def test_points_at_the_origin_are_left_out():
    points = np.vstack([X, np.zeros(3)])
    with pytest.warns(UserWarning, match="1 training points lie at the origin"):
        rows, lengths = used_points(task(points, Kernel("linear")))
    np.testing.assert_array_equal(rows, np.arange(30))
    np.testing.assert_allclose(lengths, np.linalg.norm(X, axis=1))


def test_a_negative_diagonal_is_an_error():
    K = X @ X.T
    K[3, 3] = -1
    with pytest.raises(IndefiniteKernelError, match=r"k\(x, x\) = -1 for training point 3"):
        used_points(task(K, Kernel("precomputed")))


def test_lengths_that_overflow_are_an_error():
    with pytest.raises(ValueError, match="finite number"):
        used_points(task(np.full((2, 3), 1e200), Kernel("linear")))


def test_few_points_stay_in_double_precision():
    assert not single_precision_pays(task(X, RBF), X, len(X))
    many = np.zeros((10_000, 3))
    assert single_precision_pays(task(X, RBF), many, len(many))
    assert not single_precision_pays(task(X, Kernel(rbf_kernel)), many, len(many))


def with_weights(weight, solver, softness=0.1, label_noise=0.0):
    given = task(X, RBF)._replace(solver=solver, softness=softness, label_noise=label_noise)
    return weigh_points(given, weight)


@pytest.mark.parametrize("solver", [EP(), Nystroem(), Cells(), Regression(), Perceptron()])
def test_weights_are_heeded_where_they_have_a_meaning(solver):
    weight = np.arange(1.0, 31)
    assert heed_weights(with_weights(weight, solver)).weight is weight
    assert heed_weights(with_weights(weight, solver, 0.0, 0.1)).weight is weight
    with pytest.warns(UserWarning, match="hard boundary"):
        assert heed_weights(with_weights(weight, solver, 0.0)).weight is None


@pytest.mark.parametrize("solver", [Billiard(), Gibbs(), Corners(), object()])
def test_other_solvers_ignore_weights_and_say_so_if_it_matters(solver):
    with pytest.warns(UserWarning, match=f"{type(solver).__name__} ignores positive weights"):
        assert heed_weights(with_weights(np.arange(1.0, 31), solver)).weight is None
    assert heed_weights(with_weights(np.full(30, 2.0), solver)).weight is None  # no warning
    assert heed_weights(with_weights(None, solver)).weight is None
