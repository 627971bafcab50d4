"""How often the model is wrong, compared with baselines."""

from __future__ import annotations

from ...baselines import Baseline
from ...record import TrainingRecord
from ...results import Evaluation
from ..charts import whisker
from ..formatting import interval, level, percent
from ..markup import Markup, join, table, tag
from ..section import Section, class_name, number_cell

# The scale of the whiskers goes at least up to this error.
MIN_SCALE = 1e-3


def error_section(
    evaluation: Evaluation,
    baselines: list[Baseline],
    reason: str | None,
    record: TrainingRecord | None = None,
) -> Section:
    """Compare the error with the baselines; `reason` says why baselines are missing.

    The record of the training has baselines that were judged on the rows held out then.
    """
    sure = level(evaluation.confidence_level)
    how = "learned from its training rows"
    ours = Baseline("this model", how, evaluation.error, evaluation.log_loss)
    compared = [ours, *baselines]
    explanation = (
        f"The intervals are exact (Clopper and Pearson): for at least {sure} of all sets of "
        f"{evaluation.n_rows:,} rows they contain the true error. The log loss punishes confident "
        "mistakes: smaller is better, and 0 is perfect. The Brier score of this model is "
        f"{evaluation.brier:.4f}."
    )
    content = join(
        _comparison(compared, "Error on these rows, compared with other models", sure),
        tag("p", reason, class_="soft") if reason else None,
        _cost(evaluation, sure),
        _held_out(record, sure),
        tag("p", explanation, class_="soft"),
    )
    return Section("error", "How often it is wrong", content)


def _cost(evaluation: Evaluation, sure: str) -> Markup | None:
    """Say what the answers cost, if costs decide them."""
    cost = evaluation.cost
    if cost is None:
        return None
    words = (
        "Its answers are chosen to cost little, not to be wrong rarely. A row costs "
        f"{cost.value:.3g} on average ({sure} interval {cost.low:.3g} to {cost.high:.3g}); always "
        f"answering “{class_name(evaluation, cost.constant)}” would cost {cost.constant_value:.3g}."
    )
    return tag("p", words)


def _comparison(compared: list[Baseline], caption: str, sure: str) -> Markup:
    """Return a table of errors; the first is this model."""
    top = max(MIN_SCALE, *(b.error.high for b in compared))
    rows = [
        [
            b.name,
            tag("td", percent(b.error.value), tag("small", interval(b.error)), class_="right"),
            tag(
                "td",
                whisker(b.error.value, b.error.low, b.error.high, top, ours=i == 0),
                class_="whiskers",
            ),
            number_cell(f"{b.log_loss:.3f}"),
        ]
        for i, b in enumerate(compared)
    ]
    head = ["", f"error, {sure} interval", "", "log loss"]
    learned: dict[str, list[str]] = {}
    for b in compared:
        learned.setdefault(b.how, []).append(b.name)
    words = "; ".join(f"{' and '.join(names)}: {how}" for how, names in learned.items())
    return join(
        table(head, rows, caption=caption, class_="errors"),
        tag("p", words[0].upper() + words[1:] + ".", class_="soft"),
    )


def _held_out(record: TrainingRecord | None, sure: str) -> Markup | None:
    """Compare with other models on the rows that were held out in training."""
    if record is None:
        return None
    reason = tag("p", record.reason, class_="soft") if record.reason else None
    if len(record.baselines) < 2:
        return reason
    n_rows = record.baselines[0].error.total
    caption = f"Error on {n_rows:,} rows held out in training, of models from the same rows"
    return join(_comparison(record.baselines, caption, sure), reason)
