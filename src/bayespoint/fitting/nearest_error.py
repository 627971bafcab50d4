"""How often the nearest training point has another label, which tells noise from difficulty."""

from __future__ import annotations

import numpy as np

from ..geometry.kernels import Kernel
from ..geometry.points import in_double
from ..geometry.unit_kernel import panels
from .task import TrainingSet

# Points whose nearest neighbors are looked up among all points. An error of a tenth is then known
# to 0.014 (one standard deviation).
MAX_ASKED_POINTS = 480


def nearest_error(data: TrainingSet, kernel: Kernel) -> float:
    """Return the share of points whose nearest neighbor in feature space has another label.

    Neighbors are those at the smallest angle. With more and more points this share comes to lie
    between the least possible error and twice the least possible error (Cover and Hart, 1967,
    Nearest neighbor pattern classification). A few hundred points cannot tell whether labels are
    noisy or classes are hard to learn; neighbors among all points can.
    """
    points = data.points
    rng = np.random.default_rng(len(points))
    asked = rng.choice(points, min(MAX_ASKED_POINTS, len(points)), replace=False)
    nearest = np.zeros(len(asked), dtype=np.int64)
    highest = np.full(len(asked), -np.inf)
    for here in panels(len(points)):
        others = points[here]
        cosines = _cosines(data, kernel, asked, others)
        cosines[asked[:, None] == others] = -np.inf
        best = cosines.argmax(axis=1)
        value = cosines[np.arange(len(asked)), best]
        nearest = np.where(value > highest, others[best], nearest)
        highest = np.maximum(value, highest)
    wrong = data.target[nearest] != data.target[asked]
    return float(np.average(wrong, weights=None if data.weight is None else data.weight[asked]))


def _cosines(data: TrainingSet, kernel: Kernel, asked: np.ndarray, others: np.ndarray):
    """Return kernel values divided by the lengths of the others; points at the origin are last."""
    if kernel.name == "precomputed":
        values = data.X[np.ix_(asked, others)] + kernel.constant
        lengths = np.sqrt(data.X[others, others] + kernel.constant)
    else:
        X = in_double(data.X[others])
        values, lengths = kernel(in_double(data.X[asked]), X), kernel.lengths(X)
    out = np.full(values.shape, -np.inf)
    return np.divide(values, lengths, out=out, where=lengths > 0)
