"""The sections of a report, each from the figures that it shows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from ..baselines import Baseline
from ..bounds.pac_bayes import Certificate
from ..evaluation import Evaluation, Promise, Share, share
from . import charts
from .columns import Table
from .diagnosis import Finding
from .markup import Markup, join, table, tag
from .words import between, interval, number, percent, several, text

# Columns and classes that are shown; a reader who wants more has the data.
MOST_COLUMNS = 40
MOST_EXAMPLE_COLUMNS = 15
MOST_CLASSES = 20
# Refused shares in the table for those who cannot move the slider.
_REFUSED = (0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5)
_N_SHADES = 5


class Section(NamedTuple):
    """A part of the page with a heading."""

    key: str
    heading: str
    content: Markup


def right(cell: object) -> Markup:
    """Return a cell with a number."""
    return tag("td", cell, class_="right")


def answer(figures: Evaluation, position: int) -> str:
    """Return the name of a class."""
    return text(figures.classes[position])


def facts(rows: Mapping[str, object]) -> Section:
    """Say what the report is about."""
    body = [[name, tag("td", number(value), class_="words")] for name, value in rows.items()]
    return Section("about", "What this is", table(["", ""], body, caption="Model and data"))


def data(cells: Table, figures: Evaluation) -> Section:
    """Summarize the columns."""
    columns = cells.describe(MOST_COLUMNS)
    rows = [
        [
            column.name,
            tag("td", charts.histogram(column.bars, f"Histogram of {column.name}")),
            column.kind,
            right(percent(column.n_missing / cells.n_rows) if column.n_missing else "none"),
            tag("td", column.words, class_="words"),
        ]
        for column in columns
    ]
    more = cells.n_columns - len(columns)
    shown = "Columns" if not more else f"The first {len(columns)} of {cells.n_columns:,} columns"
    counts = np.bincount(figures.target, minlength=len(figures.classes))
    order = np.argsort(-counts, kind="stable")[:MOST_CLASSES]
    classes = [
        [answer(figures, i), right(f"{counts[i]:,}"), right(percent(counts[i] / figures.n_rows))]
        for i in order
    ]
    return Section(
        "data",
        "The data",
        join(
            table(["column", "distribution", "kind", "missing", "values"], rows, caption=shown),
            table(
                ["class", tag("span", "rows"), "share"],
                classes,
                caption="Classes"
                if len(order) == len(counts)
                else f"The {len(order)} most frequent of {len(counts):,} classes",
            ),
            _unknown(figures),
        ),
    )


def _unknown(figures: Evaluation) -> Markup | None:
    """Say that there are classes which the model cannot answer."""
    n_rows = int(np.count_nonzero(figures.target >= figures.n_known))
    if not n_rows:
        return None
    names = ", ".join(f"“{text(name)}”" for name in figures.classes[figures.n_known :][:5])
    return tag(
        "div",
        tag(
            "p",
            f"{several(n_rows, 'row')} of classes that the model has never seen ({names}): it "
            "cannot be right there. They count as errors.",
        ),
        class_="note look",
    )


def error(figures: Evaluation, baselines: list[Baseline], reason: str | None) -> Section:
    """Compare the error with those of others."""
    level = percent(figures.confidence_level)
    ours = Baseline("this model", "learned from its training rows", figures.error, figures.log_loss)
    everything = [ours, *baselines]
    top = max(max(b.error.high for b in everything), 1e-3)
    rows = [
        [
            b.name,
            right(percent(b.error.value)),
            tag("td", interval(b.error), class_="tight"),
            tag(
                "td", charts.whisker(b.error.value, b.error.low, b.error.high, top, ours=b is ours)
            ),
            right(f"{b.log_loss:.3f}"),
            tag("td", b.how, class_="words"),
        ]
        for b in everything
    ]
    return Section(
        "error",
        "How often it is wrong",
        join(
            table(
                ["", "error", f"{level} interval", "", "log loss", "how"],
                rows,
                caption="Error on these rows beside that of others",
            ),
            tag("p", reason, class_="soft") if reason else None,
            tag(
                "p",
                f"The intervals are exact (Clopper and Pearson): over many sets of "
                f"{figures.n_rows:,} rows they hold the true error at least {level} of the "
                "time. The log loss punishes confident mistakes: smaller is better, and 0 is perfect. ",
                f"Brier score of this model: {figures.brier:.4f}.",
                class_="soft",
            ),
        ),
    )


def calibration(figures: Evaluation) -> Section:
    """Say whether probabilities can be believed."""
    mean, share = float(figures.confidence.mean()), 1 - figures.error.value
    # If every probability is right, the number of right answers has this variance.
    spread = float(np.sqrt(np.sum(figures.confidence * (1 - figures.confidence))))
    off = figures.n_rows * abs(mean - share)
    difference = (
        f"On average it is {percent(mean)} sure, and right in {percent(share)} of the rows. "
    )
    if off <= 2 * spread:
        verdict = "That is as close as chance allows."
    elif mean > share:
        verdict = "It is too sure of itself, by more than chance explains."
    else:
        verdict = "It is less sure than it could be, by more than chance explains."
    bins = figures.reliability
    rows = [
        [percent(c), right(f"{n:,}"), right(percent(r / n)), tag("td", between(lo, hi))]
        for c, r, n, lo, hi in zip(*bins, strict=True)
    ]
    level = percent(figures.confidence_level)
    return Section(
        "calibration",
        "Whether its probabilities can be believed",
        join(
            tag("p", difference, verdict),
            tag(
                "div",
                tag(
                    "figure",
                    charts.reliability(figures),
                    tag(
                        "figcaption",
                        "Rows with about the same confidence, and how many of them are right, with "
                        f"exact {level} intervals. On the dashed line probabilities are what they "
                        "say.",
                    ),
                ),
                tag(
                    "div",
                    table(
                        ["confidence", "rows", "right", "interval"],
                        rows,
                        caption="The same in numbers",
                    ),
                ),
                class_="pairs",
            ),
        ),
    )


def confusion(figures: Evaluation) -> Section:
    """Show which classes are taken for which."""
    matrix = _matrix(figures) if len(figures.classes) <= MOST_CLASSES else None
    return Section(
        "confusion", "Which classes it confuses", join(matrix, _pairs(figures), _by_class(figures))
    )


def _matrix(figures: Evaluation) -> Markup:
    counts = figures.confusion
    of_class = np.maximum(counts.sum(axis=1), 1)
    worst = max(1.0 * (counts - np.diag(np.diag(counts))).max(), 1)
    rows = []
    for i, row in enumerate(counts):
        cells = []
        for j, n in enumerate(row):
            depth = n / of_class[i] if i == j else n / worst
            shade = f" shade-{int(np.ceil(depth * _N_SHADES))}" if n else " zero"
            cells.append(
                tag("td", f"{n:,}", class_=("right-answer" if i == j else "wrong-answer") + shade)
            )
        rows.append([answer(figures, i), *cells])
    head = ["true ↓ answer →", *(answer(figures, j) for j in range(len(counts)))]
    told = "Rows of each true class (down) by the answer that they got (across)"
    return table(head, rows, caption=told, class_="confusion")


def _pairs(figures: Evaluation) -> Markup:
    off = figures.confusion - np.diag(np.diag(figures.confusion))
    order = np.argsort(-off, axis=None, kind="stable")[: 10 if len(off) <= MOST_CLASSES else 20]
    rows = []
    for place in order:
        i, j = divmod(int(place), len(off))
        if off[i, j]:
            of_class = percent(off[i, j] / figures.confusion[i].sum())
            rows.append(
                [answer(figures, i), answer(figures, j), right(f"{off[i, j]:,}"), right(of_class)]
            )
    if not rows:
        return tag("p", "None: every row of this evaluation is answered correctly.")
    if len(off) == 2:
        return join()
    told = "The most frequent mistakes"
    return table(["true class", "answer", "rows", "of the class"], rows, caption=told)


def _by_class(figures: Evaluation) -> Markup:
    counts = figures.confusion
    hit, truth, answered = np.diag(counts), counts.sum(axis=1), counts.sum(axis=0)
    missed = (truth - hit) / np.maximum(truth, 1)
    order = np.argsort(-missed, kind="stable")[:MOST_CLASSES]
    rows = [
        [
            answer(figures, i),
            right(f"{truth[i]:,}"),
            right(percent(hit[i] / truth[i]) if truth[i] else "–"),
            right(percent(hit[i] / answered[i]) if answered[i] else "–"),
        ]
        for i in order
    ]
    some = (
        f"The {len(order)} classes that are missed most" if len(order) < len(counts) else "Classes"
    )
    return table(
        ["class", "rows", "found (recall)", "answer is right (precision)"], rows, caption=some
    )


def rejection(figures: Evaluation) -> tuple[Section, list[list]]:
    """Let the reader refuse answers; return the section, and what the slider shows."""
    curve, n = figures.rejection, figures.n_rows
    chart, places = charts.rejection(figures)
    points = []
    for (x, y), threshold, accepted, errors, low, high in zip(places, *curve, strict=True):
        share = Share(int(errors), int(accepted), float(low), float(high))
        coverage = f"{accepted:,} of {n:,} rows ({percent(accepted / n)})"
        points.append(
            [x, y, _digits(threshold), coverage, _error(share), _sentence(threshold, n, share)]
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
            f"the exact {percent(figures.confidence_level)} interval at each threshold." + marked,
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
            "best one here, and promises its error, promises too much: a reject option with max_error "
            "chooses a threshold that comes with a guarantee.",
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
        share = Share(int(curve.errors[i]), int(curve.accepted[i]), curve.low[i], curve.high[i])
        rows.append(
            [
                percent(1 - share.total / figures.n_rows),
                right(_digits(curve.threshold[i])),
                right(f"{share.total:,}"),
                right(f"{share.number:,}"),
                right(percent(share.value)),
                tag("td", interval(share), class_="tight"),
            ]
        )
    head = ["refused", "threshold", "answers", "wrong", "error", "interval"]
    return table(head, rows, caption="Some thresholds")


def _term(name: str, value: str, key: str) -> tuple[Markup, Markup]:
    return tag("dt", name), tag("dd", value, id=key)


def _digits(threshold: float) -> str:
    return f"{threshold:.4f}" if np.isfinite(threshold) else "none is high enough"


def _error(share: Share) -> str:
    return f"{share.number:,} of these: {percent(share.value)} ({interval(share)})"


def _sentence(threshold: float, n_rows: int, share: Share) -> str:
    return (
        f"threshold {_digits(threshold)}: {percent(share.total / n_rows)} of the rows answered, "
        f"{percent(share.value)} of the answers wrong"
    )


def examples(figures: Evaluation, cells: Table, n_examples: int) -> Section | None:
    """Show rows that a person should look at."""
    if not n_examples:
        return None
    wrong = np.flatnonzero(figures.wrong)
    hardest = wrong[np.argsort(-figures.confidence[wrong], kind="stable")][:n_examples]
    unsure = np.argsort(figures.confidence, kind="stable")[:n_examples]
    named = (
        "Rows have the names of their index." if cells.has_labels else "Rows are counted from 1."
    )
    if cells.n_columns > MOST_EXAMPLE_COLUMNS:
        named += f" The first {MOST_EXAMPLE_COLUMNS} of {cells.n_columns:,} columns are shown."
    return Section(
        "examples",
        "Rows to look at",
        join(
            tag(
                "p", "Mistakes of which the model was sure often are mistakes in the data. ", named
            ),
            _rows(figures, cells, hardest, "Wrong, with the greatest confidence")
            if len(hardest)
            else tag("p", "No row is answered wrongly."),
            _rows(figures, cells, unsure, "Least certain"),
        ),
    )


def _rows(figures: Evaluation, cells: Table, chosen: np.ndarray, told: str) -> Markup:
    shown = range(min(cells.n_columns, MOST_EXAMPLE_COLUMNS))
    head = ["row", "true class", "answer", "confidence", *(cells.name(j) for j in shown)]
    rows = [
        [
            cells.row_name(i),
            answer(figures, figures.target[i]),
            answer(figures, figures.predicted[i]),
            right(percent(figures.confidence[i])),
            *(cells.cell(i, j) for j in shown),
        ]
        for i in map(int, chosen)
    ]
    return table(head, rows, caption=told, class_="examples")


def diagnosis(findings: list[Finding]) -> Section:
    """Show what the solver says."""
    if not findings:
        content = tag("p", "This kind of model reports nothing about its training.")
        return Section("training", "How the training went", content)
    verdicts = {True: ("fine", "✓ fine"), False: ("look", "! look at this"), None: ("", "")}
    rows = [
        [
            finding.name,
            right(finding.value),
            tag("td", verdicts[finding.fine][1], class_=f"verdict {verdicts[finding.fine][0]}"),
            tag("td", finding.meaning, class_="words"),
        ]
        for finding in findings
    ]
    content = table(["", "value", "", "what it means"], rows, caption="What the solver reports")
    return Section("training", "How the training went", content)


def guarantees(figures: Evaluation, certificate: Certificate | str | None) -> Section:
    """Show what is certain, and under which conditions."""
    level = percent(figures.confidence_level)
    # One-sided: all of the risk is spent on the upper end.
    sided = Share(*figures.error[:2], *_upper(figures))
    held_out = tag(
        "p",
        tag("strong", f"At most {percent(sided.high)} of all rows are answered wrongly, "),
        f"with {level} confidence (exact one-sided limit from {several(figures.n_rows, 'row')}). "
        "It holds if these rows are independent draws of what is to come, and were used neither to "
        "train the model nor to choose it.",
    )
    return Section(
        "guarantees",
        "What can be promised",
        join(held_out, _promised(figures.promise, figures), _certified(certificate)),
    )


def _upper(figures: Evaluation) -> tuple[float, float]:
    twice = 1 - 2 * (1 - figures.confidence_level)
    return 0.0, share(*figures.error[:2], max(twice, 0.0)).high


def _promised(promise: Promise | None, figures: Evaluation) -> Markup:
    if promise is None:
        return tag("p", "The model answers every row: it has no threshold of its own.")
    here = promise.error
    observed = (
        f"On the rows of this report it answers {percent(here.total / figures.n_rows)}, and "
        f"{percent(here.value)} of these answers are wrong ({here.number:,} of {here.total:,}, "
        f"interval {interval(here)})."
        if here.total
        else "It answers none of the rows of this report."
    )
    if promise.max_error is None:
        wish = (
            f"The model refuses answers with a confidence below {_digits(promise.threshold)}"
            + (f", to refuse {percent(promise.reject_rate)}" if promise.reject_rate else "")
            + ". That comes with no promise about the error. "
        )
        return tag("p", wish, observed)
    calibrated = (
        f" It was chosen from {several(promise.n_calibration, 'row')} held out for this."
        if promise.n_calibration
        else ""
    )
    broken = here.total > 0 and here.low > promise.max_error
    return tag(
        "div",
        tag(
            "p",
            tag(
                "strong",
                f"At most {percent(promise.max_error)} of the answers that it gives are wrong, ",
            ),
            f"with {percent(promise.confidence_level or 0)} confidence, because it refuses to "
            f"answer below a confidence of {_digits(promise.threshold)}.{calibrated}",
        ),
        tag(
            "p",
            observed,
            " That is more than was promised, and more than chance explains: are these rows "
            "like those it was made for?"
            if broken
            else "",
        ),
        class_="note look" if broken else "note",
    )


def _certified(certificate: Certificate | str | None) -> Markup | None:
    if certificate is None:
        return None
    if isinstance(certificate, str):
        return tag("p", f"No certificate from the training rows: {certificate}", class_="soft")
    return tag(
        "p",
        tag("strong", f"From the training rows alone: at most {percent(certificate.mean)}, "),
        f"with {percent(certificate.confidence)} confidence (PAC-Bayes; "
        f"{percent(certificate.gibbs)} for a random classifier around it). It needs no test rows, "
        "and is usually much larger than the truth.",
    )
