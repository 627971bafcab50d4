"""bayespoint train: from a file to a model that knows how good it is."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import typer
from scipy import sparse
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import train_test_split
from sklearn.pipeline import Pipeline

from ..baselines import most_frequent
from ..classifier import BayesPointClassifier
from ..evaluation import Evaluation, evaluate
from ..files import Wishes, open_table, with_n_features
from ..linear import LinearBayesPointClassifier
from ..model_file import save
from ..prepare import (
    Columns,
    check_classes,
    find_columns,
    frame,
    known_labels,
    labels,
    make_prepare,
    make_sparse_prepare,
)
from ..reject import RejectOptionClassifier
from .terminal import aligned, note, percent, show, working

# So many rows, or bytes of text, are trained with at once; larger files are learned as a stream.
ROWS_AT_ONCE = 1_000_000
BYTES_AT_ONCE = 1 << 28
STREAMED_ROWS = 100_000
# Beyond so many rows or features, "auto" is the linear classifier.
MOST_KERNEL_ROWS = 50_000
MOST_KERNEL_FEATURES = 1000
# More rows to test with than this do not make figures better.
MOST_HELD_OUT = 20_000
REFUSED = (0.05, 0.1, 0.2)
# What the number in front of a row of LIBSVM is called.
LABEL = "label"
PROMISED = (0.1, 0.05, 0.02, 0.01)


@dataclass(frozen=True)
class Plan:
    """What was asked for."""

    classifier: str = "auto"
    holdout: float = 0.2
    seed: int = 0
    max_time: float | None = None
    categorical: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    wishes: Wishes = field(default_factory=Wishes)


class Source(NamedTuple):
    """The rows of a file: those that are trained with at once, and those that come after."""

    X: Any
    y: np.ndarray
    rest: Iterator[tuple[Any, np.ndarray]] | None
    columns: Columns | None
    name: str


def run_train(
    data: str,
    target: str | None,
    model_path: Path,
    plan: Plan,
    rejection: dict[str, Any],
    as_json: bool,
) -> None:
    """Train, test on rows that were held out, and write the model."""
    began = time.perf_counter()
    with working(f"reading {data}") as say:
        source = read_source(data, target, plan)
        say(f"training with {len(source.y):,} rows")
        pipeline, X_held, y_held, n_rows = train(source, plan, say)
        say("testing")
        model = RejectOptionClassifier(FrozenEstimator(pipeline), **rejection).fit(X_held, y_held)
        figures = evaluate(model, X_held, y_held)
        about = {
            "columns": None if source.columns is None else source.columns.to_dict(),
            "target": target or LABEL,
            "data": source.name,
            "n_rows": n_rows,
            "n_held_out": len(y_held),
            "seconds": round(time.perf_counter() - began, 3),
            "error": figures.error.value,
            "log_loss": figures.log_loss,
        }
        save(model, model_path, {"command": about})
    size = Path(model_path).stat().st_size
    result = about | {"model": str(model_path), "bytes": size, "held_out": figures.to_dict()}
    show(result, as_json, *_summary(model, about, figures, y_held, str(model_path), size))


def read_source(data: str, target: str | None, plan: Plan) -> Source:
    """Read as many rows as are trained with at once."""
    table = open_table(data, plan.wishes)
    if table.columns is None:
        return _sparse_source(data, plan)
    if target is None:
        raise typer.BadParameter(
            f"Name the column of {table.name} that holds the classes, with --target. The columns "
            f"are: {', '.join(table.columns[:20])}"
        )
    import pyarrow as pa

    batches, held, size = table.batches(), [], 0
    for batch in batches:
        held.append(batch)
        size += batch.num_rows
        if size >= ROWS_AT_ONCE or sum(b.nbytes for b in held) >= BYTES_AT_ONCE:
            break
    else:
        batches = iter(())
    if not size:
        raise ValueError(f"{table.name} has no rows.")
    first = pa.concat_tables(held)
    columns = find_columns(first, target, categorical=plan.categorical, ignore=plan.ignore)
    X, y = _labeled(first, columns)
    if len(y) < first.num_rows:
        note(f"{first.num_rows - len(y):,} rows without a class in {target!r} are left out")
    check_classes(y, target)
    following = next(batches, None)
    rest = None
    if following is not None:
        rest = (_labeled(batch, columns) for batch in _chained(following, batches))
    return Source(X, y, rest, columns, table.name)


def _chained(first, rest) -> Iterator[Any]:
    from ..files import regrouped

    def both():
        yield first
        yield from rest

    return regrouped(both(), STREAMED_ROWS)


def _labeled(table, columns: Columns) -> tuple[Any, np.ndarray]:
    """Return rows that have a class."""
    known, y = known_labels(labels(table, columns), columns)
    return frame(table, columns)[known].reset_index(drop=True), y


def _sparse_source(data: str, plan: Plan) -> Source:
    wishes = with_n_features(data, plan.wishes)
    table = open_table(data, wishes)
    chunks = ((X, _whole(y)) for X, y in table.sparse_chunks(STREAMED_ROWS, wishes.n_features))
    held, size = [], 0
    for X, y in chunks:
        held.append((X, y))
        size += 12 * X.nnz
        if sum(len(y) for _, y in held) >= ROWS_AT_ONCE or size >= BYTES_AT_ONCE:
            break
    else:
        chunks = iter(())  # type: ignore[assignment]
    X, y = sparse.vstack([X for X, _ in held], format="csr"), np.concatenate([y for _, y in held])
    check_classes(y, LABEL)
    following = next(chunks, None)
    rest = None if following is None else _both(following, chunks)
    return Source(X, y, rest, None, table.name)


def _both(first, rest) -> Iterator[Any]:
    yield first
    yield from rest


def _whole(y: np.ndarray) -> np.ndarray:
    """Return whole numbers as such."""
    return y.astype(np.int64) if np.array_equal(y, np.floor(y)) else y


def train(source: Source, plan: Plan, say) -> tuple[Pipeline, Any, np.ndarray, int]:
    """Return a fitted pipeline, the rows that were held out, and the number of the others."""
    X, X_held, y, y_held = split(source.X, source.y, plan)
    pipeline = make_pipeline(source.columns, X, len(y), plan, stream=source.rest is not None)
    if source.rest is None:
        pipeline.fit(X, y)
        return pipeline, X_held, y_held, len(y)
    held, n_rows, classes = [(X_held, y_held)], len(y), np.unique(source.y)
    prepare, classifier = pipeline[:-1].fit(X), pipeline[-1]
    classifier.partial_fit(prepare.transform(X), y, classes=classes)
    rng = np.random.default_rng(plan.seed)
    for X, y in source.rest:
        check_known(y, classes)
        n_held = sum(len(labels) for _, labels in held)
        out = rng.random(len(y)) < (plan.holdout if n_held < MOST_HELD_OUT else 0)
        if out.any():
            held.append((X[out], y[out]))
        classifier.partial_fit(prepare.transform(X[~out]), y[~out])
        n_rows += int(np.count_nonzero(~out))
        say(f"training, {n_rows:,} rows so far")
    return pipeline, stacked([X for X, _ in held]), np.concatenate([y for _, y in held]), n_rows


def stacked(parts: list) -> Any:
    """Return rows of several tables or matrices as one."""
    if sparse.issparse(parts[0]):
        return sparse.vstack(parts, format="csr")
    import pandas as pd

    return pd.concat(parts, ignore_index=True)


def check_known(y: np.ndarray, classes: np.ndarray) -> None:
    """Refuse classes that come too late."""
    unknown = np.setdiff1d(y, classes)
    if len(unknown):
        raise ValueError(
            f"The class {str(unknown[0])!r} does not occur in the first rows of the file, which "
            "decide what the classes are. Shuffle the rows."
        )


def split(X, y: np.ndarray, plan: Plan):
    """Hold rows out, of every class if that is possible."""
    n_classes = len(np.unique(y))
    n_held = int(np.clip(plan.holdout * len(y), n_classes, MOST_HELD_OUT))
    n_held = min(n_held, len(y) - n_classes)
    return train_test_split(X, y, test_size=n_held, stratify=y, random_state=plan.seed)


def make_pipeline(
    columns: Columns | None, X, n_rows: int, plan: Plan, *, stream: bool = False
) -> Pipeline:
    """Return a pipeline that is not fitted yet."""
    prepare = make_sparse_prepare() if columns is None else make_prepare(columns)
    kind = plan.classifier
    if kind == "auto":
        too_many = n_rows > MOST_KERNEL_ROWS or X.shape[1] > MOST_KERNEL_FEATURES
        kind = "linear" if stream or too_many else "kernel"
    if kind == "kernel" and stream:
        raise ValueError(
            "The file is too large for a kernel machine. Train with the linear classifier, or "
            "with a part of the file."
        )
    classifier: Any = LinearBayesPointClassifier()
    if kind == "kernel":
        classifier = BayesPointClassifier(max_time=plan.max_time, random_state=plan.seed)
    return Pipeline([("prepare", prepare), ("classify", classifier)])


def _summary(model, about, figures: Evaluation, y, path: str, size: int) -> list[str]:
    from ..report.diagnosis import in_words

    classes, counts = np.unique(y, return_counts=True)
    shares = sorted(zip(counts / len(y), classes, strict=True), reverse=True)
    some = ", ".join(f"{label} {percent(share)}" for share, label in shares[:5])
    more = f", and {len(classes) - 5} more" if len(classes) > 5 else ""
    columns = about["columns"]
    used = "" if columns is None else _used(columns)
    return [
        f"Trained with {about['n_rows']:,} rows of {about['data']}{used} in "
        f"{about['seconds']:.1f} s:",
        f"{in_words(model)}.",
        f"Classes of {about['target']}: {some}{more}.",
        "",
        f"On {about['n_held_out']:,} other rows:",
        *quality(figures),
        *_rejection(model, figures),
        "",
        f"Written to {path} ({max(size / 1e6, 0.001):.3g} MB).",
    ]


def _used(columns: dict[str, Any]) -> str:
    numbers, texts = len(columns["numbers"]), len(columns["categories"])
    parts = [f"{numbers} of numbers"] * bool(numbers) + [f"{texts} of texts"] * bool(texts)
    return f" (columns: {' and '.join(parts)})"


def quality(figures: Evaluation) -> list[str]:
    """Return lines about the error and the probabilities."""
    constant, error = most_frequent(figures), figures.error
    level = percent(figures.confidence_level).replace(".0", "")
    rows = [
        (
            "  error",
            percent(error.value),
            f"({level} interval {100 * error.low:.1f} to {percent(error.high)}; "
            f"{constant.name}: {percent(constant.error.value)})",
        ),
        ("  log loss", f"{figures.log_loss:.3f}", f"({constant.log_loss:.3f})"),
    ]
    return [f"{name:12}{value:>8}  {more}" for name, value, more in rows]


def _rejection(model: RejectOptionClassifier, figures: Evaluation) -> list[str]:
    """Return lines about what refusing buys, and what can be promised."""
    ordered = np.sort(figures.confidence)
    rows = []
    for refused in REFUSED:
        kept = figures.at(ordered[int(refused * len(ordered))])
        rows.append(f"{percent(kept.value)} if it refuses {percent(1 - kept.total / len(ordered))}")
    lines = [f"  {'error':10}{rows[0]}, " + ", ".join(rows[1:])]
    promises = []
    for max_error in PROMISED:
        if figures.error.high <= max_error:
            continue
        import warnings

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            coverage = model.at(max_error=max_error).coverage_
        if coverage > 0:
            promises.append((f"  {percent(max_error)}", percent(coverage)))
    if promises:
        lines += [
            "",
            "It can promise (with probability 95 %) at most so many errors among its answers,",
            "if it answers only so many rows:",
            *aligned([("  errors", "answered"), *promises]),
        ]
    return lines
