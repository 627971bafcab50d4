"""Training in the span of landmarks: EP on the features of all points."""

from __future__ import annotations

import math
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy import linalg

from .._runtime.interrupt import interrupts
from .._runtime.progress import Progress
from .._runtime.threads import threads
from ..geometry.gram import unit_gram
from ..geometry.kernels import Kernel
from ..geometry.points import in_double
from ..geometry.unit_kernel import ProductKernel, panels
from ..solvers.propagation.approximation import trust_in
from ..solvers.propagation.on_features import FEATURE_ROWS_PER_BLOCK
from .probabilities import typical_variance
from .sampling import sample_each_class
from .task import Answer, Task
from .time_budget import affordable_points, solve_in_turn, warn_unless_converged
from .training_points import kernel_matrix, single_precision_pays, used_points

# A landmark must add at least this squared length to the span of the other landmarks. Less is
# lost to single-precision rounding, which is amplified by one over its root.
MIN_NEW_SQUARED_LENGTH = 1e-5
# Estimates for a slow machine, all sweeps together: seconds for each entry of the features, and
# for each entry times the number of landmarks.
SECONDS_PER_ENTRY = 8e-8
SECONDS_PER_PRODUCT = 1e-9


class Landmarks(NamedTuple):
    """The points that span all hypotheses."""

    rows: np.ndarray  # their indices in the training set
    lengths: np.ndarray  # in feature space
    to_basis: np.ndarray  # kernel values of unit points times this are coordinates


def fit_landmarks(task: Task, progress: Progress) -> Answer:
    """Return the Bayes points of all outputs, in the span of landmarks."""
    # Ctrl-C is noted at any time, and acted on when there is an answer to keep.
    with interrupts(), threads(task.n_jobs) as thread_map:
        rows, lengths = used_points(task)
        kept = affordable_points(task, rows, lambda n: _seconds(task, n))
        rows, lengths = rows[kept], lengths[kept]
        _check_memory(task, len(rows))
        landmarks, features = describe_points(task, rows, lengths, thread_map)
        posteriors = _solve(task, rows, features, thread_map, progress)
    warn_unless_converged([p.info for p in posteriors])
    return _answer(task, rows, landmarks, posteriors)


def _seconds(task: Task, n: np.ndarray) -> np.ndarray:
    """Estimate how long n points take."""
    r = np.minimum(n, task.solver.n_landmarks)
    products = SECONDS_PER_PRODUCT * r**2.0 * len(task.signs)
    return n * (SECONDS_PER_ENTRY * r + products)


def memory_needed(m: int, n_outputs: int, n_landmarks: int, itemsize: int, n_draws: int) -> float:
    """Return the megabytes for features, the matrices of a sweep, sites and draws."""
    r = min(m, n_landmarks)
    matrices = 12 * r * r + 4 * FEATURE_ROWS_PER_BLOCK * r
    return (itemsize * m * r + 8 * (matrices + n_outputs * (10 * m + 2 * n_draws * r))) / 2**20


def _check_memory(task: Task, m: int) -> None:
    itemsize = 4 if single_precision_pays(task, task.X, m) else 8
    r = task.solver.n_landmarks
    hypotheses = memory_needed(m, len(task.signs), r, itemsize, task.solver.n_draws)
    needed = hypotheses + task.copied / 2**20
    if needed > task.cache_size:
        raise ValueError(
            f"{min(m, r)} features of {m} training points need about {math.ceil(needed)} MB, but "
            f"cache_size is {task.cache_size:g}. Raise cache_size, or lower n_landmarks of the "
            "solver."
        )


def describe_points(
    task: Task, rows: np.ndarray, lengths: np.ndarray, thread_map=map
) -> tuple[Landmarks, np.ndarray]:
    """Choose landmarks; return them and the coordinates of all points in their span."""
    chosen = sample_each_class(task.target[rows], task.solver.n_landmarks, task.rng)
    single = single_precision_pays(task, task.X, len(rows))
    landmarks = span_of(task, rows[chosen], MIN_NEW_SQUARED_LENGTH if single else 0.0)
    is_matrix = task.kernel.name == "precomputed"
    points = None if is_matrix else task.X[landmarks.rows]
    to_features = feature_map(task.kernel, points, landmarks, single)
    dtype = np.float32 if single else np.float64
    features = np.empty((len(rows), len(landmarks.rows)), dtype=dtype)

    def work(start: int) -> None:
        here = slice(start, min(start + FEATURE_ROWS_PER_BLOCK, len(rows)))
        block = np.ix_(rows[here], landmarks.rows) if is_matrix else rows[here]
        features[here] = to_features(task.X[block], lengths[here])

    for _ in thread_map(work, range(0, len(rows), FEATURE_ROWS_PER_BLOCK)):
        pass
    return landmarks, features


