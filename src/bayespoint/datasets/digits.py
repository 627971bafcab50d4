"""The handwritten digits of the papers, MNIST and USPS."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import numpy as np
from sklearn.utils import Bunch

from .sources import HOW_TO_NAME_A_FOLDER, fetch_arrays, find_file, find_folder

# Numbers of training points, test points and features.
SHAPES = {"mnist": (60_000, 10_000, 784), "usps": (7291, 2007, 256)}
MNIST_FILES = {
    "X_train": "train-images-idx3-ubyte.gz",
    "y_train": "train-labels-idx1-ubyte.gz",
    "X_test": "t10k-images-idx3-ubyte.gz",
    "y_test": "t10k-labels-idx1-ubyte.gz",
}
# Numbers of the data sets at OpenML.
OPENML = {"mnist": 554, "usps": 41082}
# How often each digit, 0 to 9, occurs in USPS's training set.
USPS_COUNTS = (1194, 1005, 731, 658, 652, 556, 664, 645, 542, 644)


def load_handwritten(name: str, folder: str | os.PathLike | None = None) -> Bunch:
    """Load handwritten digits as gray values between 0 and 1.

    Parameters
    ----------
    name : {"mnist", "usps"}
        Name of the data set.
    folder : path, default=None
        Folder with the four original files of MNIST in mnist/ (idx format, gzipped) and
        with usps.npz (X_train, y_train, X_test, y_test; 1000 times the gray value in
        [-1, 1]); by default the environment variable BAYESPOINT_DATA. Without either, the
        digits are fetched from OpenML and cached by scikit-learn.

    Returns
    -------
    Bunch
        `X_train`, `y_train`, `X_test` and `y_test`.

    References
    ----------
    Herbrich, Graepel, Campbell (2001), Bayes Point Machines, JMLR 1, sec. 4.3.

    Examples
    --------
    >>> from bayespoint.datasets import load_handwritten
    >>> digits = load_handwritten("usps", folder="data")  # doctest: +SKIP
    >>> digits.X_train.shape  # doctest: +SKIP
    (7291, 256)
    """
    if name not in SHAPES:
        raise ValueError(f'name should be "mnist" or "usps", but is {name!r}.')
    path = find_folder(folder)
    if path is None:
        data = _fetch(name)
    elif name == "mnist":
        files = {key: find_file(path, f"mnist/{file}") for key, file in MNIST_FILES.items()}
        data = {key: _read_idx(file) for key, file in files.items()}
    else:
        with np.load(find_file(path, "usps.npz")) as arrays:
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
    """Return digits from OpenML, with the values that the files of the folder have."""
    file = "usps.npz" if name == "usps" else "the four files of mnist/"
    X, labels = fetch_arrays(name, OPENML[name], file)
    y, n_train = labels.astype(int), SHAPES[name][0]
    if name == "usps":
        # OpenML calls the digits 1 to 10, and its gray values are in [-1, 1].
        X, y = 1000 * X, y - 1
        counts = tuple(np.count_nonzero(y[:n_train] == digit) for digit in range(10))
        if counts != USPS_COUNTS or (X.min(), X.max()) != (-1000, 1000):
            raise ValueError(
                "OpenML's USPS should begin with the training set, with classes 1 to 10 and gray "
                f"values from -1 to 1, but does not: this is another data set. Put {file} into "
                f"a folder and {HOW_TO_NAME_A_FOLDER}."
            )
    return {
        "X_train": X[:n_train],
        "y_train": y[:n_train],
        "X_test": X[n_train:],
        "y_test": y[n_train:],
    }
