"""Whether the probabilities of the model are right."""

from __future__ import annotations

import numpy as np

from ...results import Evaluation
from .. import charts
from ..formatting import between, level, percent
from ..markup import join, table, tag
from ..section import Section, number_cell

# Differences of up to two standard deviations count as chance.
MAX_DEVIATIONS_BY_CHANCE = 2


def calibration_section(evaluation: Evaluation) -> Section:
    """Compare confidence with the share of right answers."""
    caption = (
        "Rows grouped by confidence, and the share of each group that is right, with exact "
        f"{level(evaluation.confidence_level)} intervals. Correct probabilities lie on the "
        "dashed line."
    )
    rows = [
        [
            percent(confidence),
            number_cell(f"{total:,}"),
            number_cell(percent(right / total)),
            number_cell(between(low, high)),
        ]
        for confidence, right, total, low, high in zip(*evaluation.reliability, strict=True)
    ]
    numbers = table(
        ["confidence", "rows", "right", "interval"], rows, caption="The same in numbers"
    )
    content = join(
        tag("p", _verdict(evaluation)),
        tag(
            "div",
            tag("figure", charts.reliability(evaluation), tag("figcaption", caption)),
            tag("div", numbers),
            class_="pairs",
        ),
    )
    return Section("calibration", "Whether its probabilities are right", content)


def _verdict(evaluation: Evaluation) -> str:
    """Say whether the model is too sure, not sure enough, or neither."""
    mean, share = float(evaluation.confidence.mean()), 1 - evaluation.error.value
    # The standard deviation of the number of right answers, if every probability is right.
    spread = float(np.sqrt(np.sum(evaluation.confidence * (1 - evaluation.confidence))))
    if evaluation.n_rows * abs(mean - share) <= MAX_DEVIATIONS_BY_CHANCE * spread:
        verdict = "That is as close as chance allows."
    elif mean > share:
        verdict = "It is too sure of itself, by more than chance explains."
    else:
        verdict = "It is less sure than it could be, by more than chance explains."
    return (
        f"On average it is {percent(mean)} sure, and right in {percent(share)} of the rows. "
        + verdict
    )
