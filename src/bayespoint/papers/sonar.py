"""The sonar data with the aspect-angle split, as 002 used them."""

from __future__ import annotations

import numpy as np

from ..datasets.paper_data import load_paper_data

# One bit per row: whether it is in the training set. The rows are sorted by their first feature,
# then the second, and so on, so the order of the file does not matter.
ASPECT_TRAIN = "9508569f217c121fe9d7a599e6484ee0d7cde1295a657555b642"


def load_sonar(
    folder: str | None, features: str = "standardized"
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return training points and labels, then test points and labels.

    Parameters
    ----------
    folder : str or None
        Folder with data; by default the environment variable BAYESPOINT_DATA, or OpenML.
    features : {"standardized", "range", "raw"}
        Scaled to mean 0 and variance 1 on the training set, to the range from -1 to 1 on
        the training set, or not. 002 does not say; standardized features come closest to
        its errors (experiment table_18_1).
    """
    X, y = load_paper_data("sonar", folder).values()
    train = np.empty(len(y), dtype=bool)
    train[np.lexsort(X.T[::-1])] = np.unpackbits(np.frombuffer(bytes.fromhex(ASPECT_TRAIN), "u1"))
    if features == "standardized":
        X = (X - X[train].mean(axis=0)) / X[train].std(axis=0)
    elif features == "range":
        low, high = X[train].min(axis=0), X[train].max(axis=0)
        X = (2 * X - low - high) / (high - low)
    return X[train], y[train], X[~train], y[~train]
