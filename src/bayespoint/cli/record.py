"""What a model file remembers of its training: fingerprints of rows, and baselines."""

from __future__ import annotations

from ..classifiers.reject.option import RejectOptionClassifier
from ..evaluation import Evaluation
from ..evaluation.baselines import Baseline, trained_baselines
from ..evaluation.intervals import share
from ..evaluation.record import TrainingRecord
from .learn import HeldOut
from .terminal import cut_short, is_cut_short

INTERRUPTED = "Training was cut short by Ctrl-C."

# Baselines may take this many seconds, or this share of the time that the model took.
MIN_BASELINE_SECONDS = 3.0
MAX_BASELINE_SHARE = 0.5


def seconds_left(spent: float, left: float | None) -> float:
    """Return how long baselines may take: within the time limit, and less than the model."""
    free = max(MIN_BASELINE_SECONDS, MAX_BASELINE_SHARE * spent)
    return free if left is None else min(free, left)


def make_record(
    model: RejectOptionClassifier,
    held_out: HeldOut,
    evaluation: Evaluation,
    max_seconds: float,
) -> TrainingRecord:
    """Train baselines with the rows of the model, and judge them on the held-out rows."""
    X, _ = held_out.rows()
    baselines: list[Baseline] = []
    reason: str | None = None
    if is_cut_short():
        reason = INTERRUPTED
    elif held_out.trained is not None:
        try:
            baselines, reason = trained_baselines(
                model, X, evaluation, held_out.trained, max_seconds=max_seconds
            )
        except KeyboardInterrupt:
            reason = INTERRUPTED
            cut_short("the model is not compared with other classifiers")
    how = f"learned from {held_out.n_trained:,} training rows"
    ours = Baseline("this model", how, evaluation.error, evaluation.log_loss)
    return _record(held_out, X, evaluation, [ours, *baselines], reason)


def update_record(held_out: HeldOut, evaluation: Evaluation) -> TrainingRecord:
    """Remember rows that trained a model further; baselines would have to learn all rows again."""
    reason = "The model was updated, and other classifiers do not know its first rows."
    return _record(held_out, held_out.rows()[0], evaluation, [], reason)


def _record(held_out, X, evaluation: Evaluation, baselines, reason) -> TrainingRecord:
    look = held_out.fingerprints.look(X)
    by_chance = share(look.trained.sum(), look.checked.sum(), evaluation.confidence_level)
    return TrainingRecord(held_out.fingerprints.add(held_out=X), by_chance, baselines, reason)
