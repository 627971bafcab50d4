import numpy as np
import pytest

from bayespoint.solvers.weights.belief import independent
from bayespoint.solvers.weights.full_rows import FullRows
from bayespoint.solvers.weights.iterate import iterate
from bayespoint.solvers.weights.row_order import even_blocks, growing_blocks
from weights_helpers import exact


def test_blocks_and_their_order_do_not_matter():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((5000, 3))
    y = X @ [1.0, -2.0, 0.5] + rng.standard_normal(5000) > 0
    model = exact(covariance="full").fit(X, y)  # two blocks, starting from some of the rows
    data, prior = (X, 2.0 * y - 1, np.ones(5000), 1.0), independent(np.ones(3), full=True)
    assert len(even_blocks(*X.shape)) == 2
    for blocks in ([slice(None)], even_blocks(*X.shape), growing_blocks(5000, 0)):
        found = iterate(FullRows(*data, blocks), prior, 1000, 1e-10)
        np.testing.assert_allclose(found.belief.mean(), model.coef_[0], atol=1e-9)
        assert found.log_evidence == pytest.approx(model.log_evidence_, abs=1e-7)
