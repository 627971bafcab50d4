import numpy as np
import pytest

from bayespoint.solvers.weights.belief import (
    Belief,
    ImproperBeliefError,
    finite,
    independent,
    mixed,
    move_size,
)


def random_belief(rng, d=4):
    root = rng.standard_normal((d, d))
    return Belief(root @ root.T + np.eye(d), rng.standard_normal(d))


def test_moments_are_those_of_the_natural_parameters(rng):
    belief = random_belief(rng)
    covariance = np.linalg.inv(belief.precision)
    np.testing.assert_allclose(belief.covariance(), covariance, atol=1e-12)
    np.testing.assert_allclose(belief.mean(), covariance @ belief.shift, atol=1e-12)
    np.testing.assert_allclose(belief.variances(), np.diag(covariance), atol=1e-12)


def test_independent_weights_are_a_diagonal_precision(rng):
    variances = rng.uniform(0.5, 2, 4)
    full, diagonal = (independent(variances, full) for full in (True, False))
    shift, noise = rng.standard_normal(4), rng.standard_normal((3, 4))
    full, diagonal = (Belief(belief.precision, shift) for belief in (full, diagonal))
    assert full.is_full
    assert not diagonal.is_full
    for name in ("mean", "variances", "log_integral", "is_proper"):
        np.testing.assert_allclose(getattr(full, name)(), getattr(diagonal, name)(), rtol=1e-12)
    np.testing.assert_allclose(full.scatter(noise), diagonal.scatter(noise), rtol=1e-12)
    other = independent(np.ones(4), True), independent(np.ones(4), False)
    assert full.distance(other[0]) == pytest.approx(diagonal.distance(other[1]))


def test_log_integral_is_the_normalizing_constant(rng):
    # Compare with a grid, up to d / 2 log(2 pi).
    belief = Belief(np.array([[2.0, 0.3], [0.3, 1.0]]), np.array([0.5, -0.2]))
    axis = np.linspace(-12, 12, 1201)
    w = np.stack(np.meshgrid(axis, axis), axis=-1)
    exponent = w @ belief.shift - 0.5 * np.einsum("...i,ij,...j", w, belief.precision, w)
    exact = np.log(np.exp(exponent).sum() * (axis[1] - axis[0]) ** 2) - np.log(2 * np.pi)
    assert belief.log_integral() == pytest.approx(exact, abs=1e-10)


def test_scattered_noise_has_the_covariance(rng):
    belief = random_belief(rng)
    root = belief.scatter(np.eye(4))
    np.testing.assert_allclose(root.T @ root, belief.covariance(), atol=1e-12)


def test_products_quotients_and_powers_undo_each_other(rng):
    one, two = random_belief(rng), random_belief(rng)
    for values, again in zip(one, one.times(two).over(two), strict=True):
        np.testing.assert_allclose(again, values, atol=1e-12)
    for values, again in zip(one.times(one), one.to_the(2.0), strict=True):
        np.testing.assert_allclose(again, values, atol=1e-12)
    for values, again in zip(mixed(np.array([0.5, -2.0]), [one, two]), one, strict=True):
        assert values.shape == again.shape
    product = mixed(np.array([0.5, -2.0]), [one, two])
    np.testing.assert_allclose(product.shift, 0.5 * one.shift - 2 * two.shift, atol=1e-12)
    assert not one.nothing().precision.any()


def test_a_move_is_in_standard_deviations():
    before = independent(np.full(3, 4.0), True)
    after = Belief(before.precision, before.precision @ np.full(3, 2.0))  # one deviation each
    np.testing.assert_allclose(after.moved(before), [1, 1, 1, 0, 0, 0], atol=1e-12)
    assert after.distance(before) == pytest.approx(1.0)
    assert move_size(np.zeros(6)) == 0


@pytest.mark.parametrize("broken", [np.nan, np.inf, -5.0])
def test_an_improper_belief_is_an_error_of_its_own(broken):
    belief = independent(np.ones(3), True)
    belief.precision[1, 1] = broken
    calls = [belief.mean, belief.covariance, belief.log_integral, belief.cholesky]
    for call in [*calls, lambda: belief.moved(independent(np.ones(3), True))]:
        with pytest.raises(ImproperBeliefError):
            call()
    assert not belief.is_proper() or not np.isfinite(broken)
    assert issubclass(ImproperBeliefError, np.linalg.LinAlgError)


def test_a_shift_that_is_not_finite_is_improper():
    belief = Belief(np.eye(2), np.array([1.0, np.nan]))
    for call in belief.mean, belief.log_integral:
        with pytest.raises(ImproperBeliefError, match="not finite"):
            call()
    with pytest.raises(ImproperBeliefError, match="not finite"):
        finite(belief.shift)
