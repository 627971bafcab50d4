"""The compiled likelihood of powers of outputs: that of its formula, whatever the outputs."""

import numpy as np
import pytest
from scipy import special

from bayespoint._jit import power_link
from mutants import interpreted

LEAST = -500.0


def outcomes(n_classes, n=40, spread=0.3):
    rng = np.random.default_rng(n_classes)
    F = rng.normal(1 / n_classes, spread, (n, n_classes))
    wanted = rng.dirichlet(np.ones(n_classes), n)
    return F, wanted, rng.uniform(0.1, 3, n)


def slow(F, wanted, weight, power, floor):
    """Return the same by the formula."""
    z = np.maximum(F / floor, LEAST)
    log_positive = np.log(floor * np.logaddexp(0, z))
    share = special.expit(z) / (floor * np.logaddexp(0, z))
    log_p = special.log_softmax(power * log_positive, axis=1)
    surprise = weight[:, None] * (wanted - np.exp(log_p))
    value = np.sum(weight[:, None] * wanted * log_p)
    slopes = surprise * log_positive, surprise * (1 - F * share)
    return value, *(power * s.sum() for s in slopes), power * surprise * share


def agrees(module, F, wanted, weight, power=3.0, floor=0.1):
    by_outputs = np.empty(F.shape)
    found = module.power_likelihood(F, wanted, weight, power, floor, LEAST, by_outputs)
    known = slow(F, wanted, weight, power, floor)
    # Sums of F.size terms, each off by a few eps of the largest.
    close = {"rtol": 1e-11, "atol": 1e-11}
    return np.allclose(found, known[:3], **close) and np.allclose(by_outputs, known[3], **close)


@pytest.mark.parametrize("n_classes", [2, 3, 10])
@pytest.mark.parametrize("spread", [0.1, 3.0, 100.0])
def test_agrees_with_the_formula(n_classes, spread):
    assert agrees(power_link, *outcomes(n_classes, spread=spread))


def test_nan_is_not_hidden():
    F, wanted, weight = outcomes(3)
    F[1, 1] = np.nan
    found = power_link.power_likelihood(F, wanted, weight, 2.0, 0.1, LEAST, np.empty(F.shape))
    assert np.isnan(found).all()


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("near = 1.0", "near = small"),
        ("positive += z", "positive += 0.9 * z"),
        ("top += math.log(total)", "top += 0.0"),
        ("1.0 - F[i, c] * share[c]", "1.0 + F[i, c] * share[c]"),
    ],
)
def test_a_step_changed_on_purpose_fails(right, wrong):
    assert not agrees(interpreted(power_link, right, wrong), *outcomes(3))
