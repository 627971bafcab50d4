import numpy as np
import pytest
from scipy import sparse

from bayespoint._runtime.sample_weight import check_sample_weight

X = np.zeros((3, 2))


@pytest.mark.parametrize("rows", [X, sparse.csr_array(X)])
def test_no_weights_are_ones(rows):
    weight = check_sample_weight(None, rows)
    assert weight.dtype == np.float64
    np.testing.assert_array_equal(weight, np.ones(3))


def test_weights_become_floats():
    weight = check_sample_weight([0, 1, 2], X)
    assert weight.dtype == np.float64
    np.testing.assert_array_equal(weight, [0.0, 1.0, 2.0])


@pytest.mark.parametrize("allow_all_zero", [False, True])
@pytest.mark.parametrize(
    ("weight", "match"),
    [
        ([1.0, -1.0, 1.0], "Negative values"),
        ([1.0, np.nan, 1.0], "NaN"),
        ([1.0, 1.0], "shape"),
        (np.ones((3, 1)), "1D"),
    ],
)
def test_invalid_weights(weight, match, allow_all_zero):
    with pytest.raises(ValueError, match=match):
        check_sample_weight(weight, X, allow_all_zero=allow_all_zero)


def test_all_zero_is_an_error_unless_allowed():
    with pytest.raises(ValueError, match="at least one non-zero number"):
        check_sample_weight(np.zeros(3), X)
    np.testing.assert_array_equal(
        check_sample_weight(np.zeros(3), X, allow_all_zero=True), np.zeros(3)
    )
