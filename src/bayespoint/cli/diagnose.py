"""bayespoint diagnose: say in plain words whether training went well."""

from __future__ import annotations

from pathlib import Path

from ..evaluation.report.diagnosis import diagnose
from ..evaluation.report.model_description import describe_model
from .terminal import show
from .trained import open_model

MARKS = {True: "fine", False: "LOOK", None: ""}


def run_diagnose(model_path: Path, as_json: bool) -> None:
    """Print the findings about a model, one per line."""
    trained = open_model(model_path)
    findings = diagnose(trained.model)
    info = trained.info
    result = {
        "model": describe_model(trained.model),
        "classes": trained.model.classes_.tolist(),
        **{
            key: info[key]
            for key in ("data", "target", "n_rows", "n_held_out", "error", "log_loss")
        },
        "findings": [finding._asdict() for finding in findings],
    }
    show(
        result,
        as_json,
        f"{describe_model(trained.model)}, trained with {info['n_rows']:,} rows of {info['data']}.",
        *(
            f"{MARKS[finding.fine]:5}{finding.name}: {finding.value}, {finding.meaning}"
            for finding in findings
        ),
    )
