"""What a labeling session ends with: tables, a model, and a report that says what it is about."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline

from .._runtime.interrupt import interrupts
from ..active import UNKNOWN
from ..classifiers.reject.option import RejectOptionClassifier
from ..evaluation.baselines import take
from ..evaluation.drift import summarize
from ..evaluation.intervals import share
from ..evaluation.measure import evaluate
from ..evaluation.record import TrainingRecord
from ..io.models.model_file import save
from ..labeling.finish import beside, write_labeled, write_predicted
from .learn import HeldOut
from .pool import Pool
from .record import make_record
from .terminal import percent, working

# What a model takes over from the session, besides its preparation and classifier.
CERTIFIED_ATTRIBUTES = (
    *("max_error", "confidence_level", "threshold_", "certified_error_", "coverage_"),
    *("calibration_confidence_", "calibration_correct_"),
)
NO_ROWS = np.empty(0, dtype=int)
MAX_BASELINE_SECONDS = 10.0
LEVEL = 0.95


class Tested(NamedTuple):
    """A model, rows that it learned from, and rows that judge it."""

    model: Any
    learned: np.ndarray
    judged: np.ndarray


class Results(NamedTuple):
    """The files that were written, and what to say about them."""

    written: list[tuple[Path, str]]
    missing: list[str]  # what was not written, and why
    certificate: Any
    n_labels: int

    def files(self) -> list[dict[str, str]]:
        """Return the files for the page."""
        return [{"name": str(path), "what": what} for path, what in self.written] + [
            {"name": "Not written", "what": reason} for reason in self.missing
        ]

    def lines(self) -> list[str]:
        """Return the files and the promise for the terminal."""
        return [
            f"{self.n_labels:,} labels. {self.certificate.message}",
            *(f"  {path}: {what}" for path, what in self.written),
            *(f"  {reason}" for reason in self.missing),
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return everything, ready for JSON."""
        return {
            "n_labels": self.n_labels,
            "certificate": self.certificate._asdict(),
            "files": [str(path) for path, _ in self.written],
            "missing": self.missing,
        }


def write_results(session: Any, pool: Pool, prepare: Any, model_path: Path | None) -> Results:
    """Write all that the answers so far allow."""
    target, summary, certificate = pool.columns.target, session.summary(), session.certificate()
    results = Results([], [], certificate, summary.n_labels)
    with working("writing the results") as say:
        labels = {row: label for row, label in session.labels.items() if label is not UNKNOWN}
        path = beside(pool.path, "labeled.csv")
        write_labeled(path, pool.rows, target, labels)
        results.written.append((path, f"the file with {len(labels):,} labels in {target!r}"))
        predictions = session.predict()
        if session.model is None:
            results.missing.append("There is no model yet: it needs a few labels of two classes.")
            return results
        _write_rest(results, pool, predictions, session.max_error is not None)
        tested = _tested(session)
        option = _option(session, prepare, pool, tested)
        held_out = HeldOut(0.0, 0)
        held_out.remember(take(pool.X, tested.learned), _labels(session, tested.learned))
        held_out.add(take(pool.X, tested.judged), _labels(session, tested.judged))
        reason = _why_no_report(session, tested)
        evaluation = None if reason else evaluate(option, *held_out.rows())
        say("training other classifiers for comparison")
        record = _record(option, held_out, evaluation)
        if model_path is not None:
            _save(model_path, option, pool, session, held_out, evaluation, record)
            results.written.append((model_path, "the model"))
        if reason:
            results.missing.append(f"There is no report: {reason}.")
            return results
        say("writing the report")
        path = beside(pool.path, "report.html")
        _report(path, option, pool, held_out, record, session)
        n_rows = f"{len(tested.judged):,}"
        results.written.append((path, f"a report on the {n_rows} blind rows that tested it"))
    return results


def _write_rest(results: Results, pool: Pool, predictions: Any, is_promised: bool) -> None:
    path = beside(pool.path, "predicted.csv")
    n_rows, n_answered = write_predicted(path, predictions, is_promised)
    refused = f", {percent(1 - n_answered / max(n_rows, 1))} of them refused" * is_promised
    results.written.append((path, f"answers for the other {n_rows:,} rows{refused}"))


