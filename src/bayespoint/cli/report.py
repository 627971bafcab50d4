"""bayespoint report: write one HTML file about a model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..evaluation.seen import UNKNOWN
from ..io.tables.leakage import find_suspects
from ..io.tables.read_options import ReadOptions
from .output import check_output
from .terminal import show, working
from .trained import open_model, read_to_judge
from .watch_state import read_watch


def run_report(
    model_path: Path,
    data: str,
    target: str | None,
    output: Path,
    title: str | None,
    rejection: dict[str, Any] | None,
    n_examples: int,
    read_options: ReadOptions,
    include_seen: bool,
    as_json: bool,
    watch: Path | None = None,
) -> None:
    """Write a report from rows that the model has not seen."""
    from ..evaluation.report import write_report

    check_output(output, model_path, data, *([] if watch is None else [watch]))
    trained = open_model(model_path, rejection)
    watched = None if watch is None else read_watch(watch, trained.model).certificate
    with working(f"reading {data}") as say:
        X, y, seen = read_to_judge(trained, data, target, read_options, include_seen)
        say(f"writing the report on {len(y):,} rows")
        about = trained.info
        evaluation = write_report(
            trained.model,
            X,
            y,
            output,
            title=title,
            target=target or about["target"],
            train_summary={
                "data": about["data"],
                "rows": f"{about['n_rows']:,}",
                "rows held out": f"{about['n_held_out']:,}",
            },
            record=trained.record,
            seen=seen,
            reference=about.get("reference"),
            suspects=_suspects(X, y),
            watched=watched,
            n_examples=n_examples,
        )
    size = Path(output).stat().st_size
    show(
        evaluation.to_dict() | {"output": str(output), "bytes": size},
        as_json,
        f"Written to {output} ({size / 1e3:.0f} kB): error {100 * evaluation.error.value:.1f} % on "
        f"{evaluation.n_rows:,} rows.",
        UNKNOWN if seen is None else seen.sentence(),
    )


def _suspects(X, y) -> list[str]:
    """Return the columns of a table that predict the class suspiciously well alone."""
    if not hasattr(X, "columns"):
        return []
    import pandas as pd

    values = {
        name: column.to_numpy(float) if column.dtype.kind in "fiub" else pd.factorize(column)[0]
        for name, column in X.items()
    }
    return [suspect.name for suspect in find_suspects(values, pd.factorize(y)[0])]
