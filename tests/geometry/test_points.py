"""Points as arrays: valid sparse matrices, precision, and squared lengths."""

import numpy as np
import pytest
from scipy import sparse

from bayespoint.geometry.points import canonical, in_double, squared_norms


def csr(data, indices, indptr, n_columns=3):
    X = sparse.csr_array((len(indptr) - 1, n_columns))
    X.data, X.indices, X.indptr = np.array(data, float), np.array(indices), np.array(indptr)
    return X


def test_duplicates_are_added_up_in_a_copy():
    X = csr([1.0, 2.0, 4.0], [1, 1, 0], [0, 2, 3])
    summed = canonical(X)
    assert summed.has_canonical_format
    np.testing.assert_array_equal(summed.toarray(), [[0, 3, 0], [4, 0, 0]])
    assert len(X.data) == 3


def test_what_is_canonical_already_is_not_copied(rng):
    dense = rng.standard_normal((3, 2))
    assert canonical(dense) is dense
    X = sparse.csr_array(dense)
    assert canonical(X) is X


@pytest.mark.parametrize(
    ("indices", "indptr"),
    [([0, 3], [0, 1, 2]), ([0, -1], [0, 1, 2]), ([0, 1], [0, 2, 1])],
    ids=["column too large", "negative column", "rows that go back"],
)
def test_indices_outside_the_matrix_are_an_error(indices, indptr):
    with pytest.raises(ValueError, match="not a valid sparse matrix"):
        canonical(csr([1.0, 2.0], indices, indptr))


def test_double_precision_is_not_copied(rng):
    X = rng.standard_normal((3, 2))
    assert in_double(X) is X
    assert in_double(X.astype(np.float32)).dtype == np.float64


@pytest.mark.parametrize("origin", [0.0, np.array([1.0, -2.0, 0.5])], ids=["zero", "elsewhere"])
def test_squared_norms_are_distances_from_the_origin(rng, origin):
    X = rng.standard_normal((5, 3))
    expected = np.sum((X - origin) ** 2, axis=1)
    for points in (X, sparse.csr_array(X)):
        np.testing.assert_allclose(squared_norms(points, origin), expected, rtol=1e-14)
    # Rounding may make a difference of squares negative, but a distance must not be negative.
    far = 1e8 + np.zeros((1, 3))
    assert squared_norms(sparse.csr_array(far), far[0])[0] >= 0
