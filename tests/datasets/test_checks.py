import numpy as np
import pytest

from bayespoint.datasets._checks import check_at_least, check_finite


def test_at_least():
    check_at_least("n_samples", 2, 2)
    with pytest.raises(ValueError, match="n_samples should be at least 2, but is 1"):
        check_at_least("n_samples", 1, 2)


def test_finite_numbers_become_floats():
    values = check_finite("mean", [1, 2])
    assert values.dtype == float
    np.testing.assert_array_equal(values, [1.0, 2.0])


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_infinite_numbers_are_refused(wrong):
    with pytest.raises(ValueError, match="mean should be finite"):
        check_finite("mean", [0.0, wrong])
