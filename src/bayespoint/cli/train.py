"""bayespoint train: from a file to a model that knows how good it is."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.pipeline import Pipeline

from ..classifiers.bayes_point import BayesPointClassifier
from ..classifiers.linear import LinearBayesPointClassifier
from ..io.models.model_file import save
from ..io.tables.columns import Columns
from ..io.tables.preprocessing import make_preprocessor, make_sparse_preprocessor
from .learn import MOST_HELD_OUT, HeldOut, judge, learn
from .output import check_output
from .source import LABEL, Plan, Source, read_source
from .summary import summary
from .terminal import show, working

# Beyond so many rows or features, "auto" is the linear classifier.
MOST_KERNEL_ROWS = 50_000
MOST_KERNEL_FEATURES = 1000


def run_train(
    data: str,
    target: str | None,
    model_path: Path,
    plan: Plan,
    rejection: dict[str, Any],
    as_json: bool,
) -> None:
    """Train, test on rows that were held out, and write the model."""
    check_output(model_path, data)
    began = time.perf_counter()
    with working(f"reading {data}") as say:
        source = read_source(data, target, plan)
        say(f"training with {len(source.y):,} rows")
        pipeline, held, n_rows = train(source, plan, say)
        say("testing")
        model, figures, kept = judge(pipeline, held, rejection)
        about = {
            "columns": None if source.columns is None else source.columns.to_dict(),
            "target": target or LABEL,
            "data": source.name,
            "n_rows": n_rows,
            "seconds": round(time.perf_counter() - began, 3),
            **kept,
        }
        save(model, model_path, {"command": about})
    size = Path(model_path).stat().st_size
    result = about | {"model": str(model_path), "bytes": size, "held_out": figures.to_dict()}
    show(result, as_json, *summary(model, about, figures, str(model_path), size))


def train(source: Source, plan: Plan, say) -> tuple[Pipeline, HeldOut, int]:
    """Return a fitted pipeline, the rows that were held out, and the number of the others."""
    X, X_held, y, y_held = split(source.X, source.y, plan)
    stream, held = source.rest is not None, HeldOut(plan.holdout, plan.seed)
    held.add(X_held, y_held)
    pipeline = make_pipeline(source.columns, X, len(y), plan, stream=stream)
    if source.rest is None:
        return pipeline.fit(X, y), held, len(y)
    prepare, classes = pipeline[:-1].fit(X), np.unique(source.y)
    pipeline[-1].partial_fit(prepare.transform(X), y, classes=classes)
    n_rows = learn(pipeline, source.rest, classes, held, say)
    return pipeline, held, len(y) + n_rows


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
    prepare = make_sparse_preprocessor() if columns is None else make_preprocessor(columns)
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
