import os

import numpy as np
import pytest


@pytest.fixture
def rng():
    """A random generator; BAYESPOINT_TEST_SEED sweeps its seed."""
    return np.random.default_rng(int(os.environ.get("BAYESPOINT_TEST_SEED", "0")))
