"""Which tasks can grow; what they find is tested in tests/classifiers/test_incremental.py."""

import numpy as np
import pytest

from bayespoint.fitting.growing_fit import can_grow
from bayespoint.fitting.task import Task
from bayespoint.geometry.kernels import Kernel
from bayespoint.solvers import EP, Billiard, Cells, Mosaic, Regression


def task(solver, m=10, **changes):
    rng = np.random.default_rng(0)
    signs = np.where(rng.random((3, m)) < 0.5, 1, -1)
    given = {"kernel": Kernel("rbf"), "softness": 0.1, "rng": rng, **changes}
    return Task(X=np.zeros((m, 1)), signs=signs, target=np.zeros(m, int), solver=solver, **given)


@pytest.mark.parametrize(
    ("given", "grows"),
    [
        (task(Regression()), True),
        (task(Regression(), softness=0.0), True),
        (task(EP()), True),
        (task(EP(), softness=0.0), False),  # the dimension of version space would change
        (task(Billiard()), False),
        (task(Cells()), False),
        (task(Mosaic()), False),
        (task(Regression(), m=2001), False),
        (task(EP(), m=1000, cache_size=50), False),  # four matrices and three covariances
        (task(EP(), m=1000, cache_size=60), True),
    ],
)
def test_what_can_grow(given, grows):
    assert can_grow(given) is grows
