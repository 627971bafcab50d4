import numpy as np
import pytest

from bayespoint.datasets.paper_data import PAPER_DATA
from papers_stand_ins import make_folder


@pytest.fixture(scope="session")
def data_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    make_folder(folder)
    return folder


@pytest.fixture
def problem(rng):
    X = rng.standard_normal((60, 3))
    return X, np.where(X[:, 0] * X[:, 1] + 0.1 * rng.standard_normal(60) > 0, 1, -1)


@pytest.fixture
def small_benchmark(tmp_path, rng, monkeypatch):
    """Make a data folder with small, noisy banana and heart data and two published splits."""
    X = rng.standard_normal((90, 2))
    # This much noise makes the solutions unique.
    y = np.where(X[:, 0] * X[:, 1] + 0.7 * rng.standard_normal(90) > 0, 1, -1)
    published = np.stack([rng.permutation(90) for _ in range(2)])
    random = np.stack([rng.permutation(90)[:50] for _ in range(6)])
    (tmp_path / "raetsch").mkdir()
    for name in ("banana", "heart"):
        monkeypatch.setitem(PAPER_DATA, name, PAPER_DATA[name]._replace(shape=X.shape))
        np.savez(
            tmp_path / "raetsch" / f"{name}.npz",
            X=X,
            y=y,
            train_idx=published[:, :50],
            test_idx=published[:, 50:],
            gen_train_idx=random,
        )
    return tmp_path
