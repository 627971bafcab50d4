"""Version space: margins, combinations and coefficients, against explicit vectors."""

import numpy as np
from hypothesis import given, settings

from bayespoint.geometry.gram import unit_gram
from bayespoint.geometry.version_space import VersionSpace
from version_space_problems import EPS, integer_problems, linear_space, rng_of, seeds, unit_rows


@given(problem=integer_problems(), seed=seeds)
@settings(max_examples=100)
def test_margins_are_inner_products_with_signed_unit_points(problem, seed):
    X, y = problem
    space, walls = linear_space(X, y), y[:, None] * unit_rows(X)
    coef = rng_of(seed).standard_normal((3, len(y)))
    w, explicit = space.combine(coef), coef @ walls
    # Sums over m points and rank coordinates of numbers up to 1 or |coef|; the factor omits at
    # most 4 m eps of a squared length.
    known = 8 * len(y) * EPS * np.abs(coef).sum(axis=1, keepdims=True)
    assert np.all(np.abs(space.margins(w) - explicit @ walls.T) <= known)
    assert np.all(np.abs(w @ w.T - explicit @ explicit.T) <= known * np.abs(coef).sum(axis=1))
    for row, c in zip(space.margins(w), coef, strict=True):
        np.testing.assert_allclose(space.margins(space.combine(c)), row, atol=known.max())
    np.testing.assert_array_equal(space.walls, space.combine(np.eye(len(y))))


@given(problem=integer_problems(), seed=seeds)
@settings(max_examples=100)
def test_dual_is_the_inverse_of_combine(problem, seed):
    space = linear_space(*problem)
    w = rng_of(seed).standard_normal((3, space.gram.rank))
    coef = space.dual(w)
    # A triangular solve has a residual of rank eps |T| |x|.
    known = 4 * (space.gram.rank + 1) * EPS * np.abs(coef).sum(axis=1, keepdims=True)
    assert np.all(np.abs(space.combine(coef) - w) <= known)
    # Margins from coefficients: d = K a with the signed Gram matrix, as in 000.
    signed = space.gram.matrix * np.outer(space.signs, space.signs)
    np.testing.assert_allclose(coef @ signed, space.margins(w), atol=2 * len(signed) * known.max())


def test_contains_means_all_margins_are_positive():
    space = linear_space(np.eye(3), [1, -1, 1])
    inside = space.combine(np.array([1.0, 2.0, 0.5]))
    assert space.contains(inside)
    assert space.contains(1e-9 * inside)
    assert not space.contains(-inside)
    assert not space.contains(space.combine(np.array([1.0, 2.0, 0.0])))
    assert not space.contains(space.combine(np.array([1.0, 2.0, -1e-9])))
    assert not space.contains(np.zeros(3))


def test_copies_of_soft_points_have_directions_of_their_own():
    matrix, signs, weight = np.eye(3) + 1, np.ones(3), np.array([0.5, 1.0, 3.0])
    hard, soft = (unit_gram(matrix, softness) for softness in (0.0, 0.1))
    assert VersionSpace(soft, signs).n_dimensions == 3
    assert VersionSpace(soft, signs, weight=weight).n_dimensions == 4.5
    assert VersionSpace(hard, signs, weight=weight).n_dimensions == 3
