"""LAPACK without Python's lock: the same bits as scipy's wrappers, and threads that do not wait."""

import threading
import time

import numpy as np
import pytest
from scipy.linalg import blas, lapack

from bayespoint._runtime import lapack as free


def definite(n=100, seed=0):
    root = np.random.default_rng(seed).standard_normal((n, n))
    return np.asfortranarray(root @ root.T + n * np.eye(n))


# Sizes of one part of a triangle, of two, and of a rest.
@pytest.mark.parametrize("n", [1, 2, 64, 65, 130])
def test_the_bits_are_those_of_scipy(n):
    matrix = definite(n)
    upper = matrix.copy(order="F")
    assert free.factor_upper(upper)
    np.testing.assert_array_equal(upper, lapack.dpotrf(matrix, lower=0, clean=1)[0])
    inverse = upper.copy(order="F")
    free.invert_upper(inverse)
    np.testing.assert_array_equal(inverse, lapack.dtrtri(upper)[0])
    whole = inverse.copy(order="F")
    free.square_of_upper(whole)
    np.testing.assert_array_equal(np.triu(whole), np.triu(lapack.dpotri(upper)[0]))
    square = upper.copy(order="F")
    free.square_of_upper(square)
    np.testing.assert_array_equal(np.triu(square), np.triu(lapack.dlauum(upper)[0]))


@pytest.mark.parametrize("transposed", [False, True])
def test_products_with_columns(transposed):
    upper = np.asfortranarray(np.triu(definite(70)))
    columns = np.random.default_rng(1).standard_normal((70, 5))
    product = np.array(columns, order="F")
    free.multiply_by_upper(upper, product, transposed)
    np.testing.assert_array_equal(product, blas.dtrmm(1.0, upper, columns, trans_a=transposed))
    np.testing.assert_array_equal(free.solve_upper(upper, columns), blas.dtrsm(1.0, upper, columns))


def test_blocks_of_a_matrix():
    matrix, numbers = definite(90), np.random.default_rng(1).standard_normal((90, 90))
    whole = np.asfortranarray(numbers)
    block, left, right = whole[:30, 40:70], whole[30:60, :25], whole[30:55, 60:85]
    before, upper = whole.copy(), np.asfortranarray(np.triu(matrix[:30, :30]))
    free.multiply_by_upper(upper, block, from_right=True, factor=-2.0)
    product = blas.dtrmm(-2.0, upper, before[:30, 40:70], side=1)
    np.testing.assert_array_equal(block, product)
    free.divide_by_upper(upper, block, transposed=True)
    solved = blas.dtrsm(1.0, upper, product, trans_a=1)
    np.testing.assert_array_equal(block, solved)
    free.add_product(block[:25, :], left[:25], whole[60:85, 3:33], 3.0)
    np.testing.assert_allclose(
        block[:25], solved[:25] + 3 * before[30:55, :25] @ before[60:85, 3:33], rtol=1e-10
    )
    free.add_product(right[:, :5], left, whole[5:35, 20:25], transposed="left")
    free.add_product(right[:, 5:], left[:25], whole[35:55, :25], transposed="right")
    expected = before[30:60, :25].T @ before[5:35, 20:25]
    np.testing.assert_allclose(right[:, :5], before[30:55, 60:65] + expected, rtol=1e-10)
    expected = before[30:55, :25] @ before[35:55, :25].T
    np.testing.assert_allclose(right[:, 5:], before[30:55, 65:85] + expected, rtol=1e-10)
    outside = np.ones((90, 90), dtype=bool)
    outside[:30, 40:70] = outside[30:55, 60:85] = False
    np.testing.assert_array_equal(whole[outside], before[outside])


def test_a_product_of_other_shapes_is_an_error():
    ones = np.ones((3, 2), order="F")
    with pytest.raises(ValueError, match="do not give a product"):
        free.add_product(np.ones((3, 3), order="F"), ones, ones)


def test_only_the_upper_triangle_is_read_and_the_rest_is_cleared():
    matrix = definite(130)
    upper = np.asfortranarray(np.where(np.tri(130, k=-1, dtype=bool), np.nan, matrix))
    assert free.factor_upper(upper)
    assert not np.tril(upper, -1).any()
    np.testing.assert_array_equal(upper, lapack.dpotrf(matrix, lower=0, clean=1)[0])


def test_a_matrix_that_is_not_definite_says_so():
    assert not free.factor_upper(np.asfortranarray(-np.eye(3)))


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.zeros((2, 3), order="F"), "A square matrix"),
        (np.ones((3, 3)), "A matrix in Fortran's order"),
        (np.ones((3, 3), order="F")[:, ::-1], "A matrix in Fortran's order"),
        (np.eye(3, dtype=np.float32, order="F"), "array of float64"),
    ],
)
def test_memory_that_lapack_would_misread_is_an_error(matrix, message):
    with pytest.raises(ValueError, match=message):
        free.invert_upper(matrix)


def test_columns_of_another_length_are_an_error():
    with pytest.raises(ValueError, match="as long as the matrix"):
        free.multiply_by_upper(np.eye(3, order="F"), np.ones((2, 1), order="F"))


def runs_beside(work) -> int:
    """Return how many times Python ran while work was done in another thread."""
    done = threading.Event()

    def run():
        work()
        done.set()

    thread = threading.Thread(target=run)
    n_times = 0
    thread.start()
    while not done.is_set():
        time.sleep(0)
        n_times += 1
    thread.join()
    return n_times


def test_python_runs_while_lapack_does():
    upper = definite(700)
    assert free.factor_upper(upper)
    # On a busy machine either may wait for a processor: so the best of three.
    free_runs = max(runs_beside(lambda: free.invert_upper(upper.copy("F"))) for _ in range(3))
    held_runs = min(runs_beside(lambda: lapack.dtrtri(upper)) for _ in range(3))
    # A few ms of work; a turn of the loop takes microseconds, and waits for held locks.
    assert free_runs > 10 * max(held_runs, 1)
