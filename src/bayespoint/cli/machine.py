"""Which machine suits a file: a kernel machine or the linear one."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.pipeline import Pipeline

from ..classifiers.bayes_point import BayesPointClassifier
from ..classifiers.linear import LinearBayesPointClassifier
from ..evaluation import evaluate_probabilities
from ..io.tables.columns import Columns
from ..io.tables.preprocessing import make_preprocessor, make_sparse_preprocessor
from .source import Plan
from .terminal import note, percent

# Up to this size a kernel machine is exact and quick, and chosen without a comparison.
MAX_EXACT_ROWS = 10_000
MAX_EXACT_FEATURES = 1000
# Megabytes that a kernel machine may take for matrices if there is no limit.
MAX_CACHE_SIZE = 2000
# A kernel machine may fill this share of the free memory with matrices. The rest is for copies of
# the rows and for the choice of its parameters.
CACHE_SHARE = 0.5


class Entry(NamedTuple):
    """How good a machine was on rows that it had not seen."""

    n_rows: int  # it was trained with
    log_loss: float
    error: float
    seconds: float

    def __str__(self) -> str:
        return (
            f"log loss {self.log_loss:.3f}, {percent(self.error)} errors (trained with "
            f"{self.n_rows:,} rows in {self.seconds:.1f} s)"
        )


class Contest(NamedTuple):
    """Two machines on the same rows."""

    kernel: Entry
    linear: Entry
    n_test: int

    @property
    def winner(self) -> str:
        """The machine whose probabilities are better."""
        return "kernel" if self.kernel.log_loss < self.linear.log_loss else "linear"

    def announce(self) -> None:
        """Say which machine is better, and why."""
        names = {"kernel": "a kernel machine", "linear": "the linear machine"}
        best, other = "kernel", "linear"
        if self.winner == other:
            best, other = other, best
        note(
            f"{names[best]} is chosen: {getattr(self, best)}. {names[other].capitalize()} has "
            f"{getattr(self, other)}. Both were tested on {self.n_test:,} training rows that they "
            "had not seen"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers."""
        return {
            "winner": self.winner,
            "n_test": self.n_test,
            "kernel": self.kernel._asdict(),
            "linear": self.linear._asdict(),
        }


def is_clear(n_rows: int, n_columns: int) -> bool:
    """Tell whether a table is so small that a kernel machine is chosen without a comparison."""
    return n_rows <= MAX_EXACT_ROWS and n_columns <= MAX_EXACT_FEATURES


def make_pipeline(columns: Columns | None, kind: str, plan: Plan, share: float = 1.0) -> Pipeline:
    """Return a pipeline that is not fitted yet, with a share of the time that is left."""
    prepare = make_sparse_preprocessor() if columns is None else make_preprocessor(columns)
    limits = plan.limits
    classifier: Any
    if kind == "linear":
        classifier = LinearBayesPointClassifier(
            class_weight=plan.class_weight, max_time=limits.seconds(share)
        )
    else:
        classifier = BayesPointClassifier(
            standardize=False,  # the preprocessor scales numbers, and leaves indicators as they are
            class_weight=plan.class_weight,
            max_time=limits.seconds(share),
            cache_size=max(int(min(MAX_CACHE_SIZE, CACHE_SHARE * limits.bytes_left / 2**20)), 1),
            random_state=plan.seed,
        )
    return Pipeline([("prepare", prepare), ("classify", classifier)])


def judge_entry(
    pipeline: Pipeline, X, y, classes: np.ndarray, n_rows: int, seconds: float
) -> Entry:
    """Test a machine that was trained with so many rows; it may not know all classes."""
    probability = np.zeros((len(y), len(classes)))
    known = np.searchsorted(classes, pipeline.classes_)
    probability[:, known] = pipeline.predict_proba(X)
    found = evaluate_probabilities(y, probability, classes)
    return Entry(n_rows, found.log_loss, found.error.value, seconds)


def n_rows_used(pipeline: Pipeline) -> int:
    """Return how many rows the last step of a fitted pipeline learned from."""
    machine = pipeline[-1]
    if hasattr(machine, "n_rows_learned_"):
        return int(machine.n_rows_learned_)
    if hasattr(machine, "loo_proba_"):  # rows that were left out have none
        return int(np.isfinite(machine.loo_proba_[:, 0]).sum())
    return int(machine.diagnostics_.hits.shape[1])
