"""How often the model is wrong, compared with baselines."""

from __future__ import annotations

from ...baselines import Baseline
from ...results import Evaluation
from ..charts import whisker
from ..formatting import interval, level, percent
from ..markup import join, table, tag
from ..section import Section, number_cell

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
            join(b.name, tag("small", b.how)),
            tag("td", percent(b.error.value), tag("small", interval(b.error)), class_="right"),
            tag(
                "td",
                whisker(b.error.value, b.error.low, b.error.high, top, ours=b is ours),
                class_="whiskers",
            ),
            number_cell(f"{b.log_loss:.3f}"),
        ]
        for b in compared
    ]
    head = ["", f"error, {sure} interval", "", "log loss"]
    explanation = (
        f"The intervals are exact (Clopper and Pearson): for at least {sure} of all sets of "
        f"{evaluation.n_rows:,} rows they contain the true error. The log loss punishes confident "
        "mistakes: smaller is better, and 0 is perfect. The Brier score of this model is "
        f"{evaluation.brier:.4f}."
    )
    content = join(
        table(
            head, rows, caption="Error on these rows, compared with other models", class_="errors"
        ),
        tag("p", reason, class_="soft") if reason else None,
        tag("p", explanation, class_="soft"),
    )
    return Section("error", "How often it is wrong", content)
