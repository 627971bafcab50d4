"""Holm's method: at most the level of false alarms, and never more cautious than Bonferroni's."""

import numpy as np

from bayespoint.evaluation.holm import holm


def test_the_rule_step_by_step():
    p = np.array([0.011, 0.2, 0.001, 0.04, 0.04])
    # sorted 0.001 x 5, 0.011 x 4, 0.04 x 3, 0.04 x 2 (not below the one before), 0.2 x 1
    np.testing.assert_allclose(holm(p), [0.044, 0.2, 0.005, 0.12, 0.12])
    assert holm([]).shape == (0,)
    assert holm([0.9, 0.8]).max() == 1


def test_false_alarms_are_as_rare_as_the_level():
    rng = np.random.default_rng(0)
    n = 4000
    alarms = np.mean([holm(rng.random(20)).min() < 0.05 for _ in range(n)])
    # Expected at most 5 %; four standard errors of a share of 4000.
    assert alarms <= 0.05 + 4 * np.sqrt(0.05 * 0.95 / n)
    # Negative control: without a correction it is 1 - 0.95^20 = 64 %.
    assert np.mean([rng.random(20).min() < 0.05 for _ in range(n)]) > 0.5
