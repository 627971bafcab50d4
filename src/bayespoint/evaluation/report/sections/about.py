"""What the report is about: model, rows and versions."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from datetime import datetime

import numpy as np
import scipy
import sklearn

from .... import __version__
from ...model_parts import preparation_steps
from ...results import Evaluation
from ..columns import Table
from ..formatting import text
from ..markup import table
from ..model_description import describe_model
from ..section import Section, rows_in_words, text_cell

# Name at most this many classes.
MAX_NAMED_CLASSES = 10


def about_section(
    model,
    evaluation: Evaluation,
    cells: Table,
    target: str | None,
    train_summary: Mapping[str, object] | None,
) -> Section:
    """Show facts about model and data, then the user's own facts about the training."""
    facts = _facts(model, evaluation, cells, target) | dict(train_summary or {})
    rows = [[name, text_cell(_format(value))] for name, value in facts.items()]
    return Section("about", "About this report", table(["", ""], rows, caption="Model and data"))


def _facts(model, evaluation: Evaluation, cells: Table, target: str | None) -> dict[str, object]:
    classes = evaluation.classes
    names = ", ".join(text(label) for label in classes[:MAX_NAMED_CLASSES])
    more = ", …" if len(classes) > MAX_NAMED_CLASSES else ""
    steps = " → ".join(type(step).__name__ for step in preparation_steps(model))
    facts = {
        "model": describe_model(model),
        "columns are prepared by": steps or None,
        "predicts": target,
        "classes": f"{len(classes)}: {names}{more}",
        "rows of this report": f"{evaluation.n_rows:,}. {rows_in_words(evaluation.seen)}",
        "columns": f"{cells.n_columns:,}",
        "written": datetime.now().astimezone().strftime("%Y-%m-%d %H:%M %Z"),
        "versions": f"bayespoint {__version__}, scikit-learn {sklearn.__version__}, NumPy "
        f"{np.__version__}, SciPy {scipy.__version__}, Python {platform.python_version()}",
    }
    return {name: value for name, value in facts.items() if value is not None}


def _format(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
