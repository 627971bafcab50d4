"""Where data sets come from: a local data folder, or OpenML."""

from __future__ import annotations

import os
import warnings
from pathlib import Path

import numpy as np

# The environment variable that names the folder with the papers' data.
DATA_VARIABLE = "BAYESPOINT_DATA"
# The advice at the end of error messages. The command says --data FOLDER instead.
HOW_TO_NAME_A_FOLDER = f"pass folder=FOLDER or set {DATA_VARIABLE}"


def find_folder(folder: str | os.PathLike | None) -> Path | None:
    """Return the data folder: the argument, else the environment variable, else None."""
    folder = folder or os.environ.get(DATA_VARIABLE)
    return Path(folder) if folder else None


def find_file(folder: Path, file: str) -> Path:
    """Return the path of a file of the data folder."""
    if not (folder / file).is_file():
        raise FileNotFoundError(
            f"There is no file {file} in the data folder {folder}. To use another folder, "
            f"{HOW_TO_NAME_A_FOLDER}. Without a folder the data are fetched from OpenML."
        )
    return folder / file


def fetch_arrays(name: str, data_id: int, files: str) -> tuple[np.ndarray, np.ndarray]:
    """Return features and labels of a data set of OpenML, labels as texts.

    Parameters
    ----------
    name : str
        Name of the data set in this package, for the error message.
    data_id : int
        Its number at OpenML.
    files : str
        What a data folder should hold instead, for the error message.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        Features; categories are numbered in the order in which OpenML declares them.
    labels : ndarray of shape (n_samples,)
        Labels as texts.

    Examples
    --------
    >>> from bayespoint.datasets import fetch_arrays
    >>> X, labels = fetch_arrays("iris", 61, "iris.npz")  # from the network  # doctest: +SKIP
    >>> X.shape, str(labels[0])  # doctest: +SKIP
    ((150, 4), 'Iris-setosa')
    """
    from sklearn.datasets import fetch_openml

    try:
        with warnings.catch_warnings():
            # scikit-learn warns at each of its retries; our error says it once.
            warnings.filterwarnings("ignore", "A network error occurred")
            data = fetch_openml(data_id=data_id, as_frame=False, parser="liac-arff")
    except OSError as error:
        raise FileNotFoundError(
            f"The data set {name} is missing: there is no data folder, and OpenML cannot be "
            f"reached ({error}). Connect to a network, or put {files} into a folder and "
            f"{HOW_TO_NAME_A_FOLDER}."
        ) from error
    return np.asarray(data.data), np.asarray(data.target, dtype=str)
