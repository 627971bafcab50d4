"""bayespoint predict: answer row by row, without loading the whole file."""

from __future__ import annotations

import csv
import io
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import typer

from .._runtime.atomic import in_place_of
from .._runtime.interrupt import interrupts
from ..classifiers.reject.decision import decide
from ..classifiers.reject.novelty import refuses_novel_rows
from ..classifiers.reject.setting import makes_promises
from ..evaluation.promises import CountGroups, GroupCounts
from ..io.tables.read_options import ReadOptions
from .closed_streams import closed_streams
from .familiar import Familiar
from .group_lines import group_lines
from .output import check_output
from .promises import smallest_promise
from .terminal import note, percent, show, working
from .trained import Part, Trained, open_model, read_parts

# Decimals of a probability in CSV, and digits of its distance from 0 or 1 if that is small.
DECIMALS, SMALL_DIGITS = 6, 3
NOVELTY_COLUMN = "novelty"
# Ten to the power of more decimals is no number.
MAX_DECIMALS = 300
# How often each class is answered is said for up to so many classes.
MAX_CLASSES_COUNTED = 6


class Wanted(NamedTuple):
    """Columns of the output that the user asks for."""

    keep: list[str]
    probabilities: bool = False
    novelty: bool = False


def run_predict(
    model_path: Path,
    data: str,
    output: Path | None,
    rejection: dict[str, Any] | None,
    wanted: Wanted,
    read_options: ReadOptions,
    as_json: bool,
) -> None:
    """Write a line for each row: its class, the probability, and whether it is accepted."""
    if output is None and as_json:
        raise typer.BadParameter(
            "--json needs --output, because the predictions themselves are printed."
        )
    if output is not None:
        check_output(output, model_path, data)
    elif "stdout" in closed_streams:
        raise typer.BadParameter("Standard output is closed. Write to a file with --output.")
    trained = open_model(model_path, rejection)
    model = trained.model
    rejecting = model.reject_rate is not None or makes_promises(model)
    rejecting = rejecting or refuses_novel_rows(model)
    _name_a_promise(model)
    began = time.perf_counter()
    keep = list(dict.fromkeys(wanted.keep))
    schema = _schema(model, wanted._replace(keep=keep), rejecting)
    _check_kept(keep, schema, trained)
    parts = read_parts(trained, data, read_options, keep=keep)
    familiar = Familiar(trained.record)
    n_rows, answered, groups = _predict(model, _seen_by(familiar, parts), output, schema)
    familiar.tell()
    n_accepted = int(answered.sum())
    if not n_rows:
        note("there are no rows to predict")
    seconds = time.perf_counter() - began
    result = {
        "n_rows": n_rows,
        "n_accepted": n_accepted,
        "answers": dict(zip(map(str, model.classes_), answered.tolist(), strict=True)),
        "threshold": model.threshold_ if np.isfinite(model.threshold_) else None,
        "groups": [one._asdict() for one in groups],
        "seconds": round(seconds, 3),
        "output": None if output is None else str(output),
    }
    refused = f", {percent(1 - n_accepted / max(n_rows, 1))} of them refused" * rejecting
    lines = group_lines([(one.group, one.n_rows, one.n_answered, one.reason) for one in groups])
    if output is not None:
        words = f"Predicted {n_rows:,} rows in {seconds:.1f} s{refused}: {output}"
        show(result, as_json, words, *_counted(model.classes_, answered), *lines)
    elif rejecting:
        note(f"{n_rows:,} rows{refused}")
        for line in lines:
            note(line.strip())


def _name_a_promise(model) -> None:
    """If a promise refuses everything, name one that does not."""
    if model.max_error is None or model.groups is not None or model.threshold_ < np.inf:
        return
    if (found := smallest_promise(model)) is not None:
        max_error, coverage = found
        note(f"--max-error {max_error:g} answers {percent(coverage)} of the held-out rows")


def _seen_by(familiar: Familiar, parts: Iterator[Part]) -> Iterator[Part]:
    """Yield the parts, and show their rows on the way."""
    for part in parts:
        familiar.see(part.X)
        yield part


def _counted(classes: np.ndarray, answered: np.ndarray) -> list[str]:
    """Say how often each class is the answer: refusals may hit one class more than others."""
    if len(classes) > MAX_CLASSES_COUNTED:
        return []
    counts = (f"{label} {n:,}" for label, n in zip(classes, answered.tolist(), strict=True))
    return [f"Answers: {', '.join(counts)}."]


def _predict(
    model, parts: Iterator[Part], output: Path | None, schema
) -> tuple[int, np.ndarray, list[GroupCounts]]:
    """Write the answers; return the number of rows, of each answer, and of rows by group."""
    n_rows, answered = 0, np.zeros(len(model.classes_), dtype=int)
    groups = CountGroups(model)
    # Write nothing, not even to standard output, before the first rows can be read.
    first = list(islice(parts, 1))
    if first and (NOVELTY_COLUMN in schema.names or refuses_novel_rows(model)):
        model.novelty(first[0].X[:1])  # raises an error if the model cannot tell
    # If predictions appear on the terminal, a progress line is not needed.
    quiet = output is None and sys.stdout.isatty()
    try:
        with (
            working("predicting", quiet=quiet, follow="reading") as say,
            _writer(output, schema) as write,
        ):
            for part in chain(first, parts):
                table, counts = _answers(model, part, schema, groups)
                with interrupts() as pressed:  # rows are written as a whole
                    write(table)
                    n_rows, answered = n_rows + len(table), answered + counts
                if pressed:
                    raise KeyboardInterrupt
                say(f"predicting, {n_rows:,} rows so far")
    except KeyboardInterrupt:
        raise KeyboardInterrupt(*_kept(output, n_rows)) from None
    return n_rows, answered, groups.found()


