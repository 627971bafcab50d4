"""Rows of two classes whose weights may be correlated."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .belief import Belief
from .block_rows import BlockRows
from .outputs import multiply_sites, outputs_in_parts, part_buffer


class FullRows(BlockRows):
    """Rows whose sites are updated a block at a time; weights may be correlated.

    A sweep takes O(n d^2).

    Parameters
    ----------
    X : {array, CSR} of shape (n, d)
        Points. If there is one weight more than features, it is the intercept.
    y : array of shape (n,)
        Labels, +1 and -1.
    weight : array of shape (n,)
        How often each row counts.
    noise : float
        Variance of the noise on outputs.
    blocks : list of slices or arrays of indices
        The rows of each block; see `even_blocks` and `growing_blocks`.
    """

    def __init__(self, X, y: np.ndarray, weight: np.ndarray, noise: float, blocks: list):
        super().__init__(
            [_Block(X[b], y[b].copy(), weight[b].copy(), *np.zeros((2, len(y[b])))) for b in blocks]
        )
        self.noise = noise
        self.buffer: np.ndarray | None = None

    def sweep(self, belief: Belief, share: float) -> Belief:
        """Apply a share of the update of the sites, and return their product."""
        # One buffer for all blocks. Dask's workers return memory of this size to the system at
        # once: allocating it for every block would take a fifth of their time.
        self.buffer = part_buffer(belief)
        product = super().sweep(belief, share)
        self.buffer = None
        return product

    def _update(self, block: _Block, belief: Belief, share: float) -> Belief:
        from ..._jit.linear import refine

        product = belief.nothing()
        for here, rows, mean, variance in outputs_in_parts(block.X, belief, self.buffer):
            _, y, weight, precision, shift = (values[here] for values in block)
            self.score += refine(y, weight, mean, variance, self.noise, share, precision, shift)
            multiply_sites(product, rows, weight * precision, weight * shift)
        return product

    def recover(self, belief: Belief, *_) -> Belief:
        """Find lost sites from the belief, without a sweep, as exactly as it determines them."""
        from ..._jit.linear import recover

        self.products = []
        for block in self.blocks:
            product = belief.nothing()
            for here, rows, mean, variance in outputs_in_parts(block.X, belief):
                _, y, weight, *sites = (values[here] for values in block)
                recover(y, weight, mean, variance, self.noise, *sites)
                multiply_sites(product, rows, *(weight * values for values in sites))
            self.products.append(product)
        return self._multiply_blocks(belief)

    def log_constant(self, belief: Belief) -> float:
        """Return the part of the log evidence that comes from these rows."""
        from ..._jit.linear import log_constant

        total = 0.0
        for block in self.blocks:
            for here, _, mean, variance in outputs_in_parts(block.X, belief):
                _, y, weight, *sites = (values[here] for values in block)
                total += log_constant(y, weight, mean, variance, self.noise, *sites)
        return total


class _Block(NamedTuple):
    """A block of rows and their sites."""

    X: Any
    y: np.ndarray
    weight: np.ndarray
    precision: np.ndarray
    shift: np.ndarray
