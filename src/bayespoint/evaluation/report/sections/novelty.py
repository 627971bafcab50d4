"""How unlike the training rows these rows are, and which are most."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ....classifiers.reject.novelty import novelty_of, refuses_novel_rows
from ...intervals import share
from ...results import Evaluation
from ..columns import Table
from ..formatting import interval, percent, several
from ..markup import Markup, join, table, tag
from ..section import Section, class_name, number_cell
from .examples import MAX_EXAMPLE_COLUMNS

# Rows above these novelties are counted.
LEVELS = (0.9, 0.95, 0.99)
HEADING = "Rows unlike the training rows"
EXPLANATION = (
    "The novelty of a row is the share of training rows that are less strange than it, each "
    "compared with all others. So about 5% of new rows of the same kind have more than 95%."
)


def novelty_section(
    model, X, evaluation: Evaluation, cells: Table, n_examples: int, order: Sequence[int]
) -> Section | None:
    """Count novel rows and show the most novel ones; nothing if the model cannot tell."""
    try:
        novelty = novelty_of(getattr(model, "estimator_", model), X)
    except (TypeError, ValueError):  # another classifier, or a file of an earlier version
        return None
    content = [tag("p", EXPLANATION), _counts(novelty, evaluation)]
    if refuses_novel_rows(model):
        n_refused = int(np.count_nonzero(novelty > model.max_novelty))
        limit = percent(model.max_novelty)
        words = f"{several(n_refused, 'row')} above {limit} are refused for their novelty."
        content.append(tag("p", words))
    if n_examples:
        content.append(_most_novel(novelty, evaluation, cells, n_examples, order))
    return Section("novelty", HEADING, join(*content))


def _counts(novelty: np.ndarray, evaluation: Evaluation) -> Markup:
    rows = []
    for level in LEVELS:
        above, sure = novelty > level, evaluation.confidence_level
        found = share(np.count_nonzero(above), len(novelty), sure)
        wrong = evaluation.wrong[above]
        error = share(np.count_nonzero(wrong), len(wrong), sure)
        rows.append(
            [
                f"above {percent(level)}",
                tag("td", percent(found.value), tag("small", interval(found)), class_="right"),
                number_cell(percent(1 - level)),
                number_cell(percent(error.value) if len(wrong) else "–"),
            ]
        )
    head = ["novelty", "rows, interval", "as in training", "error there"]
    return table(head, rows, caption="How many rows are novel")


def _most_novel(
    novelty: np.ndarray, evaluation: Evaluation, cells: Table, n: int, order: Sequence[int]
) -> Markup:
    shown = sorted(order[:MAX_EXAMPLE_COLUMNS])
    head = ["row", "novelty", "true class", "answer", "confidence"]
    rows = [
        [
            cells.row_name(i),
            number_cell(percent(novelty[i])),
            class_name(evaluation, evaluation.target[i]),
            class_name(evaluation, evaluation.predicted[i]),
            number_cell(percent(evaluation.confidence[i])),
            *(cells.cell(i, j) for j in shown),
        ]
        for i in map(int, np.argsort(-novelty, kind="stable")[:n])
    ]
    head += [cells.name(j) for j in shown]
    return table(head, rows, caption="The most novel rows", class_="examples")