def span_of(task: Task, rows: np.ndarray, least_new: float) -> Landmarks:
    """Make a basis of the span of the given points; drop points that add nothing to it."""
    matrix = kernel_matrix(task.kernel, task.X, rows)
    gram = unit_gram(matrix, 0.0, rows)
    triangle = gram.factor[gram.pivots]
    rank = int(np.sum(np.diagonal(triangle) ** 2 > least_new))
    inverse = linalg.lapack.dtrtri(triangle[:rank, :rank], lower=1)[0]
    kept = gram.pivots[:rank]
    return Landmarks(rows[kept], gram.lengths[kept], np.ascontiguousarray(np.tril(inverse).T))


def feature_map(kernel: Kernel, points, landmarks: Landmarks, single: bool):
    """Return a function from a block of points and their lengths to their features.

    `points` are the landmarks. Without them, blocks are parts of a precomputed kernel.
    """
    if single:
        product = ProductKernel(kernel, points)
        to_basis = landmarks.to_basis.astype(np.float32)

        def fast(block, lengths: np.ndarray) -> np.ndarray:
            left = product.left(block)
            out = np.empty((len(lengths), product.n_points), dtype=np.float32)
            for number, columns in enumerate(panels(product.n_points)):
                part = np.empty((len(out), columns.stop - columns.start), dtype=np.float32)
                product.panel(left, number, part)
                out[:, columns] = part
            return out @ to_basis

        return fast

    def exact(block, lengths: np.ndarray) -> np.ndarray:
        if points is None:
            values = block + kernel.constant
        else:
            values = kernel(in_double(block), in_double(points))
        return values / np.multiply.outer(lengths, landmarks.lengths) @ landmarks.to_basis

    return exact


def noise_of(features: np.ndarray, softness: float) -> np.ndarray:
    """Return the variance of each output that the features do not explain."""
    inside = np.einsum("ij,ij->i", features, features, dtype=np.float64)
    return softness + np.maximum(1 - inside, 0.0)


def _solve(task: Task, rows, features: np.ndarray, thread_map, progress: Progress):
    """Run the solver for each output."""
    noise = noise_of(features, task.softness)
    options = {"thread_map": thread_map}
    if task.weight is not None:
        options["weight"] = task.weight[rows]
    solves = [
        partial(task.solver.solve, features, signs, noise, task.rng, **options)
        for signs in task.signs[:, rows]
    ]
    return solve_in_turn(task, progress, solves)


def _answer(task: Task, rows, landmarks: Landmarks, posteriors) -> Answer:
    """Return the hypotheses with what they say about points that are left out."""
    mean, variance = (
        np.stack([p.info.pop(key) for p in posteriors], axis=-1)
        for key in ("loo_mean", "loo_variance")
    )
    weight = None if task.weight is None else task.weight[rows]
    typical = typical_variance(variance, weight)
    trust = np.array([trust_in(p.info["residual"]) for p in posteriors])
    answer = answer_of(task.softness, landmarks, posteriors, typical)
    return answer._replace(rows=rows, loo=trust * mean / np.sqrt(variance))


def answer_of(softness: float, landmarks: Landmarks, posteriors, typical: float) -> Answer:
    """Express hypotheses by coefficients on the landmarks.

    `typical` is the typical variance of an output, with noise.
    """
    infos = [p.info for p in posteriors]
    to_points = landmarks.to_basis.T / landmarks.lengths
    length = np.array([info.pop("length") for info in infos])
    # Outputs are compared with each other, so all use the unit of the longest. Those that did
    # not converge say less.
    trust = np.array([trust_in(info["residual"]) for info in infos])
    unit = (trust / trust.max() * length / length.max())[:, None]
    weights = unit * np.array([p.coef for p in posteriors])
    return Answer(
        rows=landmarks.rows,
        coef=weights @ to_points,
        draws=unit[:, None] * np.array([p.draws for p in posteriors]) @ to_points,
        chains=unit[:, None] * np.array([p.chains for p in posteriors]) @ to_points,
        resultant=np.linalg.norm(weights, axis=1),
        softness=softness,
        label_noise=0.0,
        probit_scale=float(trust.max() * length.max() / np.sqrt(typical)),
        probit_df=np.inf,
        infos=infos,
        carriers=landmarks.rows,
    )
