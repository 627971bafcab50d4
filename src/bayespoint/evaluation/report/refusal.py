"""Sections on refusing to answer, and on what can be promised."""

from __future__ import annotations

import numpy as np

from ...bounds.pac_bayes import Certificate
from ..intervals import Share, share
from ..results import Evaluation, Promise
from . import charts
from .markup import Markup, join, table, tag
from .section import Section, right
from .words import interval, level, percent, several

# Refused shares in the table for those who cannot move the slider.
_REFUSED = (0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5)


def rejection(figures: Evaluation) -> tuple[Section, list[list]]:
    """Let the reader refuse answers; return the section, and what the slider shows."""
    curve, n = figures.rejection, figures.n_rows
    chart, places = charts.rejection(figures)
    points = []
    for (x, y), threshold, accepted, errors, low, high in zip(places, *curve, strict=True):
        kept = Share(int(errors), int(accepted), float(low), float(high))
        coverage = f"{accepted:,} of {n:,} rows ({percent(accepted / n)})"
        points.append(
            [x, y, _digits(threshold), coverage, _error(kept), _sentence(threshold, n, kept)]
        )
    start = 0
    if figures.promise is not None:
        start = int(np.argmin(np.abs(curve.accepted - figures.promise.error.total)))
    control = tag(
        "div",
        tag("label", "Refuse answers with less confidence than", for_="threshold"),
        tag(
            "input", type="range", id="threshold", min=0, max=len(points) - 1, step=1, value=start,
            autocomplete="off", aria_valuetext=points[start][-1],
        ),
        tag(
            "dl",
            *_term("threshold", points[start][2], "shown-threshold"),
            *_term("answered", points[start][3], "shown-coverage"),
            *_term("wrong", points[start][4], "shown-error"),
        ),
        id="control", class_="control", hidden=True,
    )  # fmt: skip
    marked = " The dotted line is the threshold of the model." if figures.promise else ""
    picture = tag(
        "figure",
        chart,
        tag(
            "figcaption",
            "Error among the answers that are left when the least certain ones are refused, with "
            f"the exact {level(figures.confidence_level)} interval at each threshold." + marked,
        ),
    )
    content = join(
        tag(
            "p",
            "A model that knows how sure it is can leave rows to a person. The higher the "
            "threshold, the fewer rows are answered, and the fewer of the answers should be wrong.",
        ),
        tag("div", picture, tag("div", control), class_="pairs"),
        _steps(figures),
        tag(
            "p",
            "Each interval holds for a threshold that was chosen beforehand. Whoever picks the "
            "best one here, and promises its error, promises too much: a reject option with "
            "max_error chooses a threshold that comes with a guarantee.",
            class_="soft",
        ),
    )
    return Section("rejection", "What refusing to answer buys", content), points


def _steps(figures: Evaluation) -> Markup:
    """Return the rejection curve for those who cannot move a slider."""
    curve, rows, last = figures.rejection, [], -1
    for refused in _REFUSED:
        # The least that is refused, but no less than asked for.
        enough = curve.accepted <= (1 - refused) * figures.n_rows
        i = int(np.argmax(enough)) if enough.any() else last
        if i == last:
            continue
        last = i
        kept = Share(int(curve.errors[i]), int(curve.accepted[i]), curve.low[i], curve.high[i])
        rows.append(
            [
                percent(1 - kept.total / figures.n_rows),
                right(_digits(curve.threshold[i])),
                right(f"{kept.total:,}"),
                right(f"{kept.number:,}"),
                right(percent(kept.value)),
                tag("td", interval(kept), class_="tight"),
            ]
        )
    head = ["refused", "threshold", "answers", "wrong", "error", "interval"]
    return table(head, rows, caption="Some thresholds")


def _term(name: str, value: str, key: str) -> tuple[Markup, Markup]:
    return tag("dt", name), tag("dd", value, id=key)


def _digits(threshold: float) -> str:
    return f"{threshold:.4f}" if np.isfinite(threshold) else "none is high enough"


