"""Sections on how good the answers and their probabilities are."""

from __future__ import annotations

import numpy as np

from ..baselines import Baseline
from ..results import Evaluation
from . import charts
from .markup import Markup, join, table, tag
from .section import MOST_CLASSES, Section, answer, right
from .words import between, interval, level, percent

_N_SHADES = 5


def error(figures: Evaluation, baselines: list[Baseline], reason: str | None) -> Section:
    """Compare the error with those of others."""
    sure = level(figures.confidence_level)
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
                ["", "error", f"{sure} interval", "", "log loss", "how"],
                rows,
                caption="Error on these rows beside that of others",
            ),
            tag("p", reason, class_="soft") if reason else None,
            tag(
                "p",
                "The intervals are exact (Clopper and Pearson): over many sets of "
                f"{figures.n_rows:,} rows they hold the true error at least {sure} of the "
                "time. The log loss punishes confident mistakes: smaller is better, and 0 is "
                "perfect. ",
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
        [percent(c), right(f"{n:,}"), right(percent(r / n)), right(between(lo, hi))]
        for c, r, n, lo, hi in zip(*bins, strict=True)
    ]
    sure = level(figures.confidence_level)
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
                        f"exact {sure} intervals. On the dashed line probabilities are what they "
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
    lists = tag("div", tag("div", _by_class(figures)), tag("div", _pairs(figures)), class_="pairs")
    return Section("confusion", "Which classes it confuses", join(matrix, lists))


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
    told = "Rows by true class (down) and answer (across)"
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
    if len(off) <= 5:
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
