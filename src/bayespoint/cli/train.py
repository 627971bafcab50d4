"""bayespoint train: from a file to a tested model."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import typer
from sklearn.model_selection import train_test_split

from .._runtime.interrupt import interrupts
from ..evaluation.drift import summarize
from ..io.models.model_file import save
from ..io.tables.labels import ClassCounts, count_classes
from .decision import Decision, check_decision, with_class_weight
from .fit import Fitted, fit_in_limits
from .learn import MAX_HELD_OUT_ROWS, HeldOut, judge, thin_to_time
from .limits import size_text
from .output import check_output
from .record import make_record, seconds_left
from .source import Plan, Source, read_source, within_free_memory
from .stream_fit import fit_stream
from .summary import summary
from .terminal import is_cut_short, note, show, working

if TYPE_CHECKING:
    from .cluster import ClusterChoice

# Tests get this share of the time that is left after training.
TEST_SHARE = 0.5
# Other classifiers are not begun in this last share of the whole time.
SAVE_SHARE = 0.2


class Trained(NamedTuple):
    """A trained machine, the rows held out for tests, and the number of training rows read."""

    fitted: Fitted
    held_out: HeldOut
    n_read: int


def run_train(
    data: str,
    target: str | None,
    model_path: Path,
    plan: Plan,
    holdout: float,
    decision: Decision,
    rejection: dict[str, Any],
    as_json: bool,
    compact: float | None = None,
    cluster: ClusterChoice | None = None,
) -> None:
    """Train, test on held-out rows, and save the model."""
    check_output(model_path, data)
    if cluster is None:
        _refuse_folder(data)
    plan = within_free_memory(plan, on_workers=cluster is not None)
    with working(f"reading {data}", log=cluster is not None) as say:
        if cluster is None:
            source = read_source(data, target, plan)
            plan = settle(decision, plan, count_classes(source.y))
            fitted, held_out, n_read = train(source, plan, holdout, say)
        else:
            source, (fitted, held_out, n_read) = train_on_workers(
                cluster, data, target, plan, holdout, decision, say
            )
        if compact is not None:
            say("making the model compact")
            make_compact(fitted.pipeline, compact)
        say("testing")
        if plan.max_time is not None:
            thin_to_time(fitted.pipeline, held_out, TEST_SHARE * plan.limits.seconds_left)
        model, evaluation, stored = judge(fitted.pipeline, held_out, rejection, decision)
        about = {
            "columns": None if source.columns is None else source.columns.to_dict(),
            "target": source.target,
            "data": source.name,
            "n_rows": fitted.n_rows,
            "n_rows_available": n_read,
            "contest": None if fitted.contest is None else fitted.contest.to_dict(),
            "seconds": round(time.perf_counter() - plan.began, 3),
            **stored,
        }
        say("training other classifiers for comparison")
        limit = None
        if plan.max_time is not None:
            limit = plan.limits.seconds_left - SAVE_SHARE * plan.max_time
        left = seconds_left(time.perf_counter() - plan.began, limit)
        record = make_record(model, held_out, evaluation, left)
        reference = None if source.columns is None else summarize(source.X, source.columns.texts)
        kept = {"command": about | {"reference": reference}, "record": record.to_dict()}
        with interrupts():  # the model is complete: do not lose it
            save(model, model_path, kept)
    size = Path(model_path).stat().st_size
    result = about | {"model": str(model_path), "bytes": size, "held_out": evaluation.to_dict()}
    show(result, as_json, *summary(model, about, evaluation, str(model_path), size, record))


def _refuse_folder(data: str) -> None:
    if Path(data).is_dir():
        raise typer.BadParameter(
            f"{data!r} is a folder. To train with all its files, say how many processes may work: "
            "--workers 2."
        )


def settle(decision: Decision, plan: Plan, found: ClassCounts) -> Plan:
    """Check what the user says about classes, and return the plan with their weights."""
    check_decision(decision, found)
    return with_class_weight(plan, found)


def train_on_workers(
    cluster: ClusterChoice,
    data: str,
    target: str | None,
    plan: Plan,
    holdout: float,
    decision: Decision,
    say,
) -> tuple[Source, Trained]:
    """Train with a file or folder of any size; return a sample of it, too."""
    from .cluster import check_cluster, workers
    from .cluster_fit import fit_on_workers
    from .cluster_source import read_on_workers

    here, held_out = check_cluster(cluster, plan), HeldOut(holdout, plan.seed)
    say("starting workers")
    with workers(cluster, plan) as client:
        say(f"reading {data}")
        plan = here
        found = read_on_workers(client, data, target, plan, holdout)
        plan = settle(decision, plan, found.classes)
        held_out.add(*found.held_out)
        fitted = fit_on_workers(client, found, plan, held_out, say)
        say("ending the workers")
    held_out.n_trained = fitted.n_rows
    if fitted.n_rows < found.n_train:
        note(
            f"the model is trained with {fitted.n_rows:,} of {found.n_train:,} rows{_reason(plan)}"
        )
    source = Source(*found.sample, None, found.columns, found.name)
    return source, Trained(fitted, held_out, found.n_train)


def train(source: Source, plan: Plan, holdout: float, say) -> Trained:
    """Train the better machine within the limits of the plan, and hold some rows out."""
    X, X_held_out, y, y_held_out = split(source.X, source.y, holdout, plan.seed)
    held_out = HeldOut(holdout, plan.seed)
    held_out.add(X_held_out, y_held_out)
    held_out.remember(X, y)
    if source.rest is None:
        fitted, n_read = fit_in_limits(source.columns, X, y, plan, say), len(y)
    else:
        fitted, n_read = fit_stream(source, X, y, plan, held_out, say)
    held_out.n_trained = fitted.n_rows
    n_apart = 0 if fitted.contest is None else fitted.contest.n_test  # for the choice of machine
    if fitted.n_rows + n_apart < n_read:
        note(f"the model is trained with {fitted.n_rows:,} of {n_read:,} rows{_reason(plan)}")
    return Trained(fitted, held_out, n_read)


def make_compact(pipeline, tol: float) -> None:
    """Give a kernel machine fewer points; a linear machine has none."""
    name, machine = pipeline.steps[-1]
    if not hasattr(machine, "compact"):
        note("--compact changes nothing: the linear machine has weights, and no points")
        return
    small = machine.compact(tol)
    pipeline.steps[-1] = name, small
    note(
        f"the model has {len(small.support_):,} of {len(machine.support_):,} points; no "
        f"probability of these changed by more than {small.compaction_.change:.2g}"
    )


def _reason(plan: Plan) -> str:
    """Return why rows were left out."""
    if is_cut_short():
        return ", because of Ctrl-C"
    given = []
    if plan.max_time is not None:
        given.append(f"--max-time {plan.max_time:g}")
    if plan.max_memory is not None:
        given.append(f"--max-memory {size_text(plan.max_memory)}")
    return f", because of {' and '.join(given)}" if given else "; --max-time sets how many"


def split(X, y: np.ndarray, holdout: float, seed: int):
    """Hold rows out, of every class if possible."""
    n_classes = len(np.unique(y))
    n_held_out = int(np.clip(holdout * len(y), n_classes, MAX_HELD_OUT_ROWS))
    n_held_out = min(n_held_out, len(y) - n_classes)
    return train_test_split(X, y, test_size=n_held_out, stratify=y, random_state=seed)
