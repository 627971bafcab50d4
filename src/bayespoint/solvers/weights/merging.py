"""The product of what two sets of rows said about weights, measured from different centers."""

from __future__ import annotations

import numpy as np
from scipy import linalg

from .belief import Belief


def merge(belief: Belief, factor: Belief, shift: np.ndarray, n_outputs: int) -> Belief:
    """Multiply a belief by a factor whose intercepts are outputs at another center.

    Parameters
    ----------
    belief : Belief
        About the weights of all outputs, with the outputs at the belief's center last, if there
        are intercepts.
    factor : Belief
        The same about outputs at the factor's center.
    shift : array of shape (n_features,)
        The factor's center minus the belief's center.
    n_outputs : int
        Number of outputs.

    Notes
    -----
    The output at the factor's center is the intercept plus <w, shift>. If weights are independent,
    the product is the independent belief closest to the exact one: it has the same mean, and the
    diagonal of its precision. It is exact if the centers are the same.
    """
    if not shift.any():
        return belief.times(factor)
    d = len(shift)
    if belief.is_full:
        move = np.eye(d + 1)
        move[d, :d] = shift
        moves = linalg.block_diag(*[move] * n_outputs)
        moved = Belief(moves.T @ factor.precision @ moves, moves.T @ factor.shift)
        return belief.times(moved)
    mine, theirs = ([values.reshape(n_outputs, -1) for values in each] for each in (belief, factor))
    along = np.append(shift, 1.0)
    # The exact precision is diagonal + last along along'; Sherman and Morrison's rule inverts it.
    last = theirs[0][:, d:]
    diagonal = mine[0] + theirs[0] * np.append(np.ones(d), 0.0)
    shifts = mine[1] + theirs[1] + theirs[1][:, d:] * np.append(shift, 0.0)
    mean, column = shifts / diagonal, along / diagonal
    inner = (mean @ along)[:, None], (column @ along)[:, None]
    mean = mean - column * last * inner[0] / (1 + last * inner[1])
    precision = diagonal + last * along**2
    return Belief(precision.ravel(), (precision * mean).ravel())
