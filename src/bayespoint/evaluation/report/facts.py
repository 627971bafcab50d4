"""All that a report is made of: which rows are judged, and what is computed from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...bounds.pac_bayes import Certificate, pac_bayes_certificate
from ...classifiers.reject.certificate import Certificate as Watched
from ..baselines import Baseline, most_frequent, trained_baselines
from ..drift import Drift, drift, summarize
from ..fingerprints import Fingerprints
from ..importance import Importance, importances
from ..intervals import share
from ..model_parts import final_classifier, preparation_steps
from ..record import ToJudge, TrainingRecord
from ..results import Evaluation
from ..seen import SeenRows
from .columns import Table
from .diagnosis import Finding, diagnose

UNKNOWN_TRAINING_ROWS = (
    "Other classifiers are not compared: a fair comparison needs the training rows, and these are "
    "not known here."
)
# Columns of larger tables are not shuffled one by one.
MAX_SHUFFLED_COLUMNS = 500


class Training(NamedTuple):
    """What is known about the training of the model."""

    rows: tuple | None = None  # X and y
    record: TrainingRecord | None = None
    reference: Mapping[str, Any] | None = None  # summary of the columns
    suspects: Sequence[str] = ()  # columns that alone predict too well
    watched: Watched | None = None  # what is known since deployment


class Facts(NamedTuple):
    """All that a report is made of."""

    model: Any
    evaluation: Evaluation
    cells: Table
    baselines: list[Baseline]  # judged on these rows, the constant answer first
    reason: str | None  # why other baselines are missing
    record: TrainingRecord | None  # with baselines that were judged in training
    certificate: Certificate | str | None  # or why there is none
    findings: list[Finding]
    importances: list[Importance] | None
    drifts: list[Drift]
    suspects: Sequence[str] = ()
    watched: Watched | None = None

    @property
    def order(self) -> Sequence[int]:
        """Return the columns, the most important first; in their own order if it is not known."""
        if not self.importances:
            return range(self.cells.n_columns)
        return [one.column for one in self.importances]


def rows_to_judge(X, y, train, seen: SeenRows | None) -> ToJudge:
    """Leave out rows that are among the training rows, if these are given."""
    y = np.asarray(y)
    if train is None or seen is not None or hasattr(X, "iloc") != hasattr(train[0], "iloc"):
        return ToJudge(X, y, seen)
    fingerprints = Fingerprints.empty().add(trained=train[0])
    record = TrainingRecord(fingerprints, share(0, 0, 0.95), [])
    try:
        return record.to_judge(X, y)
    except ValueError:  # no others are left
        return record.to_judge(X, y, include_seen=True)


def gather(
    model,
    X,
    evaluation: Evaluation,
    training: Training,
    *,
    compare: bool = True,
) -> Facts:
    """Compute everything but the evaluation; `compare` with trained baselines if wanted."""
    cells, (train, record, reference, suspects, watched) = Table(X), training
    baselines, reason = _compare(model, X, evaluation, train if compare else None)
    if compare and train is None and record is None:
        reason = UNKNOWN_TRAINING_ROWS
    shuffled = None
    if cells.n_columns <= MAX_SHUFFLED_COLUMNS:
        shuffled = importances(model, cells.X, evaluation.classes[evaluation.target])
    return Facts(
        model=model,
        evaluation=evaluation,
        cells=cells,
        baselines=baselines,
        reason=reason,
        record=record if compare else None,
        certificate=_certify(model, train, evaluation.confidence_level),
        findings=diagnose(model),
        importances=shuffled,
        drifts=_drifts(reference, train, cells),
        suspects=suspects,
        watched=watched,
    )


def _compare(model, X, evaluation: Evaluation, train) -> tuple[list[Baseline], str | None]:
    """Return baselines, and the reason if some are missing."""
    constant = most_frequent(evaluation)
    if train is None:
        return [constant], None
    trained, reason = trained_baselines(model, X, evaluation, train)
    return [constant, *trained], reason


def _certify(model, train, confidence_level) -> Certificate | str | None:
    """Return a certificate from the training rows, or why there is none."""
    if train is None:
        return None
    if preparation_steps(model):
        return "the preparation of the columns used the same rows, which makes it invalid."
    try:
        return pac_bayes_certificate(final_classifier(model), *train, confidence=confidence_level)
    except (TypeError, ValueError, AttributeError) as error:
        return str(error)


def _drifts(reference: Mapping[str, Any] | None, train, cells: Table) -> list[Drift]:
    """Compare the columns with training; nothing if there is no table of training rows."""
    if cells.frame is None:
        return []
    try:
        if reference is None and train is not None and hasattr(train[0], "iloc"):
            reference = summarize(train[0])
        return [] if reference is None else drift(dict(reference), cells.frame)
    except (TypeError, ValueError):  # columns of types that cannot be compared
        return []
