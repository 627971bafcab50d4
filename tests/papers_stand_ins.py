"""Generated data in place of the papers' data, with the same shapes."""

import numpy as np
from sklearn.datasets import load_digits
from sklearn.utils import Bunch

from bayespoint.datasets.paper_data import PAPER_DATA

N_TRAIN = 60
N_SPLITS = 8


def make_folder(folder) -> None:
    rng = np.random.default_rng(0)
    for file, shape, *_ in PAPER_DATA.values():
        X = rng.standard_normal(shape)
        y = np.where(X[:, 0] * X[:, 1] + 0.3 * rng.standard_normal(len(X)) > 0, 1, -1)
        orders = np.stack([rng.permutation(len(X)) for _ in range(N_SPLITS)])
        (folder / file).parent.mkdir(exist_ok=True)
        np.savez(
            folder / file,
            X=X,
            y=y,
            train_idx=orders[:2, :N_TRAIN],
            test_idx=orders[:2, N_TRAIN : 2 * N_TRAIN],
            gen_train_idx=orders[:, :N_TRAIN],
        )


def load_small_digits(name, folder=None) -> Bunch:
    """Return scikit-learn's digits in place of MNIST or USPS."""
    X, y = load_digits(return_X_y=True)
    X = X / 16
    return Bunch(X_train=X[:1000], y_train=y[:1000], X_test=X[1000:], y_test=y[1000:])
