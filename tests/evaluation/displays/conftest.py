import matplotlib as mpl
import pytest
from sklearn.datasets import make_moons
from sklearn.naive_bayes import GaussianNB

from bayespoint import RejectOptionClassifier


@pytest.fixture(autouse=True)
def no_screen():
    """Draw into memory, and close all figures afterwards."""
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    yield
    plt.close("all")


@pytest.fixture(scope="session")
def moons():
    return make_moons(600, noise=0.3, random_state=0)


@pytest.fixture(scope="session")
def rejecting(moons):
    return RejectOptionClassifier(GaussianNB(), reject_rate=0.2, random_state=0).fit(*moons)
