import os
import shutil
import signal
import sys
from contextlib import contextmanager

import compiled_cache

compiled_cache.use()  # before anything imports numba

import hypothesis  # noqa: E402
import numpy as np  # noqa: E402
import pytest  # noqa: E402

# A busy core may stop a test for a second, which says nothing about the code.
hypothesis.settings.register_profile("no deadline", deadline=None)
hypothesis.settings.load_profile("no deadline")


@pytest.fixture
def rng():
    """Return a random generator; BAYESPOINT_TEST_SEED changes its seed."""
    return np.random.default_rng(int(os.environ.get("BAYESPOINT_TEST_SEED", "0")))


@pytest.fixture(scope="session", autouse=True)
def _ctrl_c():
    """Enable Ctrl-C, which tests press: a shell that runs pytest in the background disables it."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


# Dask


@contextmanager
def dask_workers():
    """Start two worker processes and connect to them."""
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True}
    with (
        distributed.LocalCluster(dashboard_address=":0", **options) as cluster,
        distributed.Client(cluster) as client,
    ):
        client.wait_for_workers(2, timeout=120)
        yield client


@pytest.fixture(scope="session")
def client():
    """Return a client with two Dask workers that all tests share."""
    with dask_workers() as client:
        yield client


@pytest.fixture
def doomed_client():
    """Return a client whose workers may be killed: Dask does not always restart them."""
    with dask_workers() as client:
        yield client


# Chromium

CHROMIUM_OPTIONS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--disable-dev-shm-usage",
]


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    """Return Chromium without a window, controlled by selenium."""
    webdriver = pytest.importorskip("selenium.webdriver")
    names = ("chromium", "chromium-browser", "google-chrome")
    chromium = next(filter(None, map(shutil.which, names)), None)
    driver = shutil.which("chromedriver")
    if chromium is None or driver is None:
        if sys.platform == "linux" and os.environ.get("CI", "").lower() in ("1", "true"):
            pytest.fail("Chromium and chromedriver are not installed, and CI has to have them.")
        pytest.skip("Chromium or chromedriver is not installed: apt-get install chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for option in CHROMIUM_OPTIONS:
        options.add_argument(option)
    options.add_argument(f"--user-data-dir={tmp_path_factory.mktemp('profile')}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    session = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    session.get("about:blank")  # ends what the page of a new window still loads
    yield session
    session.quit()
