"""How well the probabilities rank rows of the rarer class: ROC, precision and recall, lift."""

from __future__ import annotations

import numpy as np

from ...results import Evaluation
from .. import curves
from ..axes import Axes, round_up
from ..curves import Curve
from ..formatting import between, level, percent
from ..markup import Markup, join, table, tag
from ..section import Section, class_name, number_cell

# Largest lift that the axis shows; single rows at the top may exceed it.
MAX_LIFT_SHOWN = 50.0


def ranking_section(evaluation: Evaluation) -> Section | None:
    """Draw ROC, precision-recall and lift curves; nothing unless both of two classes occur."""
    rare = evaluation.ranking
    if rare is None or rare.n_rows in (0, evaluation.n_rows):
        return None
    truth = evaluation.target == rare.position
    score = evaluation.probability[:, rare.position]
    name = f"“{class_name(evaluation, rare.position)}”"
    share = float(truth.mean())
    charts = tag(
        "div",
        _roc(curves.roc(truth, score), name),
        _precision(curves.precision_recall(truth, score), share, name),
        _lift(curves.lift(truth, score), name),
        class_="charts",
    )
    words = (
        f"Sort the rows by their probability of {name}, the rarer class ({percent(share)} of the "
        "rows). The curves show how many rows of this class come first; the dashed lines are an "
        f"order by chance. A row of {name} comes before another row in {percent(rare.auc.value)} "
        f"of the cases (AUC, {level(evaluation.confidence_level)} interval "
        f"{between(rare.auc.low, rare.auc.high)}). The average precision is "
        f"{rare.average_precision:.3f}; by chance it would be {share:.3f}."
    )
    content = join(tag("p", words), charts, _table(truth, score, name))
    return Section("ranking", f"How well it finds {name}", content)


def _roc(curve: Curve, name: str) -> Markup:
    axes = Axes((0, 1), (0, 1), small=True)
    parts = [
        axes.frame("false alarms among others", "found (recall)"),
        axes.line([0, 1], [0, 1], "ideal"),
        axes.line(curve.x, curve.y, "curve"),
    ]
    half = float(np.interp(0.1, curve.x, curve.y))
    description = f"ROC curve. {percent(half)} of {name} are found at 10% false alarms."
    return _figure(axes.svg(join(*parts), description), "ROC curve")


def _precision(curve: Curve, share: float, name: str) -> Markup:
    axes = Axes((0, 1), (0, 1), small=True)
    parts = [
        axes.frame("found (recall)", "precision"),
        axes.line([0, 1], [share, share], "ideal"),
        axes.line(curve.x, curve.y, "curve"),
    ]
    half = float(curve.y[np.searchsorted(curve.x, 0.5)])
    description = (
        f"Precision-recall curve. Precision is {percent(half)} where half of {name} is found."
    )
    return _figure(axes.svg(join(*parts), description), "Precision and recall")


def _lift(curve: Curve, name: str) -> Markup:
    axes = Axes((0, 1), (0, round_up(max(curve.y.max(), 2), MAX_LIFT_SHOWN)), small=True, unit="×")
    parts = [
        axes.frame("rows, most probable first", "lift"),
        axes.line([0, 1], [1, 1], "ideal"),
        axes.line(curve.x, curve.y, "curve"),
    ]
    tenth = float(np.interp(0.1, curve.x, curve.y))
    description = f"Lift curve. The first tenth of the rows has {tenth:.1f} times as many {name}."
    return _figure(axes.svg(join(*parts), description), "Lift")


def _figure(chart: Markup, caption: str) -> Markup:
    return tag("figure", chart, tag("figcaption", caption))


def _table(truth: np.ndarray, score: np.ndarray, name: str) -> Markup:
    """Show what the most probable rows contain."""
    rows, n_seen = [], 0
    for share in curves.TOP_SHARES:
        top = curves.top(truth, score, share)
        if top.n_rows < curves.MIN_TOP_ROWS or top.n_rows == n_seen:
            continue
        n_seen = top.n_rows
        rows.append(
            [
                f"first {share:.0%}",
                number_cell(f"{top.n_found:,} of {top.n_rows:,}"),
                number_cell(percent(top.n_found / top.n_rows)),
                number_cell(percent(top.recall)),
                number_cell(f"{top.lift:.1f} ×"),
            ]
        )
    if not rows:
        return join()
    head = ["rows", name, "share", f"of all {name}", "lift"]
    caption = "If only the most probable rows are looked at"
    return table(head, rows, caption=caption)
