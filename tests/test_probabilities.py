import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import special

from bayespoint.probabilities import exactly_one, two_classes


@given(output=st.floats(-1e6, 1e6))
def test_two_classes_have_the_sign_of_the_output(output):
    ((negative, positive),) = two_classes(np.array([output]))
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


@given(output=arrays(float, (3, 5), elements=st.floats(-1e6, 1e6)))
def test_exactly_one_adds_up_and_keeps_the_order(output):
    probability = exactly_one(output)
    np.testing.assert_allclose(probability.sum(axis=1), 1, atol=1e-12)
    assert np.all((probability > 0) & (probability < 1))
    np.testing.assert_array_equal(probability.argmax(axis=1), output.argmax(axis=1))
