"""Pass a task to the fit that prepares what its solver needs."""

from __future__ import annotations

from collections.abc import Callable

from .._runtime.progress import Progress
from .cells_fit import fit_cells
from .gram_fit import fit_gram
from .landmarks_fit import fit_landmarks
from .mosaic_fit import fit_mosaic
from .regression_fit import fit_regression
from .rows_fit import fit_rows
from .task import Answer, Task, needs_of
from .temperature import tempered
from .training_points import heed_weights

FIT_FUNCTIONS: dict[str, Callable[[Task, Progress], Answer]] = {
    "gram": fit_gram,
    "regression": fit_regression,
    "rows": fit_rows,
    "landmarks": fit_landmarks,
    "cells": fit_cells,
    "mosaic": fit_mosaic,
}
# These fits solve all outputs together; the other fits solve them one after another.
ALL_OUTPUTS_TOGETHER = ("regression", "rows", "cells", "mosaic")


def solve_task(task: Task, start_progress: Callable[[int], Progress]) -> Answer:
    """Return the Bayes points of all outputs.

    `start_progress` gets the number of steps that progress is reported for.
    """
    check_solver(task)
    task = heed_weights(task)
    needs = needs_of(task.solver)
    progress = start_progress(1 if needs in ALL_OUTPUTS_TOGETHER else len(task.signs))
    answer = FIT_FUNCTIONS[needs](task, progress)
    progress.end()
    return tempered(task, answer)


def check_solver(task: Task) -> None:
    """Raise an error for wrong parameters or needs of the solver, or unsupported label noise."""
    needs = needs_of(task.solver)
    if needs not in FIT_FUNCTIONS:
        raise ValueError(
            f"The `needs` of a solver should be one of {', '.join(map(repr, FIT_FUNCTIONS))}, but "
            f"{type(task.solver).__name__} has needs={needs!r}. Without `needs` a solver gets "
            "version spaces with their Gram matrix."
        )
    if hasattr(task.solver, "_validate_params"):
        task.solver._validate_params()
    if task.label_noise and not getattr(task.solver, "supports_label_noise", True):
        raise ValueError(
            f"label_noise={task.label_noise:g}, but {type(task.solver).__name__} does not support "
            'label noise. Pass solver="ep", "billiard", "gibbs" or "cells"; or use softness, which '
            "tolerates noise too."
        )