def _tested(session: Any) -> Tested:
    """Return the model, the rows that it learned from, and the blind rows that it was tested on.

    Blind rows are drawn at random among those that the model answers, and all of them count, also
    those that later models learned from: to leave these out would flatter the model.
    """
    certified = session._certified()
    if certified is None:
        return Tested(session.model, _with_class(session, session._answers.training), NO_ROWS)
    checkpoint, rows = certified.sample.checkpoint, certified.sample.rows[: certified.n_seen]
    learned = _with_class(session, np.flatnonzero(checkpoint.learned))
    return Tested(checkpoint.model, learned, _with_class(session, rows))


def _with_class(session: Any, rows: Any) -> np.ndarray:
    """Return the rows whose label the person knows."""
    labels = session.labels
    return np.array([r for r in rows if labels.get(int(r), UNKNOWN) is not UNKNOWN], dtype=int)


def _option(session: Any, prepare: Any, pool: Pool, tested: Tested) -> RejectOptionClassifier:
    """Return the model with its preparation, which refuses what is not promised."""
    pipeline = Pipeline([("prepare", prepare), ("classify", tested.model)])
    option = RejectOptionClassifier(FrozenEstimator(pipeline))
    some = tested.judged if len(tested.judged) else tested.learned
    option.fit(take(pool.X, some), _labels(session, some))
    certified = session.reject_option()
    for name in CERTIFIED_ATTRIBUTES if certified is not None else ():
        setattr(option, name, getattr(certified, name))
    return option


def _labels(session: Any, rows: np.ndarray) -> np.ndarray:
    return np.array([str(session.labels[int(row)]) for row in rows])


def _why_no_report(session: Any, tested: Tested) -> str | None:
    """Return what is missing to judge the model, or None."""
    if session.max_error is None:
        return "only blind questions can judge the model, and --max-error asks them"
    if not len(tested.judged):
        return "it comes with the promise"
    classes = set(_labels(session, tested.judged))
    if len(classes) < 2:
        return "all blind rows have one class"
    if not classes <= set(tested.model.classes_.tolist()):
        return "blind rows have a class that the model has not learned"
    return None


def _record(option: Any, held_out: HeldOut, evaluation: Any) -> TrainingRecord:
    if evaluation is not None:
        return make_record(option, held_out, evaluation, MAX_BASELINE_SECONDS)
    reason = "There were no blind rows to compare classifiers with."
    return TrainingRecord(held_out.fingerprints, share(0, 0, LEVEL), [], reason)


def _save(
    path: Path,
    option: Any,
    pool: Pool,
    session: Any,
    held_out: HeldOut,
    evaluation: Any,
    record: TrainingRecord,
) -> None:
    """Write a model file as `train` writes it."""
    about = {
        "columns": pool.columns.to_dict(),
        "target": pool.columns.target,
        "data": pool.path.name,
        "n_rows": held_out.n_trained,
        "n_rows_available": len(pool.rows),
        "contest": None,
        "seconds": 0.0,
        "n_held_out": 0 if evaluation is None else len(held_out),
        "error": None if evaluation is None else evaluation.error.value,
        "log_loss": None if evaluation is None else evaluation.log_loss,
        "certificate": session.certificate()._asdict(),
        "reference": summarize(pool.X, pool.columns.texts),
    }
    with interrupts():
        save(option, path, {"command": about, "record": record.to_dict()})


def _report(
    path: Path, option: Any, pool: Pool, held_out: HeldOut, record: TrainingRecord, session: Any
) -> None:
    from ..evaluation.report import write_report

    X, y = held_out.rows()
    target = pool.columns.target
    write_report(
        option,
        X,
        y,
        path,
        title=f"How well is {target} predicted, where the model answers?",
        target=target,
        train_summary={
            "data": pool.path.name,
            "rows labeled": f"{len(session.labels):,} of {len(pool.rows):,}",
            "rows learned from": f"{held_out.n_trained:,}",
            "rows judged": f"{len(y):,} blind rows, drawn at random among those that the model "
            "answers; it has not learned from them",
            "promise": session.certificate().message,
        },
        record=record,
        reference=summarize(pool.X, pool.columns.texts),
    )
