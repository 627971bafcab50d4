"""Expectation propagation for w ~ N(0, .), P(y = 1 | x, w) = Phi(<w, x> / noise)."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg, sparse

# Rows of which products with the covariance are held at once: so many, or so many times the
# number of weights, which keeps the products of the sites of all blocks small beside the rows.
BLOCK = 4096
ROWS_PER_WEIGHT = 4
# Sparse rows stay sparse where only one entry in so many is not zero.
SHORT = 4
# Where rows are swept only once, a block has this share of those before it, but so many.
BLOCK_SHARE = 1 / 4
SMALLEST_BLOCK = 16
# Numbers in a part of a block that is held at once, 128 kB, or rows in units of the number of
# weights if that is more.
PART = 16_000
PART_ROWS = 2
# From so many places rows are taken in turn.
PLACES = 8
# By what the share of an update that is made is multiplied where updates swing, but not below
# this part of the first, and where they do not.
CALMING = 0.8
CALMEST = 0.1
LIVELIER = 1.1
# The logarithm of the prior's factor need not be as exact as weights in standard deviations.
LESS_EXACT = 0.5
# Sites after so many sweeps are mixed, once sweeps change less than this; moves that differ by
# less than this share are the same.
MIXED = 10
NEAR = 1.0
SAME = 1e-6
# Sites that were lost are found again when they move by less.
RECOVERED = 1e-6
# What is remembered for this needs at most this share of the memory of dense rows, and its
# products that of entries that are not zero.
MEMORY = 0.5


class Belief(NamedTuple):
    """A Gaussian by its natural parameters, exp(<shift, w> - <w, precision w> / 2).

    `precision` is a matrix, or its diagonal where weights are independent.
    """

    precision: np.ndarray
    shift: np.ndarray

    @property
    def is_full(self) -> bool:
        """Tell whether weights may be correlated."""
        return self.precision.ndim == 2

    def mean(self) -> np.ndarray:
        """Return the mean of the weights."""
        if self.is_full:
            return linalg.cho_solve(linalg.cho_factor(self.precision), self.shift)
        return self.shift / self.precision

    def covariance(self) -> np.ndarray:
        """Return the covariance, or the variances where weights are independent."""
        if self.is_full:
            return linalg.cho_solve(linalg.cho_factor(self.precision), np.eye(len(self.shift)))
        return 1 / self.precision

    def variances(self) -> np.ndarray:
        """Return the variance of each weight."""
        covariance = self.covariance()
        return np.diagonal(covariance) if self.is_full else covariance

    def scatter(self, noise: np.ndarray) -> np.ndarray:
        """Return standard normal vectors, one a row, with its covariance instead."""
        if self.is_full:
            upper = linalg.cholesky(self.precision)
            return linalg.solve_triangular(upper, noise.T).T
        return noise / np.sqrt(self.precision)

    def log_integral(self) -> float:
        """Return the logarithm of its integral, but for a constant of the dimension."""
        if self.is_full:
            lower = linalg.cholesky(self.precision, lower=True)
            half = linalg.solve_triangular(lower, self.shift, lower=True)
            return float(0.5 * half @ half - np.sum(np.log(np.diagonal(lower))))
        return float(0.5 * np.sum(self.shift**2 / self.precision - np.log(self.precision)))

    def times(self, other: Belief) -> Belief:
        """Return the product."""
        return Belief(self.precision + other.precision, self.shift + other.shift)

    def over(self, other: Belief) -> Belief:
        """Return the quotient."""
        return Belief(self.precision - other.precision, self.shift - other.shift)

    def to_the(self, power: float) -> Belief:
        """Return a power of it."""
        return Belief(power * self.precision, power * self.shift)

    def is_proper(self) -> bool:
        """Tell whether it can be normalized."""
        if self.is_full:
            return linalg.lapack.dpotrf(self.precision)[1] == 0
        return bool(np.all(self.precision > 0))

    def nothing(self) -> Belief:
        """Return the factor of the same kind that says nothing."""
        return Belief(np.zeros_like(self.precision), np.zeros_like(self.shift))

    def moved(self, other: Belief) -> np.ndarray:
        """Return how it moved from another, in standard deviations and shares of the precision."""
        step = self.mean() - other.mean()
        if self.is_full:
            step = linalg.cholesky(self.precision) @ step
            mine, theirs = np.diagonal(self.precision), np.diagonal(other.precision)
        else:
            step *= np.sqrt(self.precision)
            mine, theirs = self.precision, other.precision
        return np.append(step, 1 - theirs / mine)

    def distance(self, other: Belief) -> float:
        """Return how far another is, the root mean square of such moves."""
        return _size(self.moved(other))


class Fit(NamedTuple):
    """The posterior of a training set, and what is known about it.

    The log evidence is that of expectation propagation, or of rows that were learned once the
    log probability of the labels before they were.
    """

    belief: Belief
    prior: Belief
    log_evidence: float
    change: float  # in the last sweep: `Belief.distance`
    n_iter: int


class Rows:
    """Training points with their sites, here or elsewhere."""

    damping = 1.0  # the share of an update that they are asked for, but for the first
    product: Belief | None = None  # of their sites

    @property
    def remembers(self) -> int:
        """How many of the latest sweeps they can mix."""
        return 0

    def sweep(self, belief: Belief, share: float) -> Belief:
        """Make a share of the update of the sites, and return their product."""
        raise NotImplementedError

    def mix(self, weights: np.ndarray) -> None:
        """Mix the sites after the latest sweeps, the last one last, and remember as many."""
        raise NotImplementedError

    def log_constant(self, belief: Belief) -> float:
        """Return their part of the log evidence."""
        raise NotImplementedError

    def recover(self, belief: Belief, product: Belief, n_sweeps: int) -> Belief:
        """Find sites again that were lost; return their product.

        The belief holds the product that they had. Here they are learned from the rest of it, in
        so many sweeps at most.
        """
        rest = belief.over(product)
        belief = rest.times(self.product or belief.nothing())
        for _ in range(n_sweeps):
            product = self.sweep(belief, self.damping)
            last, belief = belief, rest.times(product)
            if belief.distance(last) <= RECOVERED:
                break
        return product


class Scale:
    """Prior variances that are known but for a factor, which the evidence chooses.

    Parameters
    ----------
    unit : array of shape (n_features,)
        The variances for a factor of one.
    noise : float
        Variance of the noise on outputs.
    intercept : float
        Prior variance of an intercept, relative to that of prior outputs and noise; 0 if
        there is none.
    n_outputs : int
        Number of outputs, which have such weights each.

    Notes
    -----
    At the largest evidence, the mean square of the means is what MacKay's rule says: the
    sum of w_j^2 / unit_j is the factor times the number of weights that are determined by
    the data, sum_j (1 - variance_j / prior variance_j). As the rule comes close slowly, it is
    taken for one equation in the logarithm of the factor and solved by secants, a step
    between two sweeps. A few imagined weights for a factor of one, and limits, keep it finite
    where the evidence does not: it is flat where all labels can be had.
    """

    # The imagined weights, the smallest slope that is believed, the longest step, and how far
    # it may go, in logarithms.
    IMAGINED = 2.0
    FLATTEST = 0.05
    LONGEST = np.log(10.0)
    LIMITS = np.log([1e-4, 1e2])

    def __init__(self, unit: np.ndarray, noise: float, intercept: float, n_outputs: int):
        self.unit = unit
        self.n_outputs = n_outputs
        self.noise = noise
        self.intercept = intercept
        self.log_factor = 0.0
        self._before: tuple[float, float] | None = None

    def prior(self, full: bool) -> Belief:
        """Return what is known before training, of a kind."""
        return independent(np.tile(self.variances(), self.n_outputs), full)

    def variances(self) -> np.ndarray:
        """Return the prior variance of each weight of an output, the intercept last."""
        factor = np.exp(self.log_factor) * (self.noise or 1.0)
        variances = factor * self.unit
        if not self.intercept:
            return variances
        return np.append(variances, self.intercept * (self.noise + factor))

    def begin(self) -> None:
        """Forget what was asked for by other rows."""
        self._before = None

    def asked(self, belief: Belief) -> float:
        """Return what the rule asks for: the logarithm of the factor, less what it is."""
        n = len(self.unit)
        prior = self.variances()[:n]
        mean, variances = (
            values.reshape(self.n_outputs, -1)[:, :n]
            for values in (belief.mean(), belief.variances())
        )
        determined = np.sum(1 - variances / prior)
        squares = np.sum(mean**2 / prior) * np.exp(self.log_factor)
        wanted = np.log((squares + self.IMAGINED) / (max(determined, 0.0) + self.IMAGINED))
        return float(np.clip(wanted, *self.LIMITS) - self.log_factor)

    def step(self, asked: float) -> None:
        """Step towards the factor where nothing is asked for."""
        step = asked
        if self._before is not None:
            place, asked_there = self._before
            slope = (asked - asked_there) / (self.log_factor - place or 1.0)
            if slope < 0:
                step = asked / np.clip(-slope, self.FLATTEST, 1.0)
        self._before = self.log_factor, asked
        self.go_to(self.log_factor + step)

    def go_to(self, log_factor: float) -> None:
        """Go to a factor, but not too far."""
        step = np.clip(log_factor - self.log_factor, -self.LONGEST, self.LONGEST)
        self.log_factor = float(np.clip(self.log_factor + step, *self.LIMITS))


def iterate(
    rows: Rows,
    prior: Belief,
    max_iter: int,
    tol: float,
    *,
    scale: Scale | None = None,
    start: Belief | None = None,
) -> Fit:
    """Sweep over rows until the posterior moves no more.

    Parameters
    ----------
    rows : Rows
        What to learn from.
    prior : Belief
        What was known before.
    max_iter, tol : int, float
        Stop after so many sweeps, or when a sweep moves it by less (see `Belief.distance`).
    scale : Scale, default=None
        Improves the prior on the way.
    start : Belief, default=None
        What the first sweep takes for known; the prior by default.
    """
    belief, sites = start or prior, prior.nothing()
    damping, change, n_iter = rows.damping, np.inf, 0
    past: list[_Past] = []
    scale = None if scale is None or scale.noise == 0 else scale  # then it does not matter
    asked = 0.0 if scale is None else np.inf
    if scale is not None:
        scale.begin()
    while n_iter < max_iter and max(change, LESS_EXACT * abs(asked)) > tol:
        before = change
        if past:
            prior, belief = _mix(rows, past, prior, scale)
        elif scale is not None and change <= max(tol, abs(asked)) < np.inf:
            scale.step(asked)  # else sweeps may change as much what is asked
            prior = scale.prior(prior.is_full)
            belief = prior.times(sites)
            before = np.inf  # what a new prior moves is no swing
        share = damping if n_iter else 1.0
        sites = rows.sweep(belief, share)
        last, belief = belief, prior.times(sites)
        move = belief.moved(last) / share
        change = _size(move)
        if scale is not None:
            asked = scale.asked(belief)
        if max(change, LESS_EXACT * abs(asked)) <= NEAR and rows.remembers:
            log_factor = 0.0 if scale is None else scale.log_factor
            past = [*past, _Past(sites, log_factor, asked, move)][-rows.remembers :]
        else:  # sweeps that are mixed should be alike
            past = []
            damping *= CALMING if change > before else LIVELIER
            damping = np.clip(damping, CALMEST * rows.damping, rows.damping)
        n_iter += 1
    log_evidence = rows.log_constant(belief) + belief.log_integral() - prior.log_integral()
    return Fit(belief, prior, float(log_evidence), change, n_iter)


class _Past(NamedTuple):
    """What a sweep found: sites, what is asked of the scale, and by how much weights moved."""

    sites: Belief
    log_factor: float
    asked: float
    move: np.ndarray


def _size(move: np.ndarray) -> float:
    """Return the root mean square of a move of weights and of their precision."""
    return float(np.linalg.norm(move) / np.sqrt(len(move) / 2))


def _mix(
    rows: Rows, past: list[_Past], prior: Belief, scale: Scale | None
) -> tuple[Belief, Belief]:
    """Mix sites and scales after the latest sweeps; return the prior and what is known.

    Anderson's method (1965): as if sweeps were linear, they are mixed as the moves of their
    sweeps cancel best. It takes away the few slow modes that are left near the end, those of
    features that few rows have, and the swings of workers that do not know of each other.
    """
    moves = np.array([np.append(one.move, one.asked) for one in past])
    weights = np.ones(1)
    if len(past) > 1:
        weights = linalg.lstsq((moves[-1] - moves[:-1]).T, moves[-1], cond=SAME)[0]
        weights = np.append(weights, 1 - weights.sum())
    while True:
        if scale is not None:
            scale.go_to(float(weights @ [one.log_factor + one.asked for one in past]))
            prior = scale.prior(prior.is_full)
        belief = prior.times(mixed(weights, (one.sites for one in past)))
        # Beyond that, sweeps are not linear, and products of blocks may be worse than their sum.
        near = belief.is_proper() and belief.distance(prior.times(past[-1].sites)) <= NEAR
        if near or len(past) == 1:
            rows.mix(weights)
            return prior, belief
        del past[:-1]
        weights = np.ones(1)


def mixed(weights: np.ndarray, beliefs: Iterable[Belief]) -> Belief:
    """Return the product of powers of beliefs."""
    powers = (belief.to_the(weight) for weight, belief in zip(weights, beliefs, strict=True))
    return reduce(Belief.times, powers)


def independent(variances: np.ndarray, full: bool) -> Belief:
    """Return what is known of independent weights with mean zero."""
    precision = 1 / variances
    return Belief(np.diag(precision) if full else precision, np.zeros(len(variances)))


class _Memory:
    """The latest states, to be mixed; the place of the oldest is taken by the next."""

    def __init__(self) -> None:
        self.states = np.empty((0, 0))
        self.places: list[int] = []  # of the latest, the last one last

    def mix(self, state: list[np.ndarray], weights: np.ndarray) -> None:
        """Remember a state, and change it to the mixture of as many as there are weights."""
        ends = np.cumsum([values.size for values in state])
        if not self.places:
            self.states = np.zeros((MIXED, ends[-1]))
        kept = self.places[len(self.places) + 1 - len(weights) :]
        place = min(set(range(MIXED)) - set(kept))
        self.places = [*kept, place]
        by_place = np.zeros(max(self.places) + 1)
        by_place[self.places] = weights
        # A part at a time: large arrays that come and go are slow for Dask's workers.
        for values, part in zip(state, np.split(self.states, ends[:-1], axis=1), strict=True):
            part[place] = values.ravel()
            values[...] = (by_place @ part[: len(by_place)]).reshape(values.shape)


class InBlocks(Rows):
    """Rows whose sites are updated a block at a time.

    The product of the sites of each block is kept, so that what a block learns is known to
    the next. The last two fields of a block are its sites, first their precision.

    Attributes
    ----------
    score : float
        Log probability of the labels, each given all that the last sweep knew when it came
        to it.
    """

    damping = 0.9  # as sites of many rows are updated at once

    def __init__(self, blocks: list[Any]):
        self.blocks = blocks
        self.products: list[Belief] = []
        self.memory = _Memory()
        self.n_entries = -1  # that are not zero; not counted yet
        self.score = 0.0

    @property
    def remembers(self) -> int:
        """How many of the latest sweeps they can mix."""
        if self.n_entries < 0:
            points = (block.X for block in self.blocks)
            entries = (X.data if sparse.issparse(X) else X for X in points)
            self.n_entries = sum(map(np.count_nonzero, entries))
        # The same for sparse rows and dense ones, so that both give the same.
        rows = sum(block.X.shape[0] * block.X.shape[1] for block in self.blocks)
        products = sum(product.precision.size for product in self.products)
        state = sum(values.size for values in self._state())
        n = min(MIXED, int(MEMORY * rows / max(state, 1)), int(self.n_entries / max(products, 1)))
        return n if n > 1 else 0

    def mix(self, weights: np.ndarray) -> None:
        """Mix the sites after the latest sweeps, the last one last, and remember as many."""
        self.memory.mix(self._state(), weights)
        for block in self.blocks:
            np.maximum(block[-2], 0.0, out=block[-2])

    def _state(self) -> list[np.ndarray]:
        """Return the sites and their products, to be changed in place."""
        return [values for of in (self.blocks, self.products) for one in of for values in one[-2:]]

    def sweep(self, belief: Belief, share: float) -> Belief:
        """Make a share of the update of the sites, and return their product."""
        self.score = 0.0
        self.products = self.products or [belief.nothing() for _ in self.blocks]
        for number, block in enumerate(self.blocks):
            product = self._update(block, belief, share)
            belief = belief.over(self.products[number]).times(product)
            self.products[number] = product
        self.product = reduce(Belief.times, self.products, belief.nothing())
        return self.product

    def learn_once(self, prior: Belief) -> Fit:
        """Sweep over the rows once; every block is predicted before it is learned."""
        belief = prior.times(self.sweep(prior, 1.0))
        return Fit(belief, prior, self.score, np.inf, 1)

    def _update(self, block, belief: Belief, share: float) -> Belief:
        """Make a share of the update of a block, add to the score, and return its product."""
        raise NotImplementedError


class FullRows(InBlocks):
    """Rows whose sites are updated a block at a time; weights may be correlated.

    O(n d^2) a sweep.

    Parameters
    ----------
    X : {array, CSR} of shape (n, d)
        Points. One weight more than features is the intercept.
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
        self.room: np.ndarray | None = None

    def sweep(self, belief: Belief, share: float) -> Belief:
        """Make a share of the update of the sites, and return their product."""
        # Asking for it at every block would cost Dask's workers a fifth of their time: they
        # give memory of this size back at once.
        self.room = _room(belief)
        product = super().sweep(belief, share)
        self.room = None
        return product

    def _update(self, block: _Block, belief: Belief, share: float) -> Belief:
        from ..._jit.linear import refine

        product = belief.nothing()
        for here, rows, mean, variance in _outputs(block.X, belief, self.room):
            _, y, weight, precision, shift = (values[here] for values in block)
            self.score += refine(y, weight, mean, variance, self.noise, share, precision, shift)
            _multiply(product, rows, weight * precision, weight * shift)
        return product

    def recover(self, belief: Belief, *_) -> Belief:
        """Find sites that were lost, as well as the belief knew them, without a sweep."""
        from ..._jit.linear import recover

        self.products = []
        for block in self.blocks:
            product = belief.nothing()
            for here, rows, mean, variance in _outputs(block.X, belief):
                _, y, weight, *sites = (values[here] for values in block)
                recover(y, weight, mean, variance, self.noise, *sites)
                _multiply(product, rows, *(weight * values for values in sites))
            self.products.append(product)
        self.product = reduce(Belief.times, self.products, belief.nothing())
        return self.product

    def log_constant(self, belief: Belief) -> float:
        """Return their part of the log evidence."""
        from ..._jit.linear import log_constant

        total = 0.0
        for block in self.blocks:
            for here, _, mean, variance in _outputs(block.X, belief):
                _, y, weight, *sites = (values[here] for values in block)
                total += log_constant(y, weight, mean, variance, self.noise, *sites)
        return total


