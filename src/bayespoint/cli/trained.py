"""A model file, and rows as its model wants them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..files import Table, Wishes, open_table
from ..model_file import read
from ..prepare import Columns, frame, known_labels, labels, missing_column
from ..reject import RejectOptionClassifier
from .terminal import note

# Rows of LIBSVM that are held at once.
SPARSE_ROWS = 20_000
# Names that are listed in a note.
SHOWN = 5


class Trained(NamedTuple):
    """What `bayespoint train` wrote."""

    model: RejectOptionClassifier
    columns: Columns | None  # None of LIBSVM
    info: dict[str, Any]

    @property
    def classifier(self) -> Any:
        """Return the last step of the pipeline."""
        return self.pipeline[-1]

    @property
    def pipeline(self) -> Any:
        """Return what prepares and classifies."""
        return self.model.estimator_.estimator


class Part(NamedTuple):
    """Some rows."""

    X: Any
    y: Any  # their classes, None if they are not asked for
    kept: Any  # an Arrow table of columns to show beside predictions


def open_model(path: Path) -> Trained:
    """Read a model that the command wrote."""
    model, info = read(path)
    if "command" not in info or not isinstance(model, RejectOptionClassifier):
        raise ValueError(
            f"{path} holds a {type(model).__name__} that was saved by Python code, not by "
            "'bayespoint train'. Use it in Python: bayespoint.load."
        )
    about = info["command"]
    columns = None if about.get("columns") is None else Columns(**about["columns"])
    return Trained(model, columns, about)


def read_parts(
    trained: Trained,
    path: str,
    wishes: Wishes,
    *,
    target: str | None = None,
    keep: Sequence[str] = (),
) -> Iterator[Part]:
    """Yield rows of a file; with a target, those that have a class."""
    table = open_table(path, wishes)
    if trained.columns is None:
        yield from _sparse_parts(trained, table, path, wishes, target)
        return
    if table.columns is None:
        raise ValueError(
            f"{table.name} is LIBSVM, but the model was trained with a table that has the columns "
            f"{', '.join(list(trained.columns.kinds)[:SHOWN])}, ..."
        )
    kinds = _wanted(trained.columns, table, target, keep)
    columns = trained.columns if target is None else _with_target(trained.columns, target)
    n_unlabeled = 0
    for batch in table.batches(kinds):
        X, y, kept = frame(batch, columns), None, batch.select(list(keep))
        if target is not None:
            known, y = known_labels(labels(batch, columns), columns)
            y = _same_classes(y, trained.model.classes_)
            X, n_unlabeled = X[known], n_unlabeled + int(np.count_nonzero(~known))
        if len(X):
            yield Part(X, y, kept)
    if n_unlabeled:
        note(f"{n_unlabeled:,} rows without a class in {target!r} were left out")


def _with_target(columns: Columns, target: str) -> Columns:
    return Columns(columns.numbers, columns.categories, target, columns.integers)


def _wanted(columns: Columns, table: Table, target: str | None, keep: list[str]) -> dict[str, str]:
    """Return the columns to read and their kinds; a missing one is an error."""
    names = table.columns or []
    wanted = dict.fromkeys(keep, "text") | columns.kinds
    if target is not None:
        wanted[target] = "text"
    for name in wanted:
        if name not in names:
            headed = "" if table.has_header else " The file has no line with names of columns."
            raise ValueError(f"{table.name}: {missing_column(name, names)}{headed}")
    extra = [name for name in names if name not in wanted and name != columns.target]
    if extra:
        some = ", ".join(extra[:SHOWN]) + (", ..." if len(extra) > SHOWN else "")
        note(f"columns that the model does not know are ignored: {some}")
    return wanted


def _sparse_parts(
    trained: Trained, table: Table, path: str, wishes: Wishes, target: str | None
) -> Iterator[Part]:
    if table.columns is not None:
        raise ValueError(f"{table.name} is a table, but the model was trained with LIBSVM.")
    n_features = trained.model.n_features_in_
    for X, y in table.sparse_chunks(SPARSE_ROWS, n_features):
        yield Part(X, None if target is None else _whole(y, trained), None)


def _whole(y: np.ndarray, trained: Trained) -> np.ndarray:
    """Return the numbers in front of rows as classes."""
    return y.astype(trained.model.classes_.dtype)


def _same_classes(y: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Return classes, those that differ in case or a final period only as the model has them."""
    if y.dtype.kind != "U" or not len(y):
        return y
    unknown = sorted(set(np.unique(y)) - set(classes))
    by_sound = {_bare(name): name for name in classes}
    if not unknown or len(by_sound) < len(classes):
        return y
    meant = {name: by_sound[_bare(name)] for name in unknown if _bare(name) in by_sound}
    if not meant:
        return y
    (name, known), *_ = meant.items()
    note(f"{str(name)!r} is taken for the class {str(known)!r}" + ", and so on" * (len(meant) > 1))
    return np.array([meant.get(label, label) for label in y])


def _bare(name: str) -> str:
    return name.casefold().rstrip(". ")


def gather(parts: Iterator[Part]) -> tuple[Any, np.ndarray]:
    """Return all rows and classes of parts."""
    import pandas as pd
    from scipy import sparse

    all_parts = list(parts)
    if not all_parts:
        raise ValueError("There are no rows with a class.")
    y = np.concatenate([part.y for part in all_parts if part.y is not None])
    points = [part.X for part in all_parts]
    if sparse.issparse(points[0]):
        return sparse.vstack(points, format="csr"), y
    return pd.concat(points, ignore_index=True), y
