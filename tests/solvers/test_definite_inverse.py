"""The inverse in halves: that of LAPACK, symmetric, the same bits for any number of threads."""

import numpy as np
import pytest

from bayespoint._runtime.threads import one_blas_thread, threads
from bayespoint.solvers import definite_inverse
from bayespoint.solvers.definite_inverse import (
    MAX_POINTS_IN_LOOP,
    MIN_POINTS_IN_THREADS,
    invert_definite,
    tiles_of,
)

pytestmark = pytest.mark.usefixtures("one_thread")
LARGE = MIN_POINTS_IN_THREADS + 45
# The last is beyond twice the size of triangles that our own loop inverts.
SIZES = [1, 2, MIN_POINTS_IN_THREADS - 1, MIN_POINTS_IN_THREADS, LARGE, 2 * MAX_POINTS_IN_LOOP + 2]
STEPS = [
    "add_product",
    "_invert_triangle",
    "_mirror",
    "divide_by_upper",
    "multiply_by_upper",
    "square_of_upper",
]


@pytest.fixture
def one_thread():
    with one_blas_thread():
        yield


def definite(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    squared = np.sum((X[:, None] - X[None]) ** 2, axis=2)
    return 30 * np.exp(-squared) + np.diag(rng.uniform(0.5, 2, n))


def agrees(n, order="C"):
    matrix = definite(n)
    try:
        inverse, log_det = invert_definite(np.array(matrix, order=order))
    except np.linalg.LinAlgError:
        return False
    # A few eps for each row, times the condition number.
    rtol = 4 * n * np.finfo(float).eps * np.linalg.cond(matrix)
    known = np.linalg.inv(matrix)
    return bool(
        np.abs(inverse - known).max() <= rtol * np.abs(known).max()
        and np.array_equal(inverse, inverse.T)
        and abs(log_det - np.linalg.slogdet(matrix)[1]) <= n * rtol
    )


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("n", SIZES)
def test_agrees_with_numpy(n, order):
    assert agrees(n, order)


@pytest.mark.parametrize("broken", STEPS)
def test_a_step_left_out_on_purpose_fails(broken, monkeypatch):
    monkeypatch.setattr(definite_inverse, broken, lambda *args, **kwargs: None)
    assert not agrees(LARGE)


def test_a_tile_left_out_on_purpose_fails(monkeypatch):
    monkeypatch.setattr(definite_inverse, "tiles_of", lambda n: tiles_of(n)[:-1])
    assert not agrees(LARGE)


def test_the_bits_do_not_depend_on_the_number_of_threads():
    found = []
    for n_jobs in (1, 2, 3):
        with threads(n_jobs) as thread_map:
            found.append(invert_definite(definite(LARGE), thread_map))
    for inverse, log_det in found[1:]:
        np.testing.assert_array_equal(inverse, found[0][0])
        assert log_det == found[0][1]


@pytest.mark.parametrize("place", [0, LARGE - 1])
def test_a_matrix_that_is_not_definite_is_an_error_in_either_half(place):
    matrix = np.eye(LARGE)
    matrix[place, place] = -1
    with pytest.raises(np.linalg.LinAlgError, match="positive definite"):
        invert_definite(matrix)


def test_only_one_triangle_is_read():
    matrix = definite(LARGE)
    expected = invert_definite(matrix.copy())[0]
    for order, is_read in (("C", np.tri), ("F", lambda n: np.tri(n).T)):
        half = np.array(np.where(is_read(LARGE) == 1, matrix, np.nan), order=order)
        np.testing.assert_array_equal(invert_definite(half)[0], expected)


@pytest.mark.parametrize("n", [1, 95, 143, 145, 1000])
def test_tiles_cover_everything_once(n):
    assert [i for tile in tiles_of(n) for i in range(tile.start, tile.stop)] == list(range(n))
