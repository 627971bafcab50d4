"""Powers of outputs as probabilities: slopes, limits, and what left-out points decide."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime

from bayespoint._runtime.threads import threads
from bayespoint.fitting import power_link
from bayespoint.fitting.power_link import (
    MIN_OUTPUTS_IN_PARTS,
    PowerLink,
    class_outputs,
    fit_power_link,
    known_outcomes,
    log_likelihood,
    power_probabilities,
)


def outcomes(n=50, c=4, seed=0):
    rng = np.random.default_rng(seed)
    target = rng.integers(c, size=n)
    outputs = 0.5 * np.eye(c)[target] + rng.normal(scale=0.2, size=(n, c)) - 1 / c
    return outputs, target


def test_slopes_are_those_of_differences():
    outputs, target = outcomes(n=8)
    known = known_outcomes(target, 4, np.random.default_rng(1).uniform(0.5, 2, 8))
    F = class_outputs(outputs)

    def value(v):
        return log_likelihood(v[:-2].reshape(F.shape), PowerLink(*np.exp(v[-2:])), known)[0]

    at = np.r_[F.ravel(), 0.3, -1.5]
    _, slopes = log_likelihood(F, PowerLink(*np.exp(at[-2:])), known)
    exact = np.r_[slopes.outputs.ravel(), slopes.log_power, slopes.log_floor]
    # Forward differences of step h are off by h / 2 times a second derivative of about 100.
    np.testing.assert_allclose(exact, approx_fprime(at, value, 1e-7), atol=2e-5)


def test_probabilities_are_powers_where_outputs_are_far_above_the_floor():
    p = power_probabilities(np.array([[0.5, 0.3, 0.2]]) - 1 / 3, PowerLink(2.0, 0.001))
    np.testing.assert_allclose(p, [np.array([0.25, 0.09, 0.04]) / 0.38], rtol=1e-9)


@pytest.mark.parametrize("n_outputs", [1, 5])
def test_the_largest_output_wins_however_extreme(n_outputs):
    rng = np.random.default_rng(0)
    outputs = rng.normal(size=(500, n_outputs)) * 10.0 ** rng.integers(-17, 4, size=(500, 1))
    p = power_probabilities(outputs, PowerLink(3.0, 0.05))
    assert np.all((p > 0) & (p < 1))
    np.testing.assert_allclose(p.sum(axis=1), 1)
    winner = (outputs[:, 0] > 0).astype(int) if n_outputs == 1 else outputs.argmax(axis=1)
    np.testing.assert_array_equal(p.argmax(axis=1), winner)


def test_one_output_and_two_columns_agree():
    f = np.linspace(-0.4, 0.4, 9)[:, None]
    np.testing.assert_allclose(class_outputs(f), np.hstack([0.5 - f, 0.5 + f]))
    np.testing.assert_allclose(class_outputs(np.hstack([-f, f])), class_outputs(f))


def test_labels_decide_how_sure_the_link_is():
    outputs, target = outcomes(n=2000)
    known = known_outcomes(target, 4, np.ones(2000))
    noise = np.random.default_rng(2).integers(4, size=2000)
    sure, unsure = (
        fit_power_link(outputs, known),
        fit_power_link(outputs, known_outcomes(noise, 4, np.ones(2000))),
    )
    assert sure.power > 2 * unsure.power
    # A link that is broken on purpose makes the labels less probable.
    best = log_likelihood(class_outputs(outputs), sure, known)[0]
    for broken in (sure._replace(power=1.2 * sure.power), sure._replace(floor=2 * sure.floor)):
        assert log_likelihood(class_outputs(outputs), broken, known)[0] < best


def test_priors_keep_the_link_finite_if_every_point_is_right():
    target = np.arange(20) % 2
    link = fit_power_link(
        np.where(target, 0.5, -0.5)[:, None], known_outcomes(target, 2, np.ones(20))
    )
    assert 0.5 < link.power < 20
    assert 0.01 < link.floor < 1


def test_parts_find_the_link_of_the_whole_in_any_number_of_threads(monkeypatch):
    outputs, target = outcomes(n=MIN_OUTPUTS_IN_PARTS // 4)
    known = known_outcomes(target, 4, np.random.default_rng(1).uniform(0.5, 2, len(target)))
    found = fit_power_link(outputs, known)
    with threads(2) as thread_map:
        assert fit_power_link(outputs, known, thread_map) == found
    monkeypatch.setattr(power_link, "MIN_OUTPUTS_IN_PARTS", np.inf)
    # Sums are rounded otherwise; logarithms have four digits.
    np.testing.assert_allclose(fit_power_link(outputs, known), found, rtol=2e-4)
