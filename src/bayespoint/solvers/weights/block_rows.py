"""Rows whose sites are updated a block at a time."""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np

from . import anderson
from .belief import Belief
from .points import count_nonzero
from .rows import Fit, Rows

# The states kept for mixing take at most this share of the memory of dense rows.
MAX_MEMORY_SHARE = 0.5
# States that together have at most this many numbers (8 MB) are kept in any case.
MAX_FREE_NUMBERS = 2**20


class BlockRows(Rows):
    """Rows whose sites are updated a block at a time.

    The product of the sites of each block is kept, so that the next block knows what this one
    has learned. The last two fields of a block are its sites: precisions, then shifts.

    Attributes
    ----------
    score : float
        Log probability of the labels in the last sweep, each predicted before its block was
        updated.
    """

    damping = 0.9  # below 1, because the sites of many rows are updated at once

    def __init__(self, blocks: list[Any]):
        self.blocks = blocks
        self.products: list[Belief] = []
        self.memory = anderson.SiteMemory()
        self.n_nonzero = -1  # not counted yet
        self.score = 0.0

    @property
    def mixable_sweeps(self) -> int:
        """How many of the latest sweeps these rows can mix.

        Limited by the memory for states, and by the nonzero entries of the rows: mixing the
        products of blocks should not take longer than a sweep. Small tables have neither limit.
        """
        if self.n_nonzero < 0:
            self.n_nonzero = sum(count_nonzero(block.X) for block in self.blocks)
        # Count sparse rows as if they were dense, so that both give the same result.
        dense_size = sum(block.X.shape[0] * block.X.shape[1] for block in self.blocks)
        product_size = sum(product.precision.size for product in self.products)
        state_size = sum(values.size for values in self._state())
        n = min(
            int(MAX_MEMORY_SHARE * dense_size / max(state_size, 1)),
            int(self.n_nonzero / max(product_size, 1)),
        )
        n = min(anderson.MAX_MIXED_SWEEPS, max(n, MAX_FREE_NUMBERS // max(state_size, 1)))
        return n if n > 1 else 0

    def mix(self, weights: np.ndarray) -> None:
        """Mix the sites after the latest `len(weights)` sweeps, in order, and remember them."""
        self.memory.mix(self._state(), weights)
        for block in self.blocks:
            np.maximum(block[-2], 0.0, out=block[-2])

    def _state(self) -> list[np.ndarray]:
        """Return the sites and their products, to be changed in place."""
        return [values for of in (self.blocks, self.products) for one in of for values in one[-2:]]

    def sweep(self, belief: Belief, share: float) -> Belief:
        """Apply a share of the update of the sites, and return their product."""
        self.score = 0.0
        self.products = self.products or [belief.nothing() for _ in self.blocks]
        for number, block in enumerate(self.blocks):
            product = self._update(block, belief, share)
            belief = belief.over(self.products[number]).times(product)
            self.products[number] = product
            n_learned = sum(done.X.shape[0] for done in self.blocks[: number + 1])
            self.n_learned = max(self.n_learned, n_learned)
            if self.is_over():
                break
        return self._multiply_blocks(belief)

    def learn_once(self, prior: Belief) -> Fit:
        """Sweep over the rows once. Every block is predicted before it is learned."""
        belief = prior.times(self.sweep(prior, 1.0))
        return Fit(belief, prior, self.score, np.inf, 1)

    def _multiply_blocks(self, like: Belief) -> Belief:
        """Set and return the product of the sites of all blocks."""
        self.product = reduce(Belief.times, self.products, like.nothing())
        return self.product

    def _update(self, block, belief: Belief, share: float) -> Belief:
        """Apply a share of the update of a block, add to the score, and return its product."""
        raise NotImplementedError
