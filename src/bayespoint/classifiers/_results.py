"""Store the answer of a fit in the classifier: what predictions and users need."""

from __future__ import annotations

import numpy as np
from sklearn.utils import Bunch

from ..fitting.task import Answer, Task
from ..geometry.equal_rows import EqualRows
from ._training_rows import UsedRows

# Attributes that only some solvers give.
OPTIONAL_ATTRIBUTES = (
    "log_evidence_",
    "n_iter_",
    "loo_proba_",
    "cell_centers_",
    "landmarks_",
    "landmark_vectors_",
    "landmark_coef_",
    "link_power_",
    "link_floor_",
    "relevance_",
    "compaction_",
    "_known_points",
)


def store_answer(model, task: Task, answer: Answer, rows: UsedRows) -> None:
    """Store what predictions need, as plain arrays and numbers."""
    kernel = task.kernel
    has_coef = np.any(answer.coef != 0, axis=0)
    if answer.draws is None:  # they are drawn when somebody wants to see them
        used = every = np.arange(len(has_coef))
        model.__dict__.pop("draw_coef_", None)
    elif answer.landmarks is None:
        used = every = np.flatnonzero(has_coef | np.any(answer.draws != 0, axis=(0, 1)))
    else:  # draws are coefficients on the landmarks
        used, every = np.flatnonzero(has_coef), np.arange(len(answer.landmarks.rows))
    carriers = answer.rows if answer.carriers is None else answer.carriers
    model.support_ = carriers[used]
    model.kernel_, model.mixture_ = kernel.name, kernel.mixture
    model._store_kernel(task.X, kernel, task.weight)
    model.dual_coef_ = answer.coef[:, used]
    if answer.draws is not None:
        model.draw_coef_ = answer.draws[:, :, every]
    model.draw_chains_ = answer.draw_chains
    same = answer.chains is answer.draws
    model.chain_coef_ = model.draw_coef_ if same else answer.chains[:, :, every]
    model.intercept_ = kernel.constant * model.dual_coef_.sum(axis=1)
    model.softness_ = answer.softness
    model.label_noise_ = answer.label_noise
    model.probit_scale_ = answer.probit_scale
    model.probit_df_ = answer.probit_df
    _store_results_of_rows(model, answer, rows, task)
    if answer.landmarks is not None:
        model.landmarks_ = rows.numbers(answer.landmarks.rows)
        model.landmark_vectors_ = task.X[answer.landmarks.rows]
        model.landmark_coef_ = answer.landmarks.coef
    model._single = answer.single
    model._state = answer.state


def _store_results_of_rows(model, answer: Answer, rows: UsedRows, task: Task) -> None:
    """Store what a solver reports, with an entry for each row of the user.

    Equal rows that were trained as one point have the same entries. Attributes that only some
    solvers give are dropped if they are from an earlier fit.
    """
    infos, n_samples = answer.infos, task.n_samples + rows.n_removed
    trained, entries = _rows_with_entries(task.sets, answer.rows)
    used = rows.numbers(trained)
    model.support_ = rows.numbers(model.support_)
    model.diagnostics_ = Bunch(**{key: np.array([i[key] for i in infos]) for key in infos[0]})
    if "hits" in model.diagnostics_:  # not if rows are on a cluster
        hits = np.zeros((len(infos), n_samples), dtype=model.diagnostics_.hits.dtype)
        hits[:, used] = model.diagnostics_.hits[:, entries]
        model.diagnostics_.hits = hits
    model.diagnostics_.resultant = answer.resultant
    for name in OPTIONAL_ATTRIBUTES:
        model.__dict__.pop(name, None)
    if model.mixture_ is not None:
        scales, groups = model.mixture_.views.scales, model.columns_.groups
        model.relevance_ = np.bincount(groups, scales) / np.bincount(groups)
    if answer.link is not None:
        model.link_power_, model.link_floor_ = answer.link
    if answer.centers is not None:
        model.cell_centers_ = answer.centers
    if answer.loo is not None:
        model.log_evidence_ = float(model.diagnostics_.log_evidence.sum())
        if "n_iter" in model.diagnostics_:
            model.n_iter_ = int(model.diagnostics_.n_iter.max())
        model.loo_proba_ = np.full((n_samples, len(model.classes_)), np.nan)
        model.loo_proba_[used] = model._probabilities(answer.loo)[entries]


def _rows_with_entries(sets: EqualRows | None, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows that were trained with, and which of the given points stands for each."""
    if sets is None:
        return points, np.arange(len(points))
    entry = np.full(len(sets.first), -1)
    entry[sets.member_of[points]] = np.arange(len(points))
    entries = entry[sets.member_of]
    trained = np.flatnonzero(entries >= 0)
    return trained, entries[trained]
