import numpy as np
import pytest

from bayespoint.bounds import _checks as checks


def test_a_bound_may_fail_with_the_rest_of_the_confidence():
    assert checks.at_risk(0.95) == pytest.approx(0.05)
    for confidence in (0, 1, np.nan):
        with pytest.raises(ValueError, match="confidence should be between 0 and 1"):
            checks.at_risk(confidence)


@pytest.mark.parametrize(
    ("check", "right", "wrong"),
    [
        (checks.positive, [1e-300, 1e300], [0, -1, np.inf, np.nan]),
        (checks.share, [0, 0.5, 1], [-1e-9, 1.1, np.nan]),
        (checks.count, [1, np.int64(3)], [0, 1.0, -1]),
    ],
)
def test_numbers(check, right, wrong):
    for value in right:
        check("it", value)
    for value in wrong:
        with pytest.raises(ValueError, match=f"^it should be .* but is .*{value}"):
            check("it", value)


def test_vectors():
    np.testing.assert_array_equal(checks.vector("it", [1, 2], 2), [1.0, 2.0])
    for values, message in [
        ([], "shape"),
        ([[1]], "shape"),
        ([1], "2 training"),
        ([1, np.nan], "NaN"),
    ]:
        with pytest.raises(ValueError, match=message):
            checks.vector("it", values, 2)


def test_a_zero_may_be_negative_by_rounding():
    checks.not_negative("it", np.array([1.0, -0.5 * checks.MAX_RELATIVE_ROUNDING]))
    with pytest.raises(ValueError, match=r"entry 1 is -0\.001"):
        checks.not_negative("it", np.array([1.0, -0.001]))


def test_limits_of_numbers():
    checks.inside("it", 0.5, 0, 1)
    checks.at_least("it", 1, 1)
    for value in (0, 1, -1, np.nan):
        with pytest.raises(ValueError, match=r"^it should be between 0 and 1, but is"):
            checks.inside("it", value, 0, 1)
    for value in (0.5, np.inf, np.nan):
        with pytest.raises(ValueError, match=r"^it should be a number of at least 1, but is"):
            checks.at_least("it", value, 1)
