"""What a reader should know about the data before trusting the numbers, the gravest first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from .columns import missing_values
from .facts import Facts
from .formatting import percent, several, text
from .section import class_name, rows_in_words
from .sections.kept_promises import MEANINGS, format_limit, format_value

# An interval of the error that is wider than this says little.
MAX_INTERVAL_WIDTH = 0.1
# A class of two that is rarer than this is hidden by the error.
MIN_CLASS_SHARE = 0.1
# Recall and precision of a class with fewer rows are rough.
MIN_CLASS_ROWS = 10
# Columns with a larger share of missing values are named.
MAX_MISSING_SHARE = 0.2
# Look for missing values in this many columns at most.
MAX_COLUMNS = 500
# Names in a sentence.
MAX_NAMES = 5
# One column may be a copy of the target if the error is below this, although guessing is wrong
# on five times as many rows, and the column matters ten times as much as the next one.
MAX_SUSPICIOUS_ERROR, MIN_GAIN, MIN_RATIO = 0.02, 5, 10


LEAK_QUESTION = "Is it known before the answer is, or does it follow from the answer?"


class Alert(NamedTuple):
    """Something that a reader should know."""

    title: str
    words: str
    section: str  # key of the section that tells more


def find_alerts(facts: Facts) -> list[Alert]:
    """Return alerts, the gravest first."""
    makers = (
        *(_seen_rows, _unknown_classes, _watched, _broken_promise, _one_column, _rare_class),
        *(
            _refused_groups,
            _drift,
            _new_categories,
            _few_rows,
            _small_classes,
            _missing_values,
            _training,
        ),
    )
    return [alert for make in makers for alert in make(facts)]


def _seen_rows(facts: Facts) -> Iterator[Alert]:
    seen = facts.evaluation.seen
    if seen is None:
        words = f"{rows_in_words(seen)} If it learned from some of them, new rows are harder."
        yield Alert("Perhaps not new", words, "about")
    elif seen.n_seen or seen.n_held_out or seen.n_checked < seen.n_given:
        yield Alert("Rows of the training", rows_in_words(seen), "about")


def _unknown_classes(facts: Facts) -> Iterator[Alert]:
    evaluation = facts.evaluation
    n_rows = int(np.count_nonzero(evaluation.target >= evaluation.n_known))
    if n_rows:
        names = _listed(f"“{text(name)}”" for name in evaluation.classes[evaluation.n_known :])
        words = (
            f"{several(n_rows, 'row')} of classes that the model has never seen ({names}): it "
            "cannot be right there, so they count as errors."
        )
        yield Alert("Unknown classes", words, "confusion")


def _watched(facts: Facts) -> Iterator[Alert]:
    if facts.watched is not None and not facts.watched.holds:
        words = "Since deployment more of its answers were wrong than it promises."
        yield Alert("Broken promise", words, "guarantees")


def _broken_promise(facts: Facts) -> Iterator[Alert]:
    promise = facts.evaluation.promise
    if promise is None:
        return
    for kept in promise.kept:
        if kept.broken:
            words = (
                f"It promises {MEANINGS[kept.name]} of at most {format_limit(kept)}, but here it "
                f"is {format_value(kept)}, more than chance explains."
            )
            if kept.name == "error":
                words = (
                    f"It promises at most {percent(kept.limit)} wrong answers, but here "
                    f"{percent(kept.value)} are wrong, more than chance explains."
                )
            yield Alert("Broken promise", words, "guarantees")
    broken = [one for one in promise.groups if any(kept.broken for kept in one.kept)]
    if broken:
        names = _listed(f"“{text(one.group)}”" for one in broken)
        words = f"In some groups it is broken by more than chance explains: {names}."
        yield Alert("Broken promise", words, "guarantees")


def _refused_groups(facts: Facts) -> Iterator[Alert]:
    promise = facts.evaluation.promise
    refused = [one for one in ([] if promise is None else promise.groups) if one.reason]
    if refused:
        names = _listed(f"“{text(one.group)}” ({one.reason})" for one in refused)
        words = f"Nothing can be promised for some groups, so all their rows are refused: {names}."
        yield Alert("Refused groups", words, "guarantees")


def _one_column(facts: Facts) -> Iterator[Alert]:
    """Suspect a column that alone makes the model almost perfect."""
    evaluation, found = facts.evaluation, facts.importances or []
    if facts.suspects:
        names = _listed(f"“{text(name)}”" for name in facts.suspects)
        words = f"A single column predicts almost every answer alone: {names}. {LEAK_QUESTION}"
        yield Alert("Possible leak", words, "importance")
        return
    if len(found) < 2 or evaluation.error.value > MAX_SUSPICIOUS_ERROR:
        return
    easy = evaluation.majority.value < MIN_GAIN * max(evaluation.error.value, 0.01)
    if not easy and found[0].log_loss > MIN_RATIO * max(found[1].log_loss, 0):
        name = facts.cells.name(found[0].column)
        words = (
            f"Almost everything comes from the column “{name}”: shuffling it raises the error by "
            f"{percent(found[0].error)}. {LEAK_QUESTION}"
        )
        yield Alert("Possible leak", words, "importance")


def _rare_class(facts: Facts) -> Iterator[Alert]:
    evaluation = facts.evaluation
    rare = evaluation.ranking
    if evaluation.verdict():  # which says it better
        return
    if rare is None or not rare.n_rows or rare.n_rows >= MIN_CLASS_SHARE * evaluation.n_rows:
        return
    name = f"“{class_name(evaluation, rare.position)}”"
    words = (
        f"Only {percent(rare.n_rows / evaluation.n_rows)} of the rows are {name}, so the error "
        f"says little about them: the model finds {rare.recall.number:,} of {rare.n_rows:,}. Look "
        "at recall, precision and lift."
    )
    yield Alert("Rare class", words, "ranking")


def _drift(facts: Facts) -> Iterator[Alert]:
    drifted = [one for one in facts.drifts if one.drifted]
    if drifted:
        names = _listed(text(one.column) for one in drifted)
        words = (
            f"{several(len(drifted), 'column')} of {len(facts.drifts):,} "
            f"{'differs' if len(drifted) == 1 else 'differ'} from training by more than chance "
            f"explains: {names}."
        )
        yield Alert("Drift", words, "drift")


def _new_categories(facts: Facts) -> Iterator[Alert]:
    found = [one for one in facts.drifts if one.new_categories]
    if found:
        names = _listed(f"{text(one.column)} (“{text(one.new_categories[0])}”)" for one in found)
        words = f"Some values did not occur in training, so nothing is known about them: {names}."
        yield Alert("New categories", words, "drift")


def _few_rows(facts: Facts) -> Iterator[Alert]:
    error = facts.evaluation.error
    if error.high - error.low > MAX_INTERVAL_WIDTH:
        words = (
            f"{several(error.total, 'row')} {'is' if error.total == 1 else 'are'} few: the true "
            f"error may be as low as {percent(error.low)} or as high as {percent(error.high)}."
        )
        yield Alert("Few rows", words, "error")


def _small_classes(facts: Facts) -> Iterator[Alert]:
    evaluation = facts.evaluation
    counts = evaluation.confusion.sum(axis=1)[: evaluation.n_known]
    n_small = int(np.count_nonzero(counts < MIN_CLASS_ROWS))
    if n_small and evaluation.n_known > 2:
        words = (
            f"{several(n_small, 'class', 'classes')} of {evaluation.n_known:,} "
            f"{'has' if n_small == 1 else 'have'} fewer than {MIN_CLASS_ROWS} rows here, so recall "
            "and precision are rough there."
        )
        yield Alert("Small classes", words, "confusion")


def _missing_values(facts: Facts) -> Iterator[Alert]:
    cells, found = facts.cells, []
    for j in range(min(cells.n_columns, MAX_COLUMNS)):
        missing = missing_values(cells.values(j)).mean()
        if missing > MAX_MISSING_SHARE:
            found.append((missing, j))
    if found:
        worst = sorted(found, key=lambda pair: -pair[0])
        names = _listed(f"{cells.name(j)} ({percent(missing)})" for missing, j in worst)
        often = "often has" if len(found) == 1 else "often have"
        words = f"{several(len(found), 'column')} {often} no value: {names}."
        yield Alert("Missing values", words, "data")


def _training(facts: Facts) -> Iterator[Alert]:
    bad = [finding for finding in facts.findings if finding.fine is False]
    if bad:
        words = f"{bad[0].name} ({bad[0].value}): {bad[0].meaning}."
        yield Alert("Training", words[0].upper() + words[1:], "training")


def _listed(names: Iterable[str]) -> str:
    """List names, the first few of many."""
    every = list(names)
    more = len(every) - MAX_NAMES
    return ", ".join(every[:MAX_NAMES]) + (f" and {more:,} more" if more > 0 else "")
