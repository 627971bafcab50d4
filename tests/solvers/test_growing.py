"""A growing inverse is the inverse, whatever came and went."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayespoint.solvers import growing
from bayespoint.solvers.growing import MAX_INVERSE_ERROR, GrowingInverse, GrowingSquare


def definite(rng, n, noise=0.1):
    X = rng.standard_normal((n, 3))
    distance = ((X[:, None] - X) ** 2).sum(axis=2)
    return np.exp(-distance / 2) / noise + np.eye(n)


def follow(matrix, steps, rng, n_begin=5):
    """Add and remove rows of a large matrix; return the object and the rows that it has."""
    rows, spare = list(range(n_begin)), list(range(n_begin, len(matrix)))
    inverse = GrowingInverse(matrix[np.ix_(rows, rows)])
    for is_new, n in steps:
        if is_new and len(spare) >= n:
            new, spare = spare[:n], spare[n:]
            inverse.add(matrix[np.ix_(rows, new)], matrix[np.ix_(new, new)])
            rows += new
        elif not is_new and len(rows) > n:
            gone = np.sort(rng.choice(len(rows), n, replace=False))
            inverse.remove(gone)
            spare += [rows[i] for i in gone]
            rows = [row for i, row in enumerate(rows) if i not in gone]
    return inverse, rows


STEPS = st.lists(st.tuples(st.booleans(), st.integers(1, 3)), max_size=30)


@settings(deadline=None, max_examples=40)
@given(STEPS, st.integers(0, 10**6))
def test_it_is_the_inverse_after_any_steps(steps, seed):
    rng = np.random.default_rng(seed)
    matrix = definite(rng, 40)
    inverse, rows = follow(matrix, steps, rng)
    part = matrix[np.ix_(rows, rows)]
    # The checks allow this error of the product; the smallest eigenvalue of the matrix is one.
    np.testing.assert_allclose(inverse.values, np.linalg.inv(part), atol=MAX_INVERSE_ERROR)
    np.testing.assert_array_equal(inverse.matrix.values, part)
    assert inverse.log_det == pytest.approx(np.linalg.slogdet(part)[1], abs=1e-7)


@pytest.mark.parametrize(
    ("method", "broken"),
    [
        ("append", lambda self, across, corner: GrowingSquare_append(self, -across, corner)),
        ("delete", lambda self, rows: GrowingSquare_delete(self, (rows + 1) % self.size)),
        ("add_product", lambda self, left, right: None),
    ],
)
def test_a_broken_update_is_no_inverse(method, broken, monkeypatch):
    rng = np.random.default_rng(0)
    matrix = definite(rng, 40)
    monkeypatch.setattr(growing, "UPDATES_BETWEEN_CHECKS", 10**6)
    monkeypatch.setattr(GrowingSquare, method, broken)
    inverse, rows = follow(matrix, [(True, 2), (False, 1), (True, 1)], rng)
    error = inverse.values - np.linalg.inv(matrix[np.ix_(rows, rows)])
    assert np.abs(error).max() > 1e-3


GrowingSquare_append, GrowingSquare_delete = GrowingSquare.append, GrowingSquare.delete


def test_thousands_of_updates_lose_no_digits():
    rng = np.random.default_rng(1)
    matrix = definite(rng, 60, noise=1e-4)  # an ill-conditioned matrix
    steps = [(bool(rng.integers(2)), 1) for _ in range(5000)]
    inverse, rows = follow(matrix, steps, rng, n_begin=30)
    off = inverse.values @ matrix[np.ix_(rows, rows)] - np.eye(len(rows))
    assert np.abs(off).max() < 100 * MAX_INVERSE_ERROR


def test_lost_digits_are_noticed_and_restored():
    rng = np.random.default_rng(2)
    inverse, _ = follow(definite(rng, 30), [(True, 10)], rng)
    inverse.values[0, 1] += 1e-6
    assert inverse.error() > MAX_INVERSE_ERROR
    before = inverse.n_factorizations
    for _ in range(growing.UPDATES_BETWEEN_CHECKS):
        inverse.remove(np.array([inverse.matrix.size - 1]))
    assert inverse.n_factorizations == before + 1
    assert inverse.error() <= MAX_INVERSE_ERROR


def test_a_matrix_that_is_not_definite_is_refused():
    inverse = GrowingInverse(np.eye(2))
    with pytest.raises(np.linalg.LinAlgError, match="positive definite"):
        inverse.add(np.full((2, 1), 5.0), np.eye(1))


def test_deleting_keeps_the_order():
    square = GrowingSquare(np.add.outer(np.arange(5.0), np.arange(5.0)))
    square.delete(np.array([1, 3]))
    np.testing.assert_array_equal(square.values, np.add.outer([0, 2, 4], [0, 2, 4]))
