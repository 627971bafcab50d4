"""The top of a report: title, summary, the most important numbers, contents."""

from __future__ import annotations

from ..baselines import Baseline
from ..results import Evaluation
from ..seen import UNKNOWN
from .formatting import interval, level, percent, several, text
from .markup import Markup, tag
from .section import Section


def header(
    title: str,
    description: str,
    evaluation: Evaluation,
    constant: Baseline,
    sections: list[Section],
) -> Markup:
    """Return the top of the page; `constant` is the baseline without a model."""
    links = (tag("li", tag("a", section.heading, href=f"#{section.key}")) for section in sections)
    return tag(
        "header",
        tag("h1", title),
        tag("p", description[0].upper() + description[1:], class_="soft"),
        tag("p", _summary(evaluation, constant), class_="lead"),
        tag("p", UNKNOWN if evaluation.seen is None else evaluation.seen.sentence(), class_="soft"),
        tag("dl", *_tiles(evaluation, constant), class_="tiles"),
        tag("nav", tag("ul", *links), aria_label="Contents"),
    )


def _summary(evaluation: Evaluation, constant: Baseline) -> str:
    error = evaluation.error
    return (
        f"On {several(evaluation.n_rows, 'row')}{_whether_new(evaluation)}, the model is wrong on "
        f"{percent(error.value)} of them (the {level(evaluation.confidence_level)} interval is "
        f"{interval(error)}). "
        + constant.name.replace("always", "Always answering", 1)
        + f" would be wrong on {percent(constant.error.value)}."
    )


def _whether_new(evaluation: Evaluation) -> str:
    """Say "that it had not seen" only where that is known."""
    seen = evaluation.seen
    known = seen is not None and seen.only_new and seen.n_checked == seen.n_given
    return " that it had not seen" if known else ""


def _tiles(evaluation: Evaluation, constant: Baseline) -> list[Markup]:
    n_classes = several(len(evaluation.classes), "class", "classes")
    without = f"without a model {constant.log_loss:.3f}"
    tiles = [
        _tile("error", percent(evaluation.error.value), interval(evaluation.error)),
        _tile("without a model", percent(constant.error.value), constant.name),
        _tile("log loss", f"{evaluation.log_loss:.3f}", without),
        _tile("rows", f"{evaluation.n_rows:,}", n_classes),
    ]
    if evaluation.promise is not None:
        error = evaluation.promise.error
        answered = f"of the {percent(error.total / evaluation.n_rows)} it answers"
        tiles.insert(1, _tile("with rejection", percent(error.value), answered))
    return tiles


def _tile(name: str, value: str, more: str) -> Markup:
    return tag("div", tag("dt", name), tag("dd", value), tag("dd", text(more)))
