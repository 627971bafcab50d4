"""The top of a report: title, first paragraph, the most important numbers, alerts, contents."""

from __future__ import annotations

import numpy as np

from ..baselines import Baseline
from ..results import Evaluation
from .alerts import Alert
from .formatting import interval, percent, several, text
from .markup import Markup, tag
from .section import Section


def header(
    title: str,
    description: str,
    sentences: list[str],
    alerts: list[Alert],
    tiles: Markup,
    sections: list[Section],
) -> Markup:
    """Return the top of the page; the last of the sentences is the first alert, if there is one."""
    links = (tag("li", tag("a", section.heading, href=f"#{section.key}")) for section in sections)
    return tag(
        "header",
        tag("h1", title),
        tag("p", description[0].upper() + description[1:], class_="soft"),
        tag("p", " ".join(sentences), class_="lead"),
        tiles,
        _alerts(alerts, {section.key for section in sections}),
        tag("nav", tag("ul", *links), aria_label="Contents"),
    )


def _alerts(alerts: list[Alert], keys: set[str]) -> Markup | None:
    """List what a reader should know; titles link to the sections that tell more."""
    if not alerts:
        return None
    items = [
        tag(
            "li",
            tag("a", alert.title, href=f"#{alert.section}")
            if alert.section in keys
            else tag("strong", alert.title),
            ". ",
            alert.words,
        )
        for alert in alerts
    ]
    return tag(
        "div", tag("h2", "Before you trust it"), tag("ul", *items), class_="note look alerts"
    )


def tiles(evaluation: Evaluation, constant: Baseline) -> Markup:
    """Return the most important numbers; `constant` is the baseline without a model."""
    n_classes = several(len(evaluation.classes), "class", "classes")
    without = f"without a model {constant.log_loss:.3f}"
    shown = [
        _tile("error", percent(evaluation.error.value), interval(evaluation.error)),
        _tile("without a model", percent(constant.error.value), constant.name),
        _tile("log loss", f"{evaluation.log_loss:.3f}", without),
        _tile("rows", f"{evaluation.n_rows:,}", n_classes),
    ]
    auc = evaluation.auc
    if not np.isnan(auc.value):
        more = "mean over classes"
        if not np.isnan(auc.low):
            more = f"{auc.low:.3f} to {auc.high:.3f}"
        shown.insert(2, _tile("AUC", f"{auc.value:.3f}", more))
    if evaluation.promise is not None:
        error = evaluation.promise.error
        answered = f"of the {percent(error.total / evaluation.n_rows)} it answers"
        shown.insert(1, _tile("with rejection", percent(error.value), answered))
    return tag("dl", *shown, class_="tiles")


def _tile(name: str, value: str, more: str) -> Markup:
    return tag("div", tag("dt", name), tag("dd", value), tag("dd", text(more)))