def _partial(output: Path) -> Path:
    """Return where finished rows are kept after Ctrl-C."""
    return output.with_name(f"{output.stem}.partial{output.suffix}")


def _kept(output: Path | None, n_rows: int) -> list[str]:
    """Return a line that says what is left after Ctrl-C, if anything is."""
    if output is None:
        return [f"the first {n_rows:,} rows are predicted"] * bool(n_rows)
    if not n_rows:
        _partial(output).unlink(missing_ok=True)
        return []
    state = "is as it was before" if output.exists() else "is not written"
    return [f"the first {n_rows:,} rows are in {_partial(output)}; {output} {state}"]


def _schema(model, wanted: Wanted, rejecting: bool):
    """Return names and types of the output columns."""
    import pyarrow as pa

    label = pa.array(model.classes_[:0]).type
    fields = [(name, pa.string()) for name in wanted.keep]
    fields += [("prediction", label), ("probability", pa.float64())]
    fields += [("accepted", pa.bool_())] * rejecting
    fields += [(NOVELTY_COLUMN, pa.float64())] * wanted.novelty
    for name in model.classes_ if wanted.probabilities else ():
        fields.append((f"probability of {name}", pa.float64()))
    return pa.schema(fields)


def _check_kept(keep: list[str], schema, trained: Trained) -> None:
    if keep and trained.columns is None:
        raise typer.BadParameter(
            "--keep needs a table; the columns of a LIBSVM file have no names."
        )
    for name in keep:
        if name in schema.names[len(keep) :]:
            raise typer.BadParameter(
                f"--keep {name}: the output has a column of that name too. Rename the one to keep."
            )


def _answers(model, part: Part, schema, groups: CountGroups) -> tuple[Any, np.ndarray]:
    """Return a table of answers, and how often each class is accepted as the answer."""
    import pyarrow as pa

    proba = model.predict_proba(part.X)
    best = decide(proba, model.costs)
    confidence = proba[np.arange(len(best)), best]
    kept = [] if part.kept is None else part.kept.columns
    shows_novelty = NOVELTY_COLUMN in schema.names[len(kept) :]
    novelty = None
    if shows_novelty or refuses_novel_rows(model):
        novelty = model.novelty(part.X)
    accepted = model.accepts(part.X, confidence, model.classes_[best], novelty)
    groups.add(part.X, model.classes_[best], accepted)
    answers = [pa.array(model.classes_).take(pa.array(best, mask=~accepted)), confidence]
    if "accepted" in schema.names[len(kept) :]:
        answers.append(accepted)
    if shows_novelty:
        answers.append(novelty)
    if len(schema) > len(kept) + len(answers):
        answers += list(proba.T)
    counts = np.bincount(best[accepted], minlength=len(model.classes_))
    return pa.table([*kept, *answers], schema=schema), counts


@contextmanager
def _writer(output: Path | None, schema) -> Iterator[Any]:
    """Yield a function that writes tables; the file appears only when it is complete."""
    if output is None:
        sink = sys.stdout.buffer
        with _csv(sink, schema) as write:
            yield write
        sink.flush()
        return
    kind = _parquet if output.suffix.lower() in (".parquet", ".pq") else _csv
    with in_place_of(output, _partial(output)) as sink, kind(sink, schema) as write:
        yield write


@contextmanager
def _parquet(sink, schema) -> Iterator[Any]:
    from pyarrow import parquet

    with parquet.ParquetWriter(sink, schema) as writer:
        yield writer.write_table


@contextmanager
def _csv(sink, schema) -> Iterator[Any]:
    from pyarrow import csv as arrow_csv

    # Arrow would put all names in quotes.
    header = io.StringIO()
    csv.writer(header, lineterminator="\n").writerow(schema.names)
    sink.write(header.getvalue().encode())
    options = arrow_csv.WriteOptions(include_header=False, quoting_style="needed")
    with arrow_csv.CSVWriter(sink, schema, write_options=options) as writer:
        yield lambda table: writer.write_table(_rounded(table))


def _rounded(table):
    """Return a table whose probabilities have no more digits than a reader can use."""
    import pyarrow as pa

    for i, field in enumerate(table.schema):
        if pa.types.is_float64(field.type):
            column = pa.array(round_probabilities(table.column(i).to_numpy()))
            table = table.set_column(i, field, column)
    return table


def round_probabilities(p: np.ndarray) -> np.ndarray:
    """Round to six decimals, or to three digits of the distance from 0 or 1 if that is small.

    So no probability becomes 0 or 1 that is not.
    """
    distance = np.minimum(p, 1 - p)
    with np.errstate(divide="ignore"):
        digits = SMALL_DIGITS - 1 - np.floor(np.log10(distance))
    decimals = np.where(distance > 0, np.clip(digits, DECIMALS, MAX_DECIMALS), 0).astype(int)
    rounded = np.empty_like(p)
    for n in np.unique(decimals):
        rounded[decimals == n] = np.round(p[decimals == n], n)
    return np.where(rounded == 0, p, rounded)
