"""bayespoint export: write a model as ONNX, which runs without Python."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from .._runtime.atomic import in_place_of
from .output import check_output
from .terminal import listed, show, working
from .trained import open_model

MAX_INPUTS_SHOWN = 8


def run_export(
    model_path: Path, output: Path | None, rejection: dict[str, Any] | None, as_json: bool
) -> None:
    """Write a model as ONNX."""
    if output is None:
        raise typer.BadParameter("Say where to write the model: --output FILE.onnx")
    from ..io.onnx import to_onnx

    check_output(output, model_path)
    trained = open_model(model_path, rejection)
    with working("exporting"):
        exported = to_onnx(trained.model)
        with in_place_of(output) as file:
            file.write(exported.SerializeToString())
    names = {
        "inputs": [value.name for value in exported.graph.input],
        "outputs": [value.name for value in exported.graph.output],
    }
    size = Path(output).stat().st_size
    show(
        names | {"output": str(output), "bytes": size},
        as_json,
        f"Written to {output} ({size / 1e6:.3g} MB): inputs "
        f"{listed(names['inputs'], MAX_INPUTS_SHOWN)}"
        + f"; outputs {', '.join(names['outputs'])}.",
    )