class _Block(NamedTuple):
    """Some rows and their sites."""

    X: Any
    y: np.ndarray
    weight: np.ndarray
    precision: np.ndarray
    shift: np.ndarray


def even_blocks(n_rows: int, n_features: int) -> list[slice]:
    """Return large blocks, each with rows from everywhere, as they may be sorted."""
    n_blocks = -(-n_rows // max(BLOCK, ROWS_PER_WEIGHT * n_features))
    return [slice(i, None, n_blocks) for i in range(n_blocks)]


def growing_blocks(n_rows: int, n_known: float) -> list:
    """Return blocks that are small beside what is known before them, so that one sweep will do.

    Parameters
    ----------
    n_rows : int
        Number of rows.
    n_known : float
        Number of rows that the prior knows.
    """
    ends = [0]
    while ends[-1] < n_rows:
        size = min(max(SMALLEST_BLOCK, BLOCK_SHARE * (n_known + ends[-1])), BLOCK)
        ends.append(ends[-1] + int(size))
    return [slice(None)] if len(ends) <= 2 else np.split(mixed_order(n_rows), ends[1:-1])


def mixed_order(n_rows: int) -> np.ndarray:
    """Return an order that takes rows from several places in turn.

    Sorted by label, rows would mislead the first sweep. At random they would be slow: a
    processor fetches from a few places in advance, not from everywhere.
    """
    length = -(-n_rows // PLACES)
    order = np.arange(PLACES * length).reshape(PLACES, length).T.ravel()
    return order[order < n_rows]


class FactorizedRows(Rows):
    """Rows whose sites are updated one after the other; weights are independent.

    O(nnz) a sweep, and 16 bytes for each entry that is not zero.

    Parameters
    ----------
    X : CSR of shape (n, d)
        Points. One weight more than features is the intercept.
    y, weight, noise
        As for `FullRows`.
    intercept : bool
        Whether there is one.
    """

    def __init__(self, X, y: np.ndarray, weight: np.ndarray, noise: float, intercept: bool):
        self.entries = entries(X)
        self.y, self.weight, self.noise = y, weight, noise
        self.order, self.intercept = mixed_order(len(y)), intercept
        self.sites: tuple[np.ndarray, ...] = ()

    def sweep(self, belief: Belief, share: float) -> Belief:
        """Make a share of the update of the sites, and return their product."""
        from ..._jit.linear import sweep

        if not self.sites:
            n_sites = len(self.entries[0]) + len(self.y) * self.intercept
            self.sites = np.zeros(n_sites), np.zeros(n_sites)
        product = self.product or belief.nothing()
        after = Belief(belief.precision.copy(), belief.shift.copy())
        data = *self.entries, self.order, self.y, self.weight, self.noise
        before = [sites.copy() for sites in self.sites] if share < 1 else []
        sweep(*data, *after, *self.sites)
        for old, new in zip(before, self.sites, strict=False):
            new[:] = old + share * (new - old)
        self.product = product.times(after.over(belief).to_the(share))
        return self.product

    def learn_once(self, prior: Belief) -> Fit:
        """Sweep over the rows once; every row is predicted before it is learned."""
        from ..._jit.linear import learn

        belief = np.column_stack([prior.mean(), prior.variances()])
        data = *self.entries, self.order, self.y, self.weight, self.noise, self.intercept
        score = learn(*data, belief)
        mean, variance = belief.T.copy()
        return Fit(Belief(1 / variance, mean / variance), prior, score, np.inf, 1)

    def log_constant(self, belief: Belief) -> float:
        """Return their part of the log evidence."""
        from ..._jit.linear import log_constant_of_entries

        data = (*self.entries, self.y, self.weight, self.noise)
        return log_constant_of_entries(*data, *belief, *self.sites)


def entries(X) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the arrays of a CSR matrix for compiled loops, with unsigned indices.

    Signed ones may be negative, and count from the end: loops would test each of them.
    """
    indices, indptr = (a.view(f"u{a.itemsize}") for a in (X.indices, X.indptr))
    return X.data, indices, indptr


def fit_full(X, y, weight, prior: Belief, noise: float, max_iter: int, tol: float, **options):
    """Return the fit of correlated weights to all rows; see `FullRows` and `iterate`."""
    rows = FullRows(X, y, weight, noise, even_blocks(*X.shape))
    return iterate(rows, prior, max_iter, tol, **options)


def outputs(X, belief: Belief) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and variance of <w, x> for every row, with the intercept if there is one."""
    if belief.is_full:
        means, variances = np.empty(X.shape[0]), np.empty(X.shape[0])
        for here, _, mean, variance in _outputs(X, belief):
            means[here], variances[here] = mean, variance
        return means, variances
    weights, variances = belief.mean(), belief.covariance()
    squared = X.power(2) if sparse.issparse(X) else X**2
    return _dot(X, weights), _dot(squared, variances)


def _room(belief: Belief) -> np.ndarray:
    """Return memory for a part of dense rows, twice, that stays in the cache."""
    d = len(belief.shift)
    return np.empty((2, max(PART // d, PART_ROWS * d), d))


def _outputs(X, belief: Belief, room: np.ndarray | None = None):
    """Yield parts of rows, as `_multiply` wants them, with mean and variance of their outputs.

    Dense parts are in the room, where the next overwrites them.
    """
    lower = linalg.cholesky(belief.precision, lower=True, check_finite=False)
    root = linalg.lapack.dtrtri(lower, lower=1)[0]
    half = root @ belief.shift
    if _has_short_rows(X):
        from ..._jit.linear import output_variances

        variance, intercept = np.empty(X.shape[0]), len(half) > X.shape[1]
        output_variances(*entries(X), root.T @ root, intercept, variance)
        yield slice(None), X, _dot(X, root.T @ half), variance
        return
    rows, halves = _room(belief) if room is None else room
    size = len(rows)
    for start in range(0, X.shape[0], size):
        here = slice(start, start + size)
        part = X[here]
        n = part.shape[0]
        rows[:n, : X.shape[1]] = part.toarray() if sparse.issparse(part) else part
        rows[:n, X.shape[1] :] = 1.0
        halves[:n] = rows[:n]
        parts = linalg.blas.dtrmm(1.0, root, halves[:n].T, lower=1, overwrite_b=1)
        yield here, rows[:n], half @ parts, np.einsum("ij,ij->j", parts, parts)


def _multiply(product: Belief, rows, precision: np.ndarray, shift: np.ndarray) -> None:
    """Multiply a product, in place, by the sites of rows that come from `_outputs`."""
    total, shifts = product
    if sparse.issparse(rows):
        from ..._jit.linear import add_products

        intercept = len(shifts) > rows.shape[1]
        add_products(*entries(rows), precision, intercept, total)
        shifts += np.append(shift @ rows, [shift.sum()] * intercept)
        return
    shifts += shift @ rows
    rows *= np.sqrt(precision)[:, None]
    total += rows.T @ rows


def _has_short_rows(X) -> bool:
    """Tell whether products of the entries of rows are faster than matrix products."""
    return sparse.issparse(X) and SHORT * X.nnz <= X.shape[0] * X.shape[1]


def _dot(X, weights: np.ndarray) -> np.ndarray:
    """Return the outputs of weights, with the intercept if there is one."""
    return X @ weights[: X.shape[1]] + weights[X.shape[1] :].sum()
