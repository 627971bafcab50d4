"""bayespoint update: train a linear model further, with new rows only."""

from __future__ import annotations

import time
from pathlib import Path

from .._runtime.interrupt import interrupts
from ..classifiers.linear import LinearBayesPointClassifier
from ..evaluation.record import TrainingRecord
from ..io.models.model_file import save
from ..io.tables.read_options import ReadOptions
from .learn import HeldOut, judge, learn
from .output import check_output
from .record import update_record
from .summary import quality
from .terminal import note, show, working
from .trained import open_model, read_parts


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
    check_output(output or model_path, data)
    trained = open_model(model_path)
    if not isinstance(trained.classifier, LinearBayesPointClassifier):
        raise ValueError(
            f"{model_path} holds a {type(trained.classifier).__name__}, which cannot be updated: "
            "train it again with all rows. Only linear classifiers can be updated: bayespoint "
            "train --classifier linear."
        )
    output, old = output or model_path, trained.model
    target = target or trained.info["target"]
    record = trained.record
    known = None if record is None else record.fingerprints
    began, held_out = time.perf_counter(), HeldOut(holdout, seed, known)
    with working(f"learning from {data}") as say:
        read, seen = read_parts(trained, data, read_options, target=target), _Seen(record)
        parts = ((seen.count(part.X), part.y) for part in read)
        n_rows = learn(trained.pipeline, parts, old.classes_, held_out, say)
        if not len(held_out) or not n_rows:
            raise ValueError(
                f"{data} has too few rows to train with some and test with others: "
                f"{n_rows + len(held_out)}. Collect more rows before the update."
            )
        seen.tell()
        rejection = {
            name: getattr(old, name)
            for name in ("reject_rate", "max_error", "confidence_level", "costs")
        }
        model, evaluation, stored = judge(trained.pipeline, held_out, rejection)
        about = trained.info | {"n_rows": trained.info["n_rows"] + n_rows} | stored
        # Without fingerprints of its first rows, a model cannot know which rows are new.
        new = {} if record is None else {"record": update_record(held_out, evaluation).to_dict()}
        with interrupts():  # the model is complete: do not lose it
            save(model, output, {"command": about, **new})
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
