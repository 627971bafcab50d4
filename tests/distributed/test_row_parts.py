import numpy as np
import pytest
from scipy import sparse

from bayespoint.distributed.row_parts import Part, RowParts, join
from bayespoint.fitting.sampling import sample_each_class
from cluster_helpers import OneProcess


@pytest.fixture
def whole(rng):
    target = np.r_[np.zeros(90, int), 1, np.full(9, 2)]
    return Part(
        rng.standard_normal((100, 2)), target, rng.random(100), rng.random(100), np.arange(100)
    )


@pytest.fixture
def rows(whole):
    client = OneProcess()
    cuts = [slice(0, 40), slice(40, 40), slice(40, 41), slice(41, 100)]
    return RowParts(client, [client.submit(Part.take, whole, cut) for cut in cuts])


def test_rows_by_their_positions(rows, whole):
    positions = np.array([99, 0, 40, 39, 41, 0])
    found = rows.take(positions)
    for values, expected in zip(found, whole.take(positions), strict=True):
        np.testing.assert_array_equal(values, expected)
    np.testing.assert_array_equal(rows.classes_at(positions), whole.target[positions])


@pytest.mark.parametrize("n", [1, 5, 60, 100, 1000])
@pytest.mark.parametrize("seed", range(5))
def test_the_sample_of_one_machine(rows, whole, n, seed):
    found = rows.sample_each_class(n, 3, np.random.default_rng(seed))
    expected = sample_each_class(whole.target, n, np.random.default_rng(seed))
    np.testing.assert_array_equal(found, expected)


def test_new_parts_with_given_ends(rows, whole):
    groups = rows.regroup(np.array([30, 60, 100]))
    found = [join(rows.client.gather(pieces)) for pieces in groups]
    assert [part.n_rows for part in found] == [30, 30, 40]
    np.testing.assert_array_equal(join(found).X, whole.X)
    assert not rows.parts  # released


def test_sparse_parts(whole):
    part = whole._replace(X=sparse.csr_array(whole.X))
    np.testing.assert_array_equal(join([part, part]).X.toarray(), np.vstack([whole.X, whole.X]))


def test_changed_parts(rows):
    few = rows.change(lambda part: part.take(np.flatnonzero(part.target)))
    assert few.n_rows == 10
    assert sum(rows.ask(len)) == 4 * len(Part._fields)
