"""What single hypotheses say about rows: where they disagree, and what an answer would tell."""

from __future__ import annotations

import numpy as np
from scipy.special import entr
from sklearn.utils import _safe_indexing

from .margin import margin

# Hypotheses that vote. More of them change the order of rows only where they hardly differ.
MAX_DRAWS = 128
# Rows about which an answer should say much: a random sample of the pool.
TARGET_ROWS = 100
# Joint probabilities that are computed at once.
BLOCK_ENTRIES = 2**22


def halving(model, X, rng=None) -> np.ndarray:
    """Return how evenly an answer divides version space, for each row.

    This is the share of hypotheses that are ruled out by the answer that most of them expect.
    Where they all agree, the margin decides.
    """
    votes = _votes(model, X)
    n_classes = len(model.classes_)
    largest = np.max([np.mean(votes == c, axis=0) for c in range(n_classes)], axis=0)
    # The margin is in [-1, 0], and one vote more or less counts 1 / n_draws.
    return 1 - largest + (margin(model, X) + 0.5) / (2 * len(votes))


def information_gain(model, X, rng) -> np.ndarray:
    """Return what the answer about each row would tell about other rows, in nats.

    The mean over random rows x* of the information between the classes of x and x*, in which
    every hypothesis gives its own probabilities.
    """
    n_rows = np.shape(X)[0]
    chosen = rng.choice(n_rows, min(TARGET_ROWS, n_rows), replace=False)
    target = _probabilities(model, _safe_indexing(X, chosen))
    n_draws, n_targets, n_classes = target.shape
    of_targets = target.transpose(0, 1, 2).reshape(n_draws, -1)
    certain = entr(target.mean(axis=0)).sum(axis=1).mean()
    found = []
    step = max(1, BLOCK_ENTRIES // (n_classes * of_targets.shape[1]))
    for start in range(0, n_rows, step):
        rows = np.arange(start, min(start + step, n_rows))
        here = _probabilities(model, _safe_indexing(X, rows))
        joint = here.reshape(n_draws, -1).T @ of_targets / n_draws
        joint = joint.reshape(len(rows), n_classes, n_targets, n_classes)
        of_both = entr(joint).sum(axis=(1, 3)).mean(axis=1)
        found.append(entr(here.mean(axis=0)).sum(axis=1) + certain - of_both)
    return np.concatenate(found)


def _outputs(model, X) -> np.ndarray:
    """Return the outputs of hypotheses, of shape (n_draws, n_rows, n_outputs)."""
    if not hasattr(model, "sample_decision"):
        raise TypeError(
            'method="halving" and "information" need single hypotheses (sample_decision), but '
            f'{type(model).__name__} has none. Use BayesPointClassifier, or method="margin".'
        )
    outputs = model.sample_decision(X)[:MAX_DRAWS]
    return outputs[:, :, None] if outputs.ndim == 2 else outputs


def _votes(model, X) -> np.ndarray:
    """Return the class that each hypothesis gives to each row."""
    outputs = _outputs(model, X)
    return outputs.argmax(axis=2) if outputs.shape[2] > 1 else (outputs[:, :, 0] > 0).astype(int)


def _probabilities(model, X) -> np.ndarray:
    """Return each hypothesis' probabilities, of shape (n_draws, n_rows, n_classes)."""
    return np.stack([model._probabilities(model.probit_scale_ * o) for o in _outputs(model, X)])
