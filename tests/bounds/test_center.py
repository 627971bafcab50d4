import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayespoint.bounds import kappa

GRID = np.linspace(0, 1, 200_001)
PROXY_ERROR = np.abs(np.arccos(GRID) / np.pi - (1 - GRID) / 2)


@given(st.floats(0, 1))
def test_is_the_largest_error_of_the_proxy(epsilon):
    """Check lemma 14 by brute force; the grid misses the peak by less than 1e-9."""
    assert kappa(epsilon) >= np.max(PROXY_ERROR[epsilon <= GRID]) - 1e-12
    below = epsilon - 5e-6 <= GRID  # from the last grid point before epsilon on
    assert kappa(epsilon) <= np.max(PROXY_ERROR[below]) + 1e-9


def test_falls_to_zero_and_not_before_the_peak():
    """000 prints the two cases in reverse order, and 0.11 for 0.105."""
    values = [kappa(e) for e in (0.0, 0.22, 0.24, 0.77)]
    assert values == pytest.approx([0.10525683] * 4)
    assert kappa(1.0) == 0
    falling = [kappa(e) for e in np.linspace(0.78, 1, 50)]
    assert np.all(np.diff(falling) < 0)


def excess_error(hypotheses, weights):
    """Return epsilon, and the excess error of the center over the best point of the circle."""
    center = weights @ hypotheses
    center /= np.linalg.norm(center)
    angles = np.linspace(0, 2 * np.pi, 4001)
    candidates = np.column_stack([np.cos(angles), np.sin(angles)])

    def error(points):
        return np.arccos(np.clip(points @ hypotheses.T, -1, 1)) @ weights / np.pi

    epsilon = np.abs(hypotheses @ center).min()
    return epsilon, error(center[None])[0] - error(candidates).min()


def test_theorem_holds_for_posteriors_within_a_right_angle(rng):
    largest = 0.0
    for _ in range(300):
        angles = rng.uniform(0, rng.uniform(0.1, np.pi / 2), rng.integers(2, 6))
        hypotheses = np.column_stack([np.cos(angles), np.sin(angles)])
        weights = rng.dirichlet(np.full(len(angles), 0.5))
        epsilon, excess = excess_error(hypotheses, weights)
        assert excess <= kappa(min(epsilon, 1.0)) + 1e-12
        largest = max(largest, excess)
    assert largest > 0.005


def test_theorem_does_not_hold_for_every_posterior():
    """In the docstring's example, 0.121 is more than kappa and less than twice kappa."""
    angles = np.deg2rad([0, 134, -134])
    hypotheses = np.column_stack([np.cos(angles), np.sin(angles)])
    epsilon, excess = excess_error(hypotheses, np.array([0.4095, 0.29525, 0.29525]))
    assert epsilon == pytest.approx(np.abs(np.cos(angles[1])))
    assert kappa(epsilon) < 0.11 < excess < 2 * kappa(epsilon)


@pytest.mark.parametrize("epsilon", [-0.1, 1.1, np.nan])
def test_refuses(epsilon):
    with pytest.raises(ValueError, match="epsilon should be a share between 0 and 1"):
        kappa(epsilon)
