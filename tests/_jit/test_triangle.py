"""The inverse of a triangle: what times the matrix is the identity, beside other entries."""

import numpy as np
import pytest

from bayespoint._jit import triangle
from mutants import interpreted

SIZES = [1, 2, 3, 4, 5, 6, 7, 8, 9, 31, 150]


def inverts(module, n, stride=0):
    """Tell whether a triangle is inverted, in a matrix whose other entries are NaN."""
    rng = np.random.default_rng(n)
    lower = np.tril(rng.normal(size=(n, n)), -1) / np.sqrt(n) + np.diag(rng.uniform(1, 2, n))
    whole = np.full((n + stride, n + stride), np.nan)
    matrix = whole[:n, :n]
    np.copyto(matrix, lower, where=np.tri(n, dtype=bool))
    module.invert_lower(matrix)
    with np.errstate(all="ignore"):
        found = np.where(np.tri(n), matrix, 0.0)
        off = np.abs(found @ lower - np.eye(n)).max()
    n_others = (n + stride) ** 2 - n * (n + 1) // 2
    # Rounding of n products, times how much larger the inverse is than the matrix.
    limit = n * np.finfo(float).eps * np.linalg.cond(lower)
    return bool(off <= limit and np.isnan(whole).sum() == n_others)


@pytest.mark.parametrize("stride", [0, 3])
@pytest.mark.parametrize("n", SIZES)
def test_inverts_the_triangle_and_nothing_else(n, stride):
    assert inverts(triangle, n, stride)


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("for j in range(k + 4)", "for j in range(k + 3)"),
        ("(c * r + d * s)", "(c * r)"),
        ("after[j] + e * row[j]", "after[j]"),
    ],
)
def test_a_step_left_out_on_purpose_fails(right, wrong):
    assert not inverts(interpreted(triangle, right, wrong), 31)


@pytest.mark.parametrize("stride", [0, 3])
@pytest.mark.parametrize("n", [1, 2, 31, 32, 33, 70])
def test_mirrors_the_triangle_and_nothing_else(n, stride):
    whole = np.arange((n + stride) ** 2, dtype=float).reshape(n + stride, -1)
    expected, part = whole.copy(), whole[:n, :n]
    expected[:n, :n] = np.tril(part) + np.tril(part, -1).T
    triangle.mirror_lower(part)
    np.testing.assert_array_equal(whole, expected)
