"""Guarantees about the error, and their conditions."""

from __future__ import annotations

import numpy as np

from ....bounds.pac_bayes import Certificate
from ....classifiers.reject.certificate import Certificate as Watched
from ...results import Evaluation, Promise
from ..formatting import interval, level, percent, several, text
from ..markup import Markup, join, tag
from ..section import Section, upper_limit
from .kept_promises import MEANINGS, format_limit, groups_table, promises_table, watched_note
from .rejection import format_threshold


def guarantees_section(
    evaluation: Evaluation, certificate: Certificate | str | None, watched: Watched | None = None
) -> Section:
    """Show the limit from these rows, promises, their watch, and a certificate from training."""
    limit = percent(upper_limit(evaluation))
    held_out = tag(
        "p",
        tag("strong", f"At most {limit} of all rows are answered wrongly, "),
        f"with {level(evaluation.confidence_level)} confidence (exact one-sided limit from "
        f"{several(evaluation.n_rows, 'row')}). This holds if these rows are independent draws "
        "from the source of future rows, and were used neither to train nor to choose the model.",
    )
    promise = evaluation.promise
    content = join(
        held_out,
        _promise(evaluation),
        promises_table(evaluation),
        None if promise is None else groups_table(promise),
        watched_note(watched),
        _certificate(certificate),
    )
    return Section("guarantees", "What is guaranteed", content)


def _promise(evaluation: Evaluation) -> Markup:
    """Say what the reject option promises, and whether that holds here."""
    promise = evaluation.promise
    if promise is None:
        return tag("p", "The model answers every row: it refuses none.")
    if not promise.kept:
        return tag("p", _no_promise(promise), _observed(promise, evaluation.n_rows))
    first, sure = promise.kept[0], level(promise.confidence_level or 0)
    limits = " and ".join(f"{MEANINGS[k.name]} at most {format_limit(k)}" for k in promise.kept)
    each = f" for each {text(promise.by)}" if promise.by else ""
    if promise.threshold == np.inf:
        words = (
            f"Wanted: {limits}{each}, with {sure} confidence. No threshold can promise that, so it "
            "refuses every row. More calibration rows or a larger limit may help."
        )
        return tag("div", tag("p", words), class_="note look")
    if len(promise.kept) > 1:
        limits = "All promises below hold"
    elif first.name == "error":
        limits = f"At most {format_limit(first)} of the answers that it gives are wrong"
    else:
        limits = f"It promises {limits}"
    everywhere = [promise.kept, *(group.kept for group in promise.groups)]
    broken = any(kept.broken for some in everywhere for kept in some)
    surprise = (
        " That is more than was promised, and more than chance explains. Do these rows come from "
        "the same source as the calibration rows?"
    )
    together = " in all of them together" if promise.by else ""
    return tag(
        "div",
        tag(
            "p",
            tag("strong", f"{limits}{each}, "),
            f"with {sure} confidence{together}. {_origin(promise)}",
        ),
        tag("p", _observed(promise, evaluation.n_rows), surprise if broken else None),
        class_="note look" if broken else "note",
    )


def _no_promise(promise: Promise) -> str:
    rate = "" if promise.reject_rate is None else f", to refuse {level(promise.reject_rate)}"
    threshold = format_threshold(promise.threshold)
    return (
        f"The model refuses answers with a confidence below {threshold}{rate}. That is no "
        "promise about the error. "
    )


def _observed(promise: Promise, n_rows: int) -> str:
    """Say what the reject option does on the rows of the report."""
    error = promise.error
    if not error.total:
        return "It answers none of the rows of this report."
    return (
        f"On the rows of this report it answers {percent(error.total / n_rows)}, and "
        f"{percent(error.value)} of these answers are wrong ({error.number:,} of {error.total:,}, "
        f"interval {interval(error)})."
    )


def _origin(promise: Promise) -> str:
    """Say which threshold makes the promise, and how it was found."""
    words = "It need not refuse anything for that."
    if promise.by:
        words = "Each has a threshold of its own, and what is below it is refused."
    elif promise.threshold > -np.inf:
        threshold = format_threshold(promise.threshold)
        words = f"For that it refuses answers with a confidence below {threshold}."
    if not promise.strict:
        return words + " The threshold was cross-validated: a good estimate, not a strict promise."
    if promise.n_calibration:
        was = "thresholds were" if promise.by else "threshold was"
        words += f" The {was} set on {several(promise.n_calibration, 'held-out row')}."
    return words


def _certificate(certificate: Certificate | str | None) -> Markup | None:
    """Show a certificate from the training rows, or why there is none."""
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
        "and is usually much larger than the true error.",
    )
