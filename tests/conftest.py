import os
import signal

import compiled_cache

compiled_cache.use()  # before anything imports numba

import numpy as np  # noqa: E402
import pytest  # noqa: E402


@pytest.fixture
def rng():
    """A random generator; BAYESPOINT_TEST_SEED sweeps its seed."""
    return np.random.default_rng(int(os.environ.get("BAYESPOINT_TEST_SEED", "0")))


@pytest.fixture(scope="session", autouse=True)
def _ctrl_c():
    """Tests press Ctrl-C. A shell that starts pytest in the background has it ignored."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
