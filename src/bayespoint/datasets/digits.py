"""The handwritten digits of the papers, MNIST and USPS."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import numpy as np
from sklearn.utils import Bunch

from .tables import DATA_VARIABLE, fetch_arrays

# Training and test points, and features.
SHAPES = {"mnist": (60_000, 10_000, 784), "usps": (7291, 2007, 256)}
MNIST_FILES = {
    "X_train": "train-images-idx3-ubyte.gz",
    "y_train": "train-labels-idx1-ubyte.gz",
    "X_test": "t10k-images-idx3-ubyte.gz",
    "y_test": "t10k-labels-idx1-ubyte.gz",
}
OPENML = {"mnist": 554, "usps": 41082}
# How often 0 to 9 occur in USPS's training set.
USPS_COUNTS = (1194, 1005, 731, 658, 652, 556, 664, 645, 542, 644)


def load_handwritten(name: str, folder: str | os.PathLike | None = None) -> Bunch:
    """Load handwritten digits as grey values between 0 and 1.

    Parameters
    ----------
    name : {"mnist", "usps"}
        Which ones.
    folder : path, default=None
        Folder with the four original files of MNIST in mnist/ (idx format, gzipped) and
        with usps.npz (X_train, y_train, X_test, y_test; 1000 times the grey value in
        [-1, 1]); by default the environment variable BAYESPOINT_DATA. Without either,
        they are fetched from OpenML and kept by scikit-learn.

    Returns
    -------
    Bunch
        `X_train`, `y_train`, `X_test` and `y_test`.

    References
    ----------
    Herbrich, Graepel, Campbell (2001), Bayes Point Machines, JMLR 1, sec. 4.3.
    """
    if name not in SHAPES:
        raise ValueError(f'name should be "mnist" or "usps", but is {name!r}.')
    folder = folder or os.environ.get(DATA_VARIABLE)
    if not folder:
        data = _fetch(name)
    elif name == "mnist":
        files = {key: _find(Path(folder), f"mnist/{file}") for key, file in MNIST_FILES.items()}
        data = {key: _read_idx(path) for key, path in files.items()}
    else:
        with np.load(_find(Path(folder), "usps.npz")) as arrays:
            data = {key: arrays[key] for key in MNIST_FILES}
    for part in ("X_train", "X_test"):
        X = data[part].reshape(len(data[part]), -1)
        data[part] = X / 255 if name == "mnist" else (X / 1000 + 1) / 2
    shape = (len(data["X_train"]), len(data["X_test"]), data["X_train"].shape[1])
    if shape != SHAPES[name]:
        raise ValueError(
            f"{name} should have {SHAPES[name]} training points, test points and features, but "
            f"has {shape}: this is another data set."
        )
    return Bunch(**data)


def _find(folder: Path, file: str) -> Path:
    """Return the path of a file of the data folder."""
    if not (folder / file).is_file():
        raise FileNotFoundError(
            f"There is no file {file} in the data folder {folder}. Put it there, or name another "
            f"folder (argument folder, or {DATA_VARIABLE})."
        )
    return folder / file


def _read_idx(path: Path) -> np.ndarray:
    """Return the array of bytes in a gzipped idx file."""
    with gzip.open(path) as file:
        content = file.read()
    if len(content) < 4 or content[:3] != b"\0\0\x08":
        raise ValueError(f"{path} is not an idx file of bytes.")
    n_axes = content[3]
    shape = np.frombuffer(content, ">i4", n_axes, offset=4)
    values = np.frombuffer(content, np.uint8, offset=4 + 4 * n_axes)
    if values.size != np.prod(shape):
        raise ValueError(f"{path} should hold {np.prod(shape)} bytes, but holds {values.size}.")
    return values.reshape(shape)


def _fetch(name: str) -> dict[str, np.ndarray]:
    """Return digits from OpenML, training points first, as in the files of the folder."""
    file = "usps.npz" if name == "usps" else "the four files of mnist/"
    X, labels = fetch_arrays(name, OPENML[name], file)
    y, first = labels.astype(int), SHAPES[name][0]
    if name == "usps":
        # There digits are called 1 to 10, and grey values are in [-1, 1].
        X, y = 1000 * X, y - 1
        counts = tuple(np.count_nonzero(y[:first] == digit) for digit in range(10))
        if counts != USPS_COUNTS or (X.min(), X.max()) != (-1000, 1000):
            raise ValueError(
                "OpenML's USPS should begin with the training set, with classes 1 to 10 and grey "
                "values from -1 to 1, but does not: this is another data set. Name a folder with "
                f"{file} by --data or {DATA_VARIABLE}."
            )
    return {"X_train": X[:first], "y_train": y[:first], "X_test": X[first:], "y_test": y[first:]}
