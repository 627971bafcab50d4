"""Points on a worker as features on landmarks, with the sites of expectation propagation."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from .._runtime.threads import one_blas_thread
from ..fitting.landmarks_fit import Landmarks, feature_map, noise_of
from ..fitting.power_link import known_outcomes
from ..fitting.temperature import log_likelihood
from ..geometry.kernels import Kernel
from ..geometry.unit_kernel import lengths_in_blocks
from ..solvers.propagation.on_features import FEATURE_ROWS_PER_BLOCK, Blocks, Sums
from .calls import here
from .medians import count_bits
from .row_parts import Part, join


class Span(NamedTuple):
    """What a worker needs to know to describe its points by features."""

    kernel: Kernel
    points: Any  # the landmarks
    landmarks: Landmarks
    single: bool  # precision
    softness: float
    weighted: bool  # whether weights count, or only that they are positive
    n_classes: int
    n_points: int  # in all portions
    n_bytes: int  # for the features of a portion


class Sweep(NamedTuple):
    """A sweep that a portion has to make, or to repeat if its sites were lost."""

    output: int
    belief: Any
    damping: float


class Answer(NamedTuple):
    """The answer of a worker. The value is None if the sites of the portion were lost."""

    value: Any
    address: str


class FeaturePortion:
    """Points of a cluster on one worker.

    Sites change in place. The number of sweeps tells whether they are those that the client
    knows: a portion that was made again, or that is an old copy, has made fewer.
    """

    def __init__(self, part: Part, span: Span):
        self.target, self.n_classes = part.target, span.n_classes
        self.weight = part.likelihood if span.weighted else np.ones(part.n_rows)
        self.n_points = span.n_points
        self.features = features_of(part.X, span)
        slices = range(0, part.n_rows, FEATURE_ROWS_PER_BLOCK)
        # One at a time: features that do not fit in memory are computed for each block.
        blocks = (self.features[i : i + FEATURE_ROWS_PER_BLOCK] for i in slices)
        self.noise = np.concatenate([noise_of(block, span.softness) for block in blocks])
        self.forget()

    def __sizeof__(self) -> int:
        """Return the bytes of all arrays, for Dask, which moves portions to disk by their size."""
        held = [self.target, self.weight, self.noise, self.loo_mean, self.loo_variance]
        if self.blocks is not None:
            held += [self.blocks.precision, self.blocks.shift, self.blocks.pressure]
            held += [self.blocks.cavity_mean, self.blocks.cavity_variance]
        return self.features.nbytes + sum(values.nbytes for values in held)

    def forget(self) -> None:
        """Return to the state before the first sweep."""
        n_outputs = 1 if self.n_classes == 2 else self.n_classes
        self.n_sweeps, self.output = 0, -1
        self.blocks: Blocks | None = None
        self.loo_mean, self.loo_variance = np.zeros((2, len(self.target), n_outputs))

    def sweep(self, work: Sweep) -> Sums | None:
        """Match the moments of an output."""
        if work.output != self.output:
            right = 1 if self.n_classes == 2 else work.output
            signs = np.where(self.target == right, 1, -1).astype(np.int8)
            given = self.features, signs, self.noise
            self.blocks = Blocks(*given, weight=self.weight, n_points=self.n_points)
            self.output = work.output
        assert self.blocks is not None
        sums = self.blocks.sweep(work.belief, work.damping)
        self.loo_mean[:, self.output] = self.blocks.cavity_mean
        self.loo_variance[:, self.output] = self.blocks.cavity_variance
        self.n_sweeps += 1
        return sums


class LazyFeatures:
    """Features that are computed anew for each block, if they do not fit in memory."""

    def __init__(self, X, lengths: np.ndarray, to_features, n_features: int, dtype):
        self.X, self.lengths, self.to_features = X, lengths, to_features
        self.shape, self.dtype = (len(lengths), n_features), np.dtype(dtype)
        self.last: tuple[int, Any] = (-1, None)

    @property
    def nbytes(self) -> int:
        """Return the bytes of the points."""
        X = self.X
        return X.data.nbytes + X.indices.nbytes if sparse.issparse(X) else X.nbytes

    def __getitem__(self, block: slice) -> np.ndarray:
        """Return the features of a block of points."""
        if self.last[0] != block.start:
            self.last = block.start, self.to_features(self.X[block], self.lengths[block])
        return self.last[1]


def features_of(X, span: Span) -> Any:
    """Return features of points, which are stored if there is memory for them."""
    lengths = lengths_in_blocks(span.kernel, X)
    to_features = feature_map(span.kernel, span.points, span.landmarks, span.single)
    dtype: Any = np.float32 if span.single else np.float64
    n_features = len(span.landmarks.rows)
    lazy = LazyFeatures(X, lengths, to_features, n_features, dtype)
    if np.dtype(dtype).itemsize * X.shape[0] * n_features > span.n_bytes:
        return lazy
    features = np.empty(lazy.shape, dtype=dtype)
    for start in range(0, len(features), FEATURE_ROWS_PER_BLOCK):
        block = slice(start, start + FEATURE_ROWS_PER_BLOCK)
        features[block] = lazy[block]
    return features


# Tasks


def make_portion(span: Span, pieces: list[Part]) -> FeaturePortion:
    """Return points with their features."""
    with one_blas_thread():
        return FeaturePortion(join(pieces), span)


def sweep(portion: FeaturePortion, n_known: int, work: Sweep) -> Answer:
    """Match the moments of an output; return the sums over the points."""
    if portion.n_sweeps != n_known:
        return Answer(None, here())
    with one_blas_thread():
        return Answer(portion.sweep(work), here())


def forget(portion: FeaturePortion) -> Answer:
    """Return to the state before the first sweep."""
    portion.forget()
    return Answer(True, here())


def count_variances(portion: FeaturePortion, n_known: int, *given) -> Answer:
    """Return what `count_bits` says about the variances of left-out outputs."""
    if portion.n_sweeps != n_known:
        return Answer(None, here())
    variance = portion.loo_variance
    weight = np.repeat(portion.weight, variance.shape[1])
    return Answer(count_bits(variance.reshape(-1, 1), weight, *given), here())


def likelihood_at(portion: FeaturePortion, n_known: int, factor: float, total: float) -> Answer:
    """Return how probable the classes of left-out points are, if outputs have a factor."""
    if portion.n_sweeps != n_known:
        return Answer(None, here())
    outputs = portion.loo_mean / np.sqrt(portion.loo_variance)
    known = known_outcomes(portion.target, portion.n_classes, portion.weight, total)
    return Answer(log_likelihood(factor, outputs, known), here())
