"""Train with rows as they are read, and hold some of them out for testing."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline

from .._runtime.interrupt import interrupts
from ..classifiers.reject.option import RejectOptionClassifier
from ..evaluation import Evaluation, evaluate
from ..evaluation.baselines import take
from ..evaluation.fingerprints import Fingerprints
from ..fitting.sampling import sample_each_class
from .after_ctrl_c import tested_anyway, until_interrupted
from .decision import Decision, make_rule
from .limits import MIN_SECONDS
from .terminal import note

# Hold out about this many rows at most: more hardly make the measured error more precise.
MAX_HELD_OUT_ROWS = 20_000
# Rows whose prediction is timed, and how often held-out rows are predicted.
TIMED_ROWS = 200
TEST_PASSES = 2
# With several classes, what is learned about each feature, class and row takes 16 bytes at least:
# rows are learned in slices with at most this many such numbers, but not fewer rows than this.
MAX_SITES = 10_000_000
MIN_SLICE_ROWS = 2000
# Attributes that hold what novelty is compared with.
KNOWN_ROWS = ("_known_points", "_known_rows")


class HeldOut:
    """Rows kept for testing, not used for training, and fingerprints of those that were used.

    Attributes
    ----------
    fingerprints : Fingerprints
        Of the training rows, for the model file.
    trained : tuple of X and y, or None
        The first training rows, for baselines.
    n_trained : int
        Number of training rows.
    """

    def __init__(self, share: float, seed: int, fingerprints: Fingerprints | None = None):
        self._share = share
        self._rng = np.random.default_rng(seed)
        self._parts: list[tuple[Any, np.ndarray]] = []
        self.fingerprints = fingerprints or Fingerprints.empty()
        self.trained: tuple[Any, np.ndarray] | None = None
        self.n_trained = 0

    def __len__(self) -> int:
        return sum(len(y) for _, y in self._parts)

    def add(self, X, y: np.ndarray) -> None:
        """Hold out these rows."""
        if len(y):
            self._parts.append((X, y))

    def remember(self, X, y: np.ndarray) -> None:
        """Note that these rows are used for training."""
        self.fingerprints = self.fingerprints.add(trained=X)
        self.trained = self.trained or (X, y)
        self.n_trained += len(y)

    def take(self, X, y: np.ndarray) -> tuple[Any, np.ndarray]:
        """Hold out a random part of the rows, and return the others."""
        out = self._rng.random(len(y)) < (self._share if len(self) < MAX_HELD_OUT_ROWS else 0)
        self.add(X[out], y[out])
        return X[~out], y[~out]

    def rows(self) -> tuple[Any, np.ndarray]:
        """Return all held-out rows and their classes."""
        return stack(self._parts)

    def thin(self, n: int) -> None:
        """Keep about n rows, at least one of each class."""
        X, y = self.rows()
        rows = sample_each_class(y, n, self._rng)
        self._parts = [(take(X, rows), y[rows])]


def learn(
    pipeline: Pipeline,
    parts: Iterable[tuple[Any, np.ndarray]],
    classes: np.ndarray,
    held_out: HeldOut,
    say: Callable[[str], None],
) -> int:
    """Train the last step of a pipeline part by part, and return the number of rows used."""
    n_rows = 0
    for X, y in to_learn(until_interrupted(parts), classes, held_out):
        n_rows += learn_part(pipeline, X, y, classes)
        say(f"learning, {n_rows:,} rows so far")
    return n_rows


def to_learn(
    parts: Iterable[tuple[Any, np.ndarray]], classes: np.ndarray, held_out: HeldOut
) -> Iterator[tuple[Any, np.ndarray]]:
    """Hold out some rows of each part, and yield the others."""
    for X, y in parts:
        _check_known(y, classes)
        X, y = held_out.take(X, y)
        if len(y):
            held_out.remember(X, y)
            yield X, y


def learn_part(
    pipeline: Pipeline, X, y: np.ndarray, classes: np.ndarray, max_time: float | None = None
) -> int:
    """Train the last step of a pipeline with more rows; return how many it learned in time."""
    prepared, classifier, n_rows = pipeline[:-1].transform(X), pipeline[-1], 0
    end = None if max_time is None else time.perf_counter() + max_time
    n_sites = prepared.shape[1] * (len(classes) - 1) * len(y) if len(classes) > 2 else 0
    n_slices = min(-(-n_sites // MAX_SITES), -(-len(y) // MIN_SLICE_ROWS))
    with interrupts() as interrupted:  # Ctrl-C must not leave a part half learned
        for number in range(max(n_slices, 1)):
            rows = slice(number, None, max(n_slices, 1))  # rows may be sorted
            if end is not None:
                left = max(end - time.perf_counter(), MIN_SECONDS)
                classifier.set_params(max_time=left)
            classifier.partial_fit(prepared[rows], y[rows], classes=classes)
            n_rows += int(classifier.n_rows_learned_)
            if interrupted or (end is not None and time.perf_counter() > end):
                break
    classifier.set_params(max_time=None)  # later updates have limits of their own
    return n_rows


def thin_to_time(pipeline: Pipeline, held_out: HeldOut, seconds: float) -> None:
    """Keep as many held-out rows as can be tested in time, and say so."""
    X, y = held_out.rows()
    some = sample_each_class(y, TIMED_ROWS)
    began = time.perf_counter()
    pipeline.predict_proba(take(X, some))
    each = (time.perf_counter() - began) / len(some)
    n = int(max(seconds, 0.0) / (TEST_PASSES * each))
    if n < len(y):
        held_out.thin(max(n, TIMED_ROWS))
        note(f"--max-time allows to test {len(held_out):,} of {len(y):,} held-out rows")


@tested_anyway
def judge(
    pipeline: Pipeline,
    held_out: HeldOut,
    rejection: dict[str, Any],
    decision: Decision | None = None,
) -> tuple[RejectOptionClassifier, Evaluation, dict[str, Any]]:
    """Test a pipeline on held-out rows, which also set what it refuses and how it answers.

    Returns the model, its evaluation, and the results to store in the model file.
    """
    X, y = held_out.rows()
    stored: dict[str, Any] = {}
    if decision is not None and decision != Decision():
        rule = make_rule(decision, pipeline.classes_, pipeline.predict_proba(X), y)
        rejection, stored = rejection | {"costs": rule.costs}, {"decision": rule.about}
    rejection = _with_novelty(rejection, pipeline)
    model = RejectOptionClassifier(FrozenEstimator(pipeline), **rejection).fit(X, y)
    evaluation = evaluate(model, X, y)
    stored |= {
        "n_held_out": len(y),
        "error": evaluation.error.value,
        "log_loss": evaluation.log_loss,
    }
    return model, evaluation, stored


def _with_novelty(rejection: dict[str, Any], pipeline: Pipeline) -> dict[str, Any]:
    """Let the model keep the novelty of held-out rows, so that --max-novelty can be given later."""
    # Compact machines and those from a cluster do not know their training rows.
    can_tell = any(vars(pipeline[-1]).get(name) is not None for name in KNOWN_ROWS)
    return {**rejection, "max_novelty": _limit(rejection)} if can_tell else rejection


def _limit(rejection: dict[str, Any]) -> float:
    """Return the wanted limit of novelty; one refuses nothing."""
    limit = rejection.get("max_novelty")
    return 1.0 if limit is None else limit


def stack(parts: list[tuple[Any, np.ndarray]]) -> tuple[Any, np.ndarray]:
    """Return the rows of several tables or matrices as one, and their classes."""
    points, y = [X for X, _ in parts], np.concatenate([y for _, y in parts])
    if sparse.issparse(points[0]):
        return sparse.vstack(points, format="csr"), y
    import pandas as pd

    return pd.concat(points, ignore_index=True), y


def _check_known(y: np.ndarray, classes: np.ndarray) -> None:
    """Raise an error for classes that the first rows did not have."""
    unknown = np.setdiff1d(y, classes)
    if len(unknown):
        raise ValueError(
            f"The model does not know the class {str(unknown[0])!r}, which its first rows did not "
            "have. Train with rows of all classes; if they are sorted by class, shuffle them."
        )
