import gzip

import numpy as np
import pytest

from bayespoint.datasets import digits
from bayespoint.datasets.digits import load_handwritten


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Make a tiny copy of the data folder."""
    monkeypatch.setattr(digits, "SHAPES", {"mnist": (3, 2, 4), "usps": (3, 2, 4)})
    (tmp_path / "mnist").mkdir()
    rng = np.random.default_rng(0)
    for key, file in digits.MNIST_FILES.items():
        n = 3 if "train" in key else 2
        values = rng.integers(0, 256, (n, 2, 2) if key[0] == "X" else n).astype(np.uint8)
        head = bytes([0, 0, 8, values.ndim]) + np.array(values.shape, ">i4").tobytes()
        (tmp_path / "mnist" / file).write_bytes(gzip.compress(head + values.tobytes()))
    X = np.array([[-1000, 0, 1000, 500]] * 3, dtype=np.int16)
    np.savez(tmp_path / "usps.npz", X_train=X, y_train=[1, 2, 3], X_test=X[:2], y_test=[1, 2])
    return tmp_path


def test_gray_values_are_between_0_and_1(folder):
    data = load_handwritten("mnist", folder)
    assert data.X_train.shape == (3, 4)
    assert 0 <= data.X_train.min() < data.X_train.max() <= 1
    assert data.y_test.shape == (2,)
    assert load_handwritten("usps", folder).X_test[0].tolist() == [0.0, 0.5, 1.0, 0.75]


def test_folder_comes_from_the_environment(folder, monkeypatch):
    monkeypatch.setenv("BAYESPOINT_DATA", str(folder))
    assert load_handwritten("usps").y_train.tolist() == [1, 2, 3]


def test_missing_files_are_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="no file mnist/train-images"):
        load_handwritten("mnist", tmp_path)
    with pytest.raises(FileNotFoundError, match=r"no file usps\.npz"):
        load_handwritten("usps", tmp_path)


def test_missing_network_says_what_to_do(monkeypatch):
    def fail(**_):
        raise OSError("no network")

    monkeypatch.delenv("BAYESPOINT_DATA", raising=False)
    monkeypatch.setattr("sklearn.datasets.fetch_openml", fail)
    for name in ("mnist", "usps"):
        with pytest.raises(
            FileNotFoundError, match=f"{name} is missing.*into a folder and pass folder="
        ):
            load_handwritten(name)


def test_other_data_and_damaged_files_are_refused(folder, monkeypatch):
    with pytest.raises(ValueError, match="should be"):
        load_handwritten("emnist", folder)
    path = folder / "mnist" / digits.MNIST_FILES["X_test"]
    path.write_bytes(gzip.compress(gzip.decompress(path.read_bytes())[:-1]))
    with pytest.raises(ValueError, match="should hold 8 bytes, but holds 7"):
        load_handwritten("mnist", folder)
    path.write_bytes(gzip.compress(b"text"))
    with pytest.raises(ValueError, match="not an idx file"):
        load_handwritten("mnist", folder)
    monkeypatch.setattr(digits, "SHAPES", {"usps": (7291, 2007, 256)})
    with pytest.raises(ValueError, match="another data set"):
        load_handwritten("usps", folder)


def test_openml_comes_in_the_original_order(monkeypatch):
    from sklearn.utils import Bunch

    monkeypatch.delenv("BAYESPOINT_DATA", raising=False)
    monkeypatch.setattr(digits, "SHAPES", {"mnist": (3, 2, 4)})
    X = np.arange(20).reshape(5, 4)
    y = np.array(["0", "1", "2", "3", "4"])
    monkeypatch.setattr("sklearn.datasets.fetch_openml", lambda **_: Bunch(data=X, target=y))
    data = load_handwritten("mnist")
    assert data.X_train[1].tolist() == (X[1] / 255).tolist()
    assert data.y_test.tolist() == [3, 4]


def test_usps_of_openml_gets_its_digits_and_gray_values(monkeypatch):
    from sklearn.utils import Bunch

    monkeypatch.delenv("BAYESPOINT_DATA", raising=False)
    monkeypatch.setattr(digits, "SHAPES", {"usps": (10, 1, 2)})
    monkeypatch.setattr(digits, "USPS_COUNTS", (1,) * 10)
    X = np.array([[-1.0, 0.5]] * 10 + [[1.0, 0.0]])
    y = np.array([str(k + 1) for k in range(10)] + ["4"])
    found = Bunch(data=X, target=y)
    monkeypatch.setattr("sklearn.datasets.fetch_openml", lambda **_: found)
    data = load_handwritten("usps")
    assert data.X_train[0].tolist() == [0.0, 0.75]
    assert data.X_test.tolist() == [[1.0, 0.5]]
    assert data.y_train.tolist() == list(range(10))
    assert data.y_test.tolist() == [3]
    for wrong in (
        Bunch(data=X, target=y[::-1]),  # another order
        Bunch(data=X, target=np.char.mod("%d", y.astype(int) - 1)),  # 0 to 9
        Bunch(data=(X + 1) / 2, target=y),  # other units
    ):
        found = wrong
        with pytest.raises(
            ValueError, match=r"another data set.*usps\.npz into a folder and pass folder="
        ):
            load_handwritten("usps")
