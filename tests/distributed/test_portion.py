import numpy as np
import pytest
from scipy import sparse

from bayespoint.distributed import portion as tasks
from bayespoint.fitting.weights_fit import Table
from bayespoint.solvers.weights.belief import independent
from bayespoint.solvers.weights.full_rows import FullRows
from bayespoint.solvers.weights.iterate import iterate
from bayespoint.solvers.weights.model import LinearModel
from bayespoint.solvers.weights.row_order import even_blocks

UNMIXED = np.empty(0)


@pytest.fixture(autouse=True)
def _without_a_worker(monkeypatch):
    monkeypatch.setattr(tasks, "here", lambda: "")


def test_sites_of_a_recreated_portion_are_recovered_before_a_sweep(data):
    X, y = data
    prior = independent(np.ones(4), True)

    def rows():
        return FullRows(X, 2.0 * y - 1, np.ones(len(y)), 1.0, even_blocks(*X.shape))

    known, belief = tasks.Portion(rows()), prior
    for stamp in range(20):
        product = tasks.sweep(known, stamp, stamp + 1, belief, 1.0, UNMIXED).value
        belief = prior.times(product)
    # A portion that was recreated has no sites, although the belief contains them.
    fresh = tasks.Portion(rows())
    assert tasks.sweep(fresh, 20, 21, belief, 1.0, UNMIXED).value is None
    again = tasks.recover(fresh, 21, belief, product, 0).value
    assert tasks.sweep(fresh, 21, 22, prior.times(again), 1.0, UNMIXED).value is not None
    np.testing.assert_allclose(again.precision, product.precision, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(again.shift, product.shift, rtol=1e-8, atol=1e-8)
    alone = iterate(rows(), prior, 1000, 1e-12)
    np.testing.assert_allclose(prior.times(product).mean(), alone.belief.mean(), atol=1e-8)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_a_portion_has_the_rows_of_all_partitions(data, kind):
    X, y = data
    empty = Table(sparse.csr_array((0, 4)), np.empty(0), np.empty(0))
    cuts = [slice(0, 50), slice(50, 51), slice(51, 200)]
    parts = [Table(kind(X[cut]), 2.0 * y[cut] - 1, np.ones(len(y[cut]))) for cut in cuts]
    model = LinearModel(2, 1.0, True, False, np.ones(4), np.zeros(4), np.ones(4))
    portion = tasks.make_portion(model, [empty, parts[0], empty, *parts[1:]])
    whole = model.rows(kind(X), 2.0 * y - 1, np.ones(len(y)))
    found, expected = (rows.sweep(model.prior(), 1.0) for rows in (portion.rows, whole))
    np.testing.assert_array_equal(found.precision, expected.precision)
    assert tasks.make_portion(model, [empty]).rows.sweep(model.prior(), 1.0).shift.shape == (4,)


@pytest.mark.parametrize("full", [True, False])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_every_model_can_load_its_loops(full, n_classes):
    units = np.ones(4), np.ones(4)
    tasks.load_loops(LinearModel(n_classes, 1.0, full, True, np.ones(5), *units))


def test_a_share_of_a_partition(data):
    X, y = data
    part = tasks.take_share(Table(X, y, np.ones(len(y))), 0.25)
    assert part.n_rows == 50
    assert part.X.shape == (50, 4)
