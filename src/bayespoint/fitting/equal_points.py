"""Train equal rows as one point, so that an answer depends on neither their order nor number."""

from __future__ import annotations

import numpy as np

from ..geometry.equal_rows import EqualRows, merge_equal_rows
from .solver_choice import Request, named_solver
from .task import Task, TrainingSet, needs_of

# What a fit prepares for solvers whose choices (of landmarks, cells, or the order of points) would
# depend on how often rows are repeated, and where they stand.
MERGING = ("rows", "landmarks", "cells", "mosaic")


def merge_points(data: TrainingSet, request: Request) -> TrainingSet:
    """Merge equal rows where the answer would depend on their order and number.

    Weights of the first row of each set are then the total weight of the set. Solvers that use
    the whole Gram matrix of a small table need no merging: they find the same answer anyway.
    """
    solver = named_solver(data, request)
    merges = solver is None or needs_of(solver) in MERGING
    if not merges or data.kernel_name == "precomputed":
        return data
    sets = merge_equal_rows(data.X, data.target, np.ones(len(data.target)))
    return data._replace(sets=sets, weight=total_weight(sets, data.weight))


def total_weight(sets: EqualRows | None, weight: np.ndarray | None) -> np.ndarray | None:
    """Return weights with the total of each set at its first row; None if all are one."""
    if sets is None or (weight is None and len(sets.first) == len(sets.member_of)):
        return weight
    total = np.zeros(len(sets.member_of))
    total[sets.first] = np.bincount(sets.member_of, weight)
    return total


def weigh_points(task: Task, weight: np.ndarray | None) -> Task:
    """Return the task with the user's weights, which are None if all are one."""
    total = total_weight(task.sets, weight)
    differ = weight is not None and np.ptp(weight) > 0
    return task._replace(weight=total, weights_differ=bool(differ))