def _error(kept: Share) -> str:
    return f"{kept.number:,} of these: {percent(kept.value)} ({interval(kept)})"


def _sentence(threshold: float, n_rows: int, kept: Share) -> str:
    return (
        f"threshold {_digits(threshold)}: {percent(kept.total / n_rows)} of the rows answered, "
        f"{percent(kept.value)} of the answers wrong"
    )


def guarantees(figures: Evaluation, certificate: Certificate | str | None) -> Section:
    """Show what is certain, and under which conditions."""
    sure = level(figures.confidence_level)
    held_out = tag(
        "p",
        tag("strong", f"At most {percent(_upper(figures))} of all rows are answered wrongly, "),
        f"with {sure} confidence (exact one-sided limit from {several(figures.n_rows, 'row')}). "
        "It holds if these rows are independent draws of what is to come, and were used neither to "
        "train the model nor to choose it.",
    )
    return Section(
        "guarantees",
        "What can be promised",
        join(held_out, _promised(figures.promise, figures), _certified(certificate)),
    )


def _upper(figures: Evaluation) -> float:
    """Return the one-sided limit of the error: all of the risk is spent on the upper end."""
    both_sides = max(2 * figures.confidence_level - 1, 0.0)
    return share(figures.error.number, figures.error.total, both_sides).high


def _promised(promise: Promise | None, figures: Evaluation) -> Markup:
    """Say what the reject option is good for, and whether that is so here."""
    if promise is None:
        return tag("p", "The model answers every row: it refuses none.")
    here = promise.error
    observed = (
        f"On the rows of this report it answers {percent(here.total / figures.n_rows)}, and "
        f"{percent(here.value)} of these answers are wrong ({here.number:,} of {here.total:,}, "
        f"interval {interval(here)})."
        if here.total
        else "It answers none of the rows of this report."
    )
    if promise.max_error is None:
        rate = "" if promise.reject_rate is None else f", to refuse {level(promise.reject_rate)}"
        wish = f"The model refuses answers with a confidence below {_digits(promise.threshold)}"
        return tag("p", f"{wish}{rate}. That is no promise about the error. ", observed)
    most, sure = level(promise.max_error), level(promise.confidence_level or 0)
    if promise.threshold == np.inf:
        words = (
            f"The model was asked to be wrong in at most {most} of its answers, with {sure} "
            "confidence. No threshold can promise that, so it refuses every row. More rows to "
            "calibrate it, or a larger max_error, may help."
        )
        return tag("div", tag("p", words), class_="note look")
    broken = here.total > 0 and here.low > promise.max_error
    surprise = (
        " That is more than was promised, and more than chance explains: are these rows like those "
        "that it was calibrated with?"
    )
    return tag(
        "div",
        tag(
            "p",
            tag("strong", f"At most {most} of the answers that it gives are wrong, "),
            f"with {sure} confidence. {_because(promise)}",
        ),
        tag("p", observed, surprise if broken else None),
        class_="note look" if broken else "note",
    )


def _because(promise: Promise) -> str:
    """Say where the promise comes from."""
    words = "It need not refuse anything for that."
    if promise.threshold > -np.inf:
        words = f"For that it refuses answers with a confidence below {_digits(promise.threshold)}."
    if not promise.strict:
        return words + " The threshold was cross-validated: a good estimate, not a strict promise."
    if promise.n_calibration:
        words += f" This was found with {several(promise.n_calibration, 'row')} held out for it."
    return words


def _certified(certificate: Certificate | str | None) -> Markup | None:
    if certificate is None:
        return None
    if isinstance(certificate, str):
        return tag(
            "p",
            f"No certificate from the training rows (bounds.pac_bayes_certificate): {certificate}",
            class_="soft",
        )
    return tag(
        "p",
        tag("strong", f"From the training rows alone: at most {percent(certificate.mean)}, "),
        f"with {level(certificate.confidence)} confidence (PAC-Bayes; "
        f"{percent(certificate.gibbs)} for a random classifier around it). It needs no test rows, "
        "and is usually much larger than the truth.",
    )
