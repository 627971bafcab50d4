"""Random generators and random subsets of the training points."""

from __future__ import annotations

import numpy as np
from sklearn.utils import check_random_state

# The generator of a fit is seeded with a random integer below this.
MAX_SEED = np.iinfo(np.int32).max


def new_seed(random_state) -> int:
    """Return the seed of a fit for scikit-learn's `random_state`."""
    return int(check_random_state(random_state).randint(MAX_SEED))


def new_generator(random_state) -> np.random.Generator:
    """Return a NumPy generator for scikit-learn's `random_state`."""
    return np.random.default_rng(new_seed(random_state))


def sample_each_class(
    target: np.ndarray, n: int, rng: np.random.Generator | None = None
) -> np.ndarray:
    """Return the sorted indices of about n random points, at least one of each class.

    Return all points if there are fewer than n. Without a generator the sample depends only on
    the number of points, so that parameters chosen on it do not depend on the user's seed.
    """
    rng = np.random.default_rng(len(target)) if rng is None else rng
    order = rng.permutation(len(target))
    _, first = np.unique(target[order], return_index=True)
    return np.sort(order[np.union1d(first, np.arange(min(n, len(target))))])
