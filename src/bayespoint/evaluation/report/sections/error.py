"""How often the model is wrong, compared with baselines."""

from __future__ import annotations

from ...baselines import Baseline
from ...results import Evaluation
from ..charts import whisker
from ..formatting import interval, level, percent
from ..markup import join, table, tag
from ..section import Section, number_cell, text_cell

# The scale of the whiskers goes at least up to this error.
MIN_SCALE = 1e-3


def error_section(evaluation: Evaluation, baselines: list[Baseline], reason: str | None) -> Section:
    """Compare the error with the baselines; `reason` says why baselines are missing."""
    sure = level(evaluation.confidence_level)
    how = "learned from its training rows"
    ours = Baseline("this model", how, evaluation.error, evaluation.log_loss)
    compared = [ours, *baselines]
    top = max(MIN_SCALE, *(b.error.high for b in compared))
    rows = [
        [
            b.name,
            number_cell(percent(b.error.value)),
            tag("td", interval(b.error), class_="tight"),
            tag("td", whisker(b.error.value, b.error.low, b.error.high, top, ours=b is ours)),
            number_cell(f"{b.log_loss:.3f}"),
            text_cell(b.how),
        ]
        for b in compared
    ]
    head = ["", "error", f"{sure} interval", "", "log loss", "how"]
    explanation = (
        f"The intervals are exact (Clopper and Pearson): for at least {sure} of all sets of "
        f"{evaluation.n_rows:,} rows they contain the true error. The log loss punishes confident "
        "mistakes: smaller is better, and 0 is perfect. The Brier score of this model is "
        f"{evaluation.brier:.4f}."
    )
    content = join(
        table(head, rows, caption="Error on these rows, compared with other models"),
        tag("p", reason, class_="soft") if reason else None,
        tag("p", explanation, class_="soft"),
    )
    return Section("error", "How often it is wrong", content)
