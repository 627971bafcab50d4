import pytest

from ep_problems import PROBLEMS


@pytest.fixture(params=PROBLEMS, ids=str)
def problem(request):
    """Return a Gram matrix, labels and label noise."""
    return PROBLEMS[request.param]()
