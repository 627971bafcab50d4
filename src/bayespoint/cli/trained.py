"""A model that `bayespoint train` wrote, and rows prepared for it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.pipeline import Pipeline

from ..classifiers.reject.option import RejectOptionClassifier
from ..classifiers.reject.setting import PROMISES
from ..evaluation.record import ToJudge, TrainingRecord
from ..io.models.model_file import read
from ..io.tables.columns import Columns, frame
from ..io.tables.labels import known_labels, labels, whole_labels
from ..io.tables.open_table import open_table
from ..io.tables.read_options import ReadOptions
from ..io.tables.sniff import FORMAT_OF_SUFFIX
from ..io.tables.table import Table
from .decision import decision_lines
from .learn import stack
from .odd_values import OddValues
from .option_names import name_options
from .terminal import listed, note
from .watch import Watch

# Rows per chunk of a LIBSVM file.
SPARSE_ROWS_PER_CHUNK = 20_000
# Types of the facts that a model file holds about its training.
ABOUT_TYPES: dict[str, type | tuple[type, ...]] = {
    **dict.fromkeys(("data", "target"), str),
    **dict.fromkeys(("n_rows", "n_held_out"), int),
    **dict.fromkeys(("error", "log_loss"), (int, float, type(None))),  # None if it is not known
}


class Trained(NamedTuple):
    """The content of a model file: the model, its columns, and facts about its training."""

    model: RejectOptionClassifier
    columns: Columns | None  # None for LIBSVM
    info: dict[str, Any]
    record: TrainingRecord | None = None  # None if an earlier version wrote the file

    @property
    def classifier(self) -> Any:
        """Return the last step of the pipeline."""
        return self.pipeline[-1]

    @property
    def pipeline(self) -> Any:
        """Return the pipeline that prepares and classifies."""
        return self.model.estimator_.estimator


class Part(NamedTuple):
    """A part of the rows of a file."""

    X: Any
    y: Any  # their classes, None if not needed
    kept: Any  # an Arrow table of columns to show beside predictions


def open_model(path: Path, rejection: dict[str, Any] | None = None) -> Trained:
    """Read a model that the command wrote, and set which rows it refuses."""
    try:
        model, info = read(path)
    except ValueError as error:
        if not set(FORMAT_OF_SUFFIX) & set(Path(path).suffixes):
            raise
        raise ValueError(f"{error} The model comes first, then the data.") from None
    about = info.get("command")
    if about is None or not isinstance(model, RejectOptionClassifier):
        raise ValueError(
            f"{path} holds a {type(model).__name__} that was saved by Python code, not by "
            "'bayespoint train'. Use it in Python: bayespoint.load."
        )
    try:
        columns = None if about["columns"] is None else Columns(**about["columns"])
        trained = Trained(model, columns, about, TrainingRecord.from_dict(info.get("record")))
        decision_lines(about.get("decision"))
        intact = _is_intact(trained)
    except (KeyError, TypeError, AttributeError, ValueError):
        intact = False
    if not intact:
        raise ValueError(
            f"{path} was changed after 'bayespoint train' wrote it. Get a fresh copy, or train "
            "again."
        )
    if rejection is None:
        return trained
    if list(rejection) == ["max_novelty"]:  # what the model promises stays
        kept = {name: getattr(model, name) for name in ("reject_rate", *PROMISES)}
        rejection = kept | rejection
    return trained._replace(model=model.at(**rejection))


def _is_intact(trained: Trained) -> bool:
    """Check that the parts of a model file fit together."""
    columns, model = trained.columns, trained.model
    return (
        isinstance(trained.pipeline, Pipeline)
        and (columns is None or set(columns.features) == set(model.feature_names_in_))
        and all(isinstance(trained.info[key], kind) for key, kind in ABOUT_TYPES.items())
    )


def read_parts(
    trained: Trained,
    path: str,
    read_options: ReadOptions,
    *,
    target: str | None = None,
    keep: Sequence[str] = (),
) -> Iterator[Part]:
    """Yield the rows of a file; with a target, only rows that have a class."""
    with open_table(path, read_options) as table:
        if trained.columns is None:
            yield from _sparse_parts(trained, table, target)
        else:
            yield from _table_parts(trained, trained.columns, table, target, keep)


def _table_parts(
    trained: Trained, columns: Columns, table: Table, target: str | None, keep: Sequence[str]
) -> Iterator[Part]:
    if table.columns is None:
        raise ValueError(
            f"{table.name} is LIBSVM, but the model was trained with a table that has the columns "
            f"{listed(columns.used)}"
        )
    wanted = [*keep, *([] if target is None else [target])]
    texts = [*wanted, *columns.dates, *columns.categories, *columns.texts]
    names = list(dict.fromkeys([*columns.used, *texts]))
    try:
        table.require_columns(names, known=[*columns.used, *columns.left_out, columns.target])
    except ValueError as error:
        if target is None or target in table.columns:
            raise
        words = "Rows without classes can be predicted, but not judged or explained."
        raise ValueError(f"{error} {words}") from None
    for text in table.notes:
        note(name_options(text))
    _note_ignored(table, [*names, *columns.left_out, columns.target])
    if target is not None:
        columns = replace(columns, target=target)
    n_unlabeled, odd, watch = 0, OddValues(), Watch(trained)
    for batch in table.batches(names, texts):
        X, y, kept = frame(batch, columns, odd), None, batch.select(list(keep))
        watch.see(X)
        if target is not None:
            known, y = known_labels(labels(batch, columns), columns)
            y = _same_classes(y, trained.model.classes_)
            X, n_unlabeled = X[known], n_unlabeled + int(np.count_nonzero(~known))
        if len(X):
            yield Part(X, y, kept)
    odd.tell()
    watch.tell()
    if n_unlabeled:
        note(
            f"{n_unlabeled:,} rows without a class in {target!r} (empty, NA or the like) were left "
            "out"
        )


def read_labeled(
    trained: Trained, path: str, target: str | None, read_options: ReadOptions
) -> tuple[Any, np.ndarray]:
    """Return all rows of a file that have a class, and their classes."""
    parts = read_parts(trained, path, read_options, target=target or trained.info["target"])
    labeled = [(part.X, part.y) for part in parts]
    if not labeled:
        raise ValueError("There are no rows with a class.")
    return stack(labeled)


def read_to_judge(
    trained: Trained, path: str, target: str | None, read_options: ReadOptions, include_seen: bool
) -> ToJudge:
    """Return the labeled rows of a file that can judge the model: those that did not train it."""
    X, y = read_labeled(trained, path, target, read_options)
    if trained.record is None:
        return ToJudge(X, y, None)
    return trained.record.to_judge(X, y, include_seen=include_seen)


def _note_ignored(table: Table, names: Collection[str]) -> None:
    known = set(names)
    extra = [name for name in table.columns or () if name not in known]
    if extra:
        note(f"columns that the model does not know are ignored: {listed(extra)}")


def _sparse_parts(trained: Trained, table: Table, target: str | None) -> Iterator[Part]:
    if table.columns is not None:
        raise ValueError(f"{table.name} is a table, but the model was trained with LIBSVM.")
    for X, y in table.sparse_chunks(SPARSE_ROWS_PER_CHUNK, trained.model.n_features_in_):
        yield Part(X, None if target is None else whole_labels(y), None)


def _same_classes(y: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Replace classes that are the model's written differently: case, a final period, zeros."""
    if y.dtype.kind != "U" or not len(y):
        return y
    unknown = sorted(set(np.unique(y)) - set(classes))
    by_bare_name = {_bare(name): name for name in classes}
    if not unknown or len(by_bare_name) < len(classes):
        return y
    meant = {name: by_bare_name[_bare(name)] for name in unknown if _bare(name) in by_bare_name}
    if not meant:
        return y
    (name, known), *_ = meant.items()
    others = ", and others likewise" if len(meant) > 1 else ""
    note(f"{str(name)!r} is read as the class {str(known)!r}{others}")
    return np.array([meant.get(label, label) for label in y])


def _bare(name: str) -> str:
    """Return a class without what programs change: case, a final period, zeros of numbers."""
    text = str(name).casefold().rstrip(". ")
    try:
        return repr(float(text)) if text.replace(".", "", 1).lstrip("-").isdigit() else text
    except ValueError:
        return text
