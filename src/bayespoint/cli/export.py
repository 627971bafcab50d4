"""bayespoint export: write a model as ONNX, which runs without Python."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from .._runtime.atomic import in_place_of
from ..io.tables.columns import Columns
from ..io.tables.date_format import ISO
from ..io.tables.shell_words import shell_word
from .output import check_output
from .terminal import listed, show, working
from .trained import Trained, open_model

MAX_INPUTS_SHOWN = 8
# How to compute the parts of a date, whose names are those of the inputs.
PARTS_OF_DATES = {
    "days": "days since {origin}, with hours as fractions",
    "year": "the year",
    "month": "1 for January",
    "weekday": "0 for Monday",
    "hour": "hours since midnight, with minutes as fractions",
}


def run_export(
    model_path: Path, output: Path | None, rejection: dict[str, Any] | None, as_json: bool
) -> None:
    """Write a model as ONNX."""
    if output is None:
        raise typer.BadParameter("Say where to write the model: --output FILE.onnx")
    from ..io.onnx import to_onnx

    check_output(output, model_path)
    trained = open_model(model_path, rejection)
    _check_exportable(trained)
    how = _how_to_fill(trained.columns)
    with working("exporting"):
        exported = to_onnx(trained.model)
        exported.metadata_props.add(key="inputs", value="\n".join(how))
        with in_place_of(output) as file:
            file.write(exported.SerializeToString())
    names = {
        "inputs": [value.name for value in exported.graph.input],
        "outputs": [value.name for value in exported.graph.output],
    }
    size = Path(output).stat().st_size
    show(
        names | {"output": str(output), "bytes": size, "how_to_fill": how},
        as_json,
        f"Written to {output} ({size / 1e6:.3g} MB): inputs "
        f"{listed(names['inputs'], MAX_INPUTS_SHOWN)}"
        + f"; outputs {', '.join(names['outputs'])}.",
        *how,
    )


def _check_exportable(trained: Trained) -> None:
    """Raise an error that names options of the command, for what ONNX cannot hold."""
    texts = [] if trained.columns is None else trained.columns.texts
    if texts:
        raise ValueError(
            f"Columns of free text cannot be exported to ONNX: {listed(texts)}. Train again with "
            f"--drop {shell_word(texts[0])}, or with --categorical {shell_word(texts[0])}."
        )
    if getattr(trained.model, "group_thresholds_", None) is not None:
        raise ValueError(
            "A threshold for each group cannot be exported to ONNX. Export with --reject-rate, "
            "which has one for all rows, or train without --groups."
        )


def _units(columns: Columns) -> str:
    """Say what numbers with units, or marks between digits, are in the exported model."""
    examples = {}
    for written in columns.formats.values():
        if words := written.describe().removeprefix("like "):
            examples[words] = "1234.5" if written.thousands else "1.5"
    return ": " * bool(examples) + ", ".join(f"{a} is {b}" for a, b in examples.items())


def _how_to_fill(columns: Columns | None) -> list[str]:
    """Say how to make the inputs of the exported model from the columns of a table."""
    if columns is None:
        return []
    lines = ["Each input has the shape (rows, 1)."]
    if columns.number_features:
        lines.append(f"Numbers are doubles, NaN if missing{_units(columns)}.")
    if columns.categories:
        lines.append("Categories are strings without blanks around them, empty if missing.")
    for name, date in columns.dates.items():
        parts = [
            f"({part}) {PARTS_OF_DATES[part].format(origin=date.origin[:10])}"
            for part in date.parts
        ]
        # Other formats have no time zone: their times are taken as they stand.
        zone = ", in UTC" if date.format == ISO or "%z" in date.format else ""
        lines.append(f"Parts of the date {name!r}{zone}: {'; '.join(parts)}.")
    return lines
