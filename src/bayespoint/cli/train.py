"""bayespoint train: from a file to a tested model."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.pipeline import Pipeline

from .._runtime.interrupt import interrupts
from ..classifiers.bayes_point import BayesPointClassifier
from ..classifiers.linear import LinearBayesPointClassifier
from ..evaluation.drift import summarize
from ..io.models.model_file import save
from ..io.tables.columns import Columns
from ..io.tables.preprocessing import make_preprocessor, make_sparse_preprocessor
from .decision import Decision, check_decision, with_class_weight
from .learn import MAX_HELD_OUT_ROWS, HeldOut, judge, learn
from .output import check_output
from .record import make_record
from .source import Plan, Source, read_source
from .summary import summary
from .terminal import show, working

# With more rows or features than this, "auto" chooses the linear classifier.
MAX_KERNEL_ROWS = 50_000
MAX_KERNEL_FEATURES = 1000


def run_train(
    data: str,
    target: str | None,
    model_path: Path,
    plan: Plan,
    holdout: float,
    decision: Decision,
    rejection: dict[str, Any],
    as_json: bool,
) -> None:
    """Train, test on held-out rows, and save the model."""
    check_output(model_path, data)
    began = time.perf_counter()
    with working(f"reading {data}") as say:
        source = read_source(data, target, plan)
        check_decision(decision, source.y)
        plan = with_class_weight(plan, source.y)
        say(f"training with {len(source.y):,} rows")
        pipeline, held_out, n_rows = train(source, plan, holdout, say)
        say("testing")
        model, evaluation, stored = judge(pipeline, held_out, rejection, decision)
        about = {
            "columns": None if source.columns is None else source.columns.to_dict(),
            "target": source.target,
            "data": source.name,
            "n_rows": n_rows,
            "seconds": round(time.perf_counter() - began, 3),
            **stored,
        }
        say("training other classifiers for comparison")
        left = None if plan.max_time is None else plan.max_time - (time.perf_counter() - began)
        record = make_record(model, held_out, evaluation, left)
        reference = None if source.columns is None else summarize(source.X, source.columns.texts)
        kept = {"command": about | {"reference": reference}, "record": record.to_dict()}
        with interrupts():  # the model is complete: do not lose it
            save(model, model_path, kept)
    size = Path(model_path).stat().st_size
    result = about | {"model": str(model_path), "bytes": size, "held_out": evaluation.to_dict()}
    show(result, as_json, *summary(model, about, evaluation, str(model_path), size, record))


def train(source: Source, plan: Plan, holdout: float, say) -> tuple[Pipeline, HeldOut, int]:
    """Return a fitted pipeline, the held-out rows, and the number of training rows."""
    X, X_held_out, y, y_held_out = split(source.X, source.y, holdout, plan.seed)
    held_out = HeldOut(holdout, plan.seed)
    held_out.add(X_held_out, y_held_out)
    held_out.remember(X, y)
    pipeline = make_pipeline(source.columns, X, len(y), plan, stream=source.rest is not None)
    if source.rest is None:
        return pipeline.fit(X, y), held_out, len(y)
    prepare, classes = pipeline[:-1].fit(X), np.unique(source.y)
    pipeline[-1].partial_fit(prepare.transform(X), y, classes=classes)
    n_rows = learn(pipeline, source.rest, classes, held_out, say)
    return pipeline, held_out, len(y) + n_rows


def split(X, y: np.ndarray, holdout: float, seed: int):
    """Hold rows out, of every class if possible."""
    n_classes = len(np.unique(y))
    n_held_out = int(np.clip(holdout * len(y), n_classes, MAX_HELD_OUT_ROWS))
    n_held_out = min(n_held_out, len(y) - n_classes)
    return train_test_split(X, y, test_size=n_held_out, stratify=y, random_state=seed)


def make_pipeline(
    columns: Columns | None, X, n_rows: int, plan: Plan, *, stream: bool = False
) -> Pipeline:
    """Return a pipeline that is not fitted yet."""
    prepare = make_sparse_preprocessor() if columns is None else make_preprocessor(columns)
    kind = plan.classifier
    if kind == "auto":
        too_many = n_rows > MAX_KERNEL_ROWS or X.shape[1] > MAX_KERNEL_FEATURES
        kind = "linear" if stream or too_many else "kernel"
    if kind == "kernel" and stream:
        raise ValueError(
            "The file is too large for a kernel machine. Train the linear classifier, or use a "
            "part of the file."
        )
    classifier: Any = LinearBayesPointClassifier(class_weight=plan.class_weight)
    if kind == "kernel":
        classifier = BayesPointClassifier(
            standardize=False,  # the preprocessor scales numbers, and leaves indicators as they are
            max_time=plan.max_time,
            class_weight=plan.class_weight,
            random_state=plan.seed,
        )
    return Pipeline([("prepare", prepare), ("classify", classifier)])
