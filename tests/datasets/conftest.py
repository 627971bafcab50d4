import urllib.error

import pytest


@pytest.fixture
def no_network(monkeypatch):
    """Make every call of fetch_openml fail, as without a network."""

    def fail(**kwargs):
        raise urllib.error.URLError("no network in tests")

    monkeypatch.delenv("BAYESPOINT_DATA", raising=False)
    monkeypatch.setattr("sklearn.datasets.fetch_openml", fail)
