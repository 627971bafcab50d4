import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import special

from bayespoint.fitting.probabilities import (
    DEGREES_OF_FREEDOM,
    exactly_one,
    fitted_scale,
    two_classes,
    typical_variance,
)

TAILS = st.sampled_from(DEGREES_OF_FREEDOM)


@given(output=st.floats(-1e6, 1e6), df=TAILS)
def test_two_classes_have_the_sign_of_the_output(output, df):
    ((negative, positive),) = two_classes(np.array([output]), df)
    assert 0 < positive < 1
    assert 0 < negative < 1
    assert negative + positive == 1
    assert (positive > negative) == (output > 0)


def test_two_classes_are_the_normal_distribution():
    np.testing.assert_allclose(two_classes(np.array([0.5, -2.0]))[:, 1], special.ndtr([0.5, -2.0]))


def test_exactly_one_against_simulation():
    rng = np.random.default_rng(0)
    n, output = 1_000_000, np.array([0.3, -0.2, 1.0, -1.0])
    says_yes = rng.random((n, 4)) < special.ndtr(output)
    once = says_yes[says_yes.sum(axis=1) == 1]
    share = once.mean(axis=0)
    std_error = np.sqrt(share * (1 - share) / len(once))
    assert np.all(np.abs(share - exactly_one(output[None])[0]) <= 4 * std_error)


@given(output=arrays(float, (3, 5), elements=st.floats(-1e6, 1e6)), df=TAILS)
def test_exactly_one_adds_up_and_keeps_the_order(output, df):
    probability = exactly_one(output, df)
    np.testing.assert_allclose(probability.sum(axis=1), 1, atol=1e-12)
    assert np.all((probability > 0) & (probability < 1))
    np.testing.assert_array_equal(probability.argmax(axis=1), output.argmax(axis=1))


def test_tails_are_those_of_student():
    output = np.array([-30.0, -2.0, 0.5, 4.0])
    for df in (1.0, 4.0):
        np.testing.assert_allclose(two_classes(output, df)[:, 1], special.stdtr(df, output))


@pytest.mark.parametrize("df", [np.inf, 4.0, 1.0])
@pytest.mark.parametrize("n_outputs", [1, 4])
def test_fitted_scale_finds_the_one_that_made_the_labels(df, n_outputs):
    rng = np.random.default_rng(0)
    n, scale = 20_000, 8.0
    decisions = rng.uniform(-1, 1, (n, n_outputs))
    if n_outputs == 1:
        probability = two_classes(scale * decisions[:, 0], df)
    else:
        probability = exactly_one(scale * decisions, df)
    target = (rng.random((n, 1)) > np.cumsum(probability, axis=1)[:, :-1]).sum(axis=1)
    found, tails = fitted_scale(decisions, target)
    assert tails == df
    # Each label determines the logarithm of the scale to about 1 / |d log p / d log scale|.
    assert abs(np.log(found / scale)) < 0.05


def test_fitted_scale_stays_finite_without_errors():
    found, _ = fitted_scale(np.array([[-0.5], [0.5], [0.7]]), np.array([0, 1, 1]))
    assert 0.1 < found < 100
    hopeless, _ = fitted_scale(np.array([[0.5], [-0.5]]), np.array([0, 1]))
    assert hopeless < 1


def test_typical_variance_is_the_median_over_all_copies(rng):
    variance, weight = rng.random((9, 3)), rng.integers(1, 5, 9)
    repeated = typical_variance(np.repeat(variance, weight, axis=0), None)
    assert typical_variance(variance, weight.astype(float)) == repeated
