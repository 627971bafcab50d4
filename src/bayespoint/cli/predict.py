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
from typing import Any

import numpy as np
import typer

from .._runtime.atomic import in_place_of
from ..classifiers.reject.decision import decide
from ..io.tables.read_options import ReadOptions
from .output import check_output
from .terminal import note, percent, show, working
from .trained import Part, Trained, open_model, read_parts


def run_predict(
    model_path: Path,
    data: str,
    output: Path | None,
    rejection: dict[str, Any] | None,
    keep: list[str],
    probabilities: bool,
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
    trained = open_model(model_path, rejection)
    model = trained.model
    rejecting = model.reject_rate is not None or model.max_error is not None
    began, n_rows, n_accepted = time.perf_counter(), 0, 0
    keep = list(dict.fromkeys(keep))
    schema = _schema(model, keep, rejecting, probabilities)
    _check_kept(keep, schema, trained)
    parts = read_parts(trained, data, read_options, keep=keep)
    # Write nothing, not even to standard output, before the first rows can be read.
    first = list(islice(parts, 1))
    # If predictions appear on the terminal, a progress line is not needed.
    quiet = output is None and sys.stdout.isatty()
    with (
        working("predicting", quiet=quiet, follow="reading") as say,
        _writer(output, schema) as write,
    ):
        for part in chain(first, parts):
            table, accepted = _answers(model, part, schema)
            write(table)
            n_rows, n_accepted = n_rows + len(table), n_accepted + accepted
            say(f"predicting, {n_rows:,} rows so far")
    if not n_rows:
        note("there are no rows to predict")
    seconds = time.perf_counter() - began
    result = {
        "n_rows": n_rows,
        "n_accepted": n_accepted,
        "threshold": model.threshold_ if np.isfinite(model.threshold_) else None,
        "seconds": round(seconds, 3),
        "output": None if output is None else str(output),
    }
    refused = f", {percent(1 - n_accepted / max(n_rows, 1))} of them refused" * rejecting
    if output is not None:
        show(result, as_json, f"Predicted {n_rows:,} rows in {seconds:.1f} s{refused}: {output}")
    elif rejecting:
        note(f"{n_rows:,} rows{refused}")


def _schema(model, keep: list[str], rejecting: bool, probabilities: bool):
    """Return names and types of the output columns."""
    import pyarrow as pa

    label = pa.array(model.classes_[:0]).type
    fields = [(name, pa.string()) for name in keep]
    fields += [("prediction", label), ("probability", pa.float64())]
    fields += [("accepted", pa.bool_())] * rejecting
    for name in model.classes_ if probabilities else ():
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


def _answers(model, part: Part, schema) -> tuple[Any, int]:
    """Return a table of answers, and the number of accepted ones."""
    import pyarrow as pa

    proba = model.predict_proba(part.X)
    best = decide(proba, model.costs)
    confidence = proba[np.arange(len(best)), best]
    accepted = confidence >= model.threshold_
    kept = [] if part.kept is None else part.kept.columns
    answers = [pa.array(model.classes_).take(pa.array(best, mask=~accepted)), confidence]
    if "accepted" in schema.names[len(kept) :]:
        answers.append(accepted)
    if len(schema) > len(kept) + len(answers):
        answers += list(proba.T)
    return pa.table([*kept, *answers], schema=schema), int(np.count_nonzero(accepted))


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
    with in_place_of(output) as sink, kind(sink, schema) as write:
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
        yield writer.write_table
