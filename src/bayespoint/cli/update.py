"""bayespoint update: train a linear model further, with new rows only."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .._runtime.held_file import held_file
from .._runtime.interrupt import interrupts
from ..classifiers.linear import LinearBayesPointClassifier
from ..classifiers.reject.setting import PROMISES
from ..evaluation import Evaluation
from ..evaluation.record import TrainingRecord
from ..io.models.model_file import save
from ..io.tables.read_options import ReadOptions
from .learn import HeldOut, judge, learn
from .output import check_output
from .record import update_record
from .summary import quality
from .terminal import note, show, working
from .trained import Trained, open_model, read_parts


def run_update(
    model_path: Path,
    data: str,
    target: str | None,
    output: Path | None,
    holdout: float,
    seed: int,
    read_options: ReadOptions,
    as_json: bool,
) -> None:
    """Train with most new rows; the others test the model and set what it refuses."""
    output = output or model_path
    check_output(output, data)
    began = time.perf_counter()
    with _held(model_path, output) as check_unchanged:
        trained = open_model(model_path)
        if not isinstance(trained.classifier, LinearBayesPointClassifier):
            raise ValueError(
                f"{model_path} holds a {type(trained.classifier).__name__}, which cannot be "
                "updated: train it again with all rows. Only linear classifiers can be updated: "
                "bayespoint train --classifier linear."
            )
        target = target or trained.info["target"]
        known = None if trained.record is None else trained.record.fingerprints
        held_out = HeldOut(holdout, seed, known)
        with working(f"learning from {data}") as say:
            n_rows = _learn(trained, data, read_options, target, held_out, say)
            about, evaluation = _store(trained, held_out, n_rows, output, check_unchanged)
    seconds = time.perf_counter() - began
    result = about | {"n_new": n_rows, "model": str(output), "held_out": evaluation.to_dict()}
    show(
        result,
        as_json,
        f"Trained with {n_rows:,} more rows in {seconds:.1f} s, {about['n_rows']:,} in all. "
        f"On {len(held_out):,} held-out new rows:",
        *quality(evaluation),
        f"Written to {output}.",
    )


@contextmanager
def _held(model_path: Path, output: Path) -> Iterator[Callable[[], None]]:
    """Let no other update begin with a model that this one replaces.

    Yields a function that raises an error if another process has replaced it all the same.
    """
    if os.path.realpath(output) != os.path.realpath(model_path):
        yield lambda: None
        return

    def tell() -> None:
        note(f"another process is updating {model_path}; waiting until it has finished")

    with held_file(model_path, tell) as is_same:

        def check_unchanged() -> None:
            if not is_same():
                raise ValueError(
                    f"{model_path} was replaced by another process during the update, so it is "
                    "left as it is now. Run the update again, or pass --output."
                )

        yield check_unchanged


def _learn(
    trained: Trained,
    data: str,
    read_options: ReadOptions,
    target: str,
    held_out: HeldOut,
    say: Callable[[str], None],
) -> int:
    """Learn from new rows, and return their number."""
    read, seen = read_parts(trained, data, read_options, target=target), _Seen(trained.record)
    parts = ((seen.count(part.X), part.y) for part in read)
    n_rows = learn(trained.pipeline, parts, trained.model.classes_, held_out, say)
    if not len(held_out) or not n_rows:
        raise ValueError(
            f"{data} has too few rows to train with some and test with others: "
            f"{n_rows + len(held_out)}. Collect more rows before the update."
        )
    seen.tell()
    return n_rows


def _store(
    trained: Trained,
    held_out: HeldOut,
    n_rows: int,
    output: Path,
    check_unchanged: Callable[[], None],
) -> tuple[dict[str, Any], Evaluation]:
    """Test the model, write it, and return what is known about it."""
    rejection = {
        name: getattr(trained.model, name)
        for name in ("reject_rate", *PROMISES, "groups", "confidence_level", "costs")
    } | {"max_novelty": getattr(trained.model, "max_novelty", None)}
    model, evaluation, stored = judge(trained.pipeline, held_out, rejection)
    about = trained.info | {"n_rows": trained.info["n_rows"] + n_rows} | stored
    # Without fingerprints of its first rows, a model cannot know which rows are new.
    new = {}
    if trained.record is not None:
        new = {"record": update_record(held_out, evaluation).to_dict()}
    with interrupts():  # the model is complete: do not lose it
        check_unchanged()
        save(model, output, {"command": about, **new})
    return about, evaluation


class _Seen:
    """Counts the rows that the model knows from earlier training."""

    def __init__(self, record: TrainingRecord | None):
        self._record = record
        self._n_seen = self._n_checked = 0

    def count(self, X):
        """Count the rows that are known, and return all."""
        if self._record is not None:
            look = self._record.fingerprints.look(X)
            self._n_seen += int(look.trained.sum())
            self._n_checked += int(look.checked.sum())
        return X

    def tell(self) -> None:
        """Note what was counted, unless chance explains it."""
        if (
            self._record is None
            or not self._n_seen
            or self._record.is_chance(self._n_seen, self._n_checked)
        ):
            return
        note(
            f"the model has already learned {self._n_seen:,} of {self._n_checked:,} rows, or rows "
            "that equal them in all columns that it uses. They count twice now, and its error and "
            "promises look better than they are. Update with new rows only"
        )
