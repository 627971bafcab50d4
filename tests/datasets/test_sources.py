import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.utils import Bunch

from bayespoint.datasets.sources import fetch_arrays, find_file, find_folder


def test_the_argument_comes_before_the_environment(monkeypatch):
    monkeypatch.setenv("BAYESPOINT_DATA", "there")
    assert find_folder("here") == Path("here")
    assert find_folder(None) == Path("there")
    monkeypatch.setenv("BAYESPOINT_DATA", "")
    assert find_folder(None) is None


def test_a_missing_file_and_the_folder_are_named(tmp_path):
    (tmp_path / "a.npz").touch()
    assert find_file(tmp_path, "a.npz") == tmp_path / "a.npz"
    with pytest.raises(
        FileNotFoundError, match=r"no file b\.npz in the data folder .*pass folder=FOLDER"
    ):
        find_file(tmp_path, "b.npz")


def test_labels_are_texts(monkeypatch):
    found = Bunch(data=[[1.0], [2.0]], target=np.array(["a", "b"], dtype=object))
    monkeypatch.setattr("sklearn.datasets.fetch_openml", lambda **_: found)
    X, labels = fetch_arrays("toy", 1, "toy.npz")
    assert X.tolist() == [[1.0], [2.0]]
    assert labels.dtype.kind == "U"


def test_missing_network_says_what_to_do(no_network):
    with pytest.raises(
        FileNotFoundError, match=r"toy is missing.*toy\.npz into a folder and pass folder="
    ):
        fetch_arrays("toy", 1, "toy.npz")


def test_retries_do_not_warn(monkeypatch, no_network):
    def fail(**_):
        warnings.warn("A network error occurred while downloading. Retrying...", stacklevel=1)
        raise TimeoutError("too slow")

    monkeypatch.setattr("sklearn.datasets.fetch_openml", fail)
    with pytest.raises(FileNotFoundError, match="too slow"):
        fetch_arrays("toy", 1, "toy.npz")
