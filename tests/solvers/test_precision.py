import numpy as np
import pytest

from bayespoint.solvers.precision import precision


def simulate(n_chains, n_batches, n_draws, rng, drift=0.0):
    """Return batches of independent unit vectors around the first axis."""
    shape = (n_chains, n_batches, n_draws, 5)
    w = rng.standard_normal(shape)
    w[..., 0] += 2
    w[..., 1] += drift * np.linspace(0, 1, n_batches)[:, None]
    w /= np.linalg.norm(w, axis=-1, keepdims=True)
    return w.sum(axis=2), np.full((n_chains, n_batches), float(n_draws))


def test_independent_draws_have_the_effective_size_they_have():
    rng = np.random.default_rng(0)
    sizes, angles, errors = [], [], []
    for _ in range(200):
        integrals, times = simulate(8, 2, 50, rng)
        estimate = precision(integrals, times)
        sizes.append(estimate.ess)
        angles.append(estimate.angle)
        mean = integrals.sum(axis=(0, 1))
        errors.append(np.arctan2(np.linalg.norm(mean[1:]), mean[0]))
        assert estimate.r_hat < 1.05
    # 800 draws. Taking the larger of two variance estimates costs a little; each estimate has
    # a relative standard deviation of about sqrt(2 / (7 * 4)).
    assert 500 < np.median(sizes) < 800
    ratio = np.sqrt(np.mean(np.square(errors)) / np.mean(np.square(angles)))
    assert 0.8 < ratio < 1.1


def test_a_common_drift_is_seen():
    rng = np.random.default_rng(0)
    still = precision(*simulate(8, 6, 200, rng))
    drifting = precision(*simulate(8, 6, 200, rng, drift=2.0))
    assert drifting.angle > 3 * still.angle
    assert drifting.ess < still.ess / 9


def test_chains_in_different_places_are_seen():
    rng = np.random.default_rng(0)
    integrals, times = simulate(8, 4, 200, rng)
    integrals[:4, :, 2] += 200  # off by one unit
    assert precision(integrals, times).r_hat > 1.1


def test_longer_stretches_weigh_more():
    integrals = np.array([[[3.0, 0.0]], [[0.0, 1.0]]])
    assert precision(integrals, np.array([[3.0], [1.0]])).angle == pytest.approx(
        np.arctan2(*_by_hand())
    )


def _by_hand():
    # Means (1, 0) and (0, 1) with shares 3/4 and 1/4 have the mean (3, 1)/4. Deviations
    # across it, along (1, -3)/sqrt(10), are 1/sqrt(10) and 3/sqrt(10).
    variance = 2 * ((3 / 4) ** 2 * 1 / 10 + (1 / 4) ** 2 * 9 / 10)
    return np.sqrt(variance), np.sqrt(10) / 4
