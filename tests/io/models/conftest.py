import pytest
from threadpoolctl import threadpool_limits


@pytest.fixture
def path(tmp_path):
    return tmp_path / "some.bayespoint"


@pytest.fixture
def one_thread():
    """Fit boosted trees in one thread: threads that wait for each other take seconds."""
    with threadpool_limits(1, "openmp"):
        yield
