"""Problems for permuted perceptrons, and algorithm 1 of 000 as a slow twin."""

import numpy as np

from bayespoint.geometry.kernels import Kernel
from bayespoint.geometry.row_store import UNIT, RowStore
from bayespoint.geometry.unit_kernel import AnyKernel
from bayespoint.solvers import Perceptron
from bayespoint.solvers.members import Members

NOBODY = np.array([], dtype=int)


def store_of(matrix):
    """Return a store of all rows of a Gram matrix with unit diagonal."""
    kernel = AnyKernel(Kernel("precomputed"), matrix, np.ones(len(matrix)))
    return RowStore(kernel, len(matrix))


def teacher_problem(m, n, seed, n_outputs=1):
    """Return the Gram matrix of random unit points, and labels by teachers."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((m, n))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    signs = np.where(rng.standard_normal((n_outputs, n)) @ X.T > 0, 1, -1).astype(np.int8)
    # The row store rounds in the same way.
    matrix = np.rint((X @ X.T) / UNIT) * UNIT
    np.fill_diagonal(matrix, 1.0)
    return matrix, signs


def slow_perceptron(matrix, y, order, softness=0.0):
    """Run algorithm 1 of 000 exactly as printed."""
    matrix = matrix + softness * np.eye(len(y))
    alpha = np.zeros(len(y), dtype=int)
    consistent = False
    while not consistent:
        consistent = True
        for i in order:
            if y[i] * (matrix[i] @ (alpha * y)) <= 0:
                alpha[i] += 1
                consistent = False
    return alpha


def learned(
    matrix, signs, *, n_members=3, softness=0.0, held_out=NOBODY, seed=0, step=1.0, **limits
):
    members = Members.at_start(signs, held_out, seed, softness, n_members, step=step)
    stop = Perceptron(n_members, **limits).solve(store_of(matrix), members)
    return members, stop


def contradiction(m=40):
    matrix, signs = teacher_problem(m, 5, 0)
    matrix = np.block([[matrix, matrix], [matrix, matrix]])
    signs = np.concatenate([signs, signs], axis=1)
    signs[0, m : m + 5] *= -1
    return matrix, signs
