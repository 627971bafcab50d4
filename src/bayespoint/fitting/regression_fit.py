"""Training by label regression: one factorization of the Gram matrix for all classes."""

from __future__ import annotations

import numpy as np

from .._runtime.progress import Progress
from ..geometry.gram import unit_matrix
from .gram_fit import choose_rows
from .power_link import fit_power_link, known_outcomes
from .task import Answer, Task
from .training_points import kernel_matrix

# A hard boundary leaves no noise: then this little is added, so that the matrix can be factored.
MIN_SOFTNESS = 1e-9


def fit_regression(task: Task, progress: Progress) -> Answer:
    """Return the Bayes points of all outputs, and the link that gives their probabilities."""
    rows = choose_rows(task)
    unit, lengths = unit_matrix(kernel_matrix(task.kernel, task.X, rows), rows)
    target = task.target[rows]
    weight = np.ones(len(rows)) if task.weight is None else task.weight[rows]
    n_outputs = len(task.signs)
    softness = max(task.softness, MIN_SOFTNESS)
    codes = label_codes(task.signs[:, rows])
    with progress.output(0):
        found = task.solver.solve(unit, codes, softness, task.rng, weight)
    known = known_outcomes(target, max(n_outputs, 2), weight)
    # Points at the origin have length zero, and coefficients that have no effect.
    to_points = 1 / np.where(lengths > 0, lengths, np.inf)
    coef = found.coef * to_points
    return Answer(
        rows=rows,
        coef=coef,
        draws=found.draws * to_points,
        chains=np.stack([coef, coef], axis=1),
        resultant=found.resultant,
        softness=task.softness,
        label_noise=0.0,
        probit_scale=found.length,
        probit_df=np.inf,
        infos=[
            found.info | {"hits": np.abs(c), "log_evidence": float(evidence)}
            for c, evidence in zip(found.coef, found.info["log_evidence"], strict=True)
        ],
        loo=found.left_out,
        link=fit_power_link(found.left_out, known),
    )


def label_codes(signs: np.ndarray) -> np.ndarray:
    """Return the labels as numbers, one column for each output.

    The signs of one class against the rest become 1 and 0, minus their mean over the classes.
    """
    codes = signs.T / 2.0
    return codes if len(signs) == 1 else codes + 0.5 - 1 / len(signs)
