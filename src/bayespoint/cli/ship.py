"""bayespoint export and bayespoint report: what is given to others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .._atomic import in_place_of
from ..files import Wishes
from .terminal import show, working
from .trained import gather, open_model, read_parts


def run_export(
    model_path: Path, output: Path, rejection: dict[str, Any] | None, as_json: bool
) -> None:
    """Write a model as ONNX."""
    from ..onnx_export import to_onnx

    trained = open_model(model_path)
    model = trained.model if rejection is None else trained.model.at(**rejection)
    with working("exporting"):
        exported = to_onnx(model)
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
        f"Written to {output} ({size / 1e6:.3g} MB): inputs {', '.join(names['inputs'][:8])}"
        + (", ..." if len(names["inputs"]) > 8 else "")
        + f"; outputs {', '.join(names['outputs'])}.",
    )


def run_report(
    model_path: Path,
    data: str,
    target: str | None,
    output: Path,
    title: str | None,
    rejection: dict[str, Any] | None,
    n_examples: int,
    wishes: Wishes,
    as_json: bool,
) -> None:
    """Write a report on rows that the model has not seen."""
    from ..report import write_report

    trained = open_model(model_path)
    model = trained.model if rejection is None else trained.model.at(**rejection)
    target = target or trained.info["target"]
    with working(f"reading {data}") as say:
        X, y = gather(read_parts(trained, data, wishes, target=target))
        say(f"writing the report on {len(y):,} rows")
        about = trained.info
        figures = write_report(
            model,
            X,
            y,
            output,
            title=title,
            target=target,
            train_summary={
                "data": about["data"],
                "rows": f"{about['n_rows']:,}",
                "rows held out": f"{about['n_held_out']:,}",
            },
            n_examples=n_examples,
        )
    size = Path(output).stat().st_size
    show(
        figures.to_dict() | {"output": str(output), "bytes": size},
        as_json,
        f"Written to {output} ({size / 1e3:.0f} kB): error {100 * figures.error.value:.1f} % on "
        f"{figures.n_rows:,} rows.",
    )
