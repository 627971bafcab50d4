"""bayespoint cross-validate: estimate how good a model would be, with all rows of a file."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import StratifiedKFold

from ..evaluation import evaluate_probabilities
from ..evaluation.baselines import take
from ..io.tables.labels import count_classes
from .decision import with_class_weight
from .evaluate import report_lines
from .fit import fit_in_limits
from .source import Plan, read_source, within_free_memory
from .terminal import cut_short, is_cut_short, percent, show, working


class Outcome(NamedTuple):
    """What the finished folds have shown."""

    tested: list[int]  # rows
    probability: np.ndarray
    errors: list[float]  # of each fold
    seconds: list[float]


def run_cross_validate(
    data: str, target: str | None, folds: int, plan: Plan, as_json: bool
) -> None:
    """Test on each fold a model that was trained with the other folds."""
    plan = within_free_memory(plan)
    with working(f"reading {data}") as say:
        source = read_source(data, target, plan)
        if source.rest is not None:
            raise ValueError(
                f"{source.name} is too large to cross-validate. Use bayespoint train: for such a "
                "large file the held-out rows measure the error just as well."
            )
        X, y = source.X, source.y
        smallest = int(np.unique(y, return_counts=True)[1].min())
        if smallest < folds:
            raise ValueError(
                f"Every class should have a row for each of the {folds} folds, but one has "
                f"{smallest}. Use fewer folds."
            )
        plan = with_class_weight(plan, count_classes(y))

        def fit(X, y: np.ndarray, number: int):
            now, left = time.perf_counter(), None
            if plan.max_time is not None:
                left = plan.limits.seconds_left / (folds - number)
            fold_plan = replace(plan, max_time=left, began=now)
            return fit_in_limits(source.columns, X, y, fold_plan, say).pipeline

        outcome = judge_folds(fit, X, y, folds, plan.seed, say)
        tested, errors = outcome.tested, outcome.errors
        evaluation = evaluate_probabilities(y[tested], outcome.probability[tested], np.unique(y))
    spread = float(np.std(errors, ddof=1)) if len(errors) > 1 else None
    result = evaluation.to_dict() | {
        "folds": folds,
        "folds_finished": len(errors),
        "fold_errors": errors,
        "seconds_per_fit": float(np.median(outcome.seconds)),
    }
    show(
        result,
        as_json,
        f"On {len(tested):,} rows of {source.name}, each predicted by a model trained with the "
        f"other {folds - 1} of {folds} folds:",
        *report_lines(evaluation),
        "",
        f"Folds: error {percent(float(np.mean(errors)))}"
        + ("" if spread is None else f" ± {percent(spread)} (standard deviation)")
        + f", {np.median(outcome.seconds):.2f} s per fit.",
    )


def judge_folds(
    fit: Callable[[Any, np.ndarray, int], Any], X, y: np.ndarray, folds: int, seed: int, say
) -> Outcome:
    """Test each fold until Ctrl-C is pressed; a fold that was not finished does not count.

    `fit` returns a model of some rows, given the number of the fold.
    """
    classes = np.unique(y)
    outcome = Outcome([], np.full((len(y), len(classes)), np.nan), [], [])
    splits = StratifiedKFold(folds, shuffle=True, random_state=seed).split(X, y)
    for number, (train, test) in enumerate(splits):
        say(f"fold {number + 1} of {folds}")
        say.advance(number / folds)
        try:
            began = time.perf_counter()
            model = fit(take(X, train), y[train], number)
            seconds = time.perf_counter() - began
            if is_cut_short():
                raise KeyboardInterrupt
            outcome.probability[test] = model.predict_proba(take(X, test))
        except KeyboardInterrupt:
            if not number:
                raise KeyboardInterrupt("no fold was finished") from None
            cut_short(f"{number} of {folds} folds are finished")
            break
        outcome.seconds.append(seconds)
        outcome.tested.extend(test.tolist())
        found = classes[outcome.probability[test].argmax(axis=1)]
        outcome.errors.append(float(np.mean(found != y[test])))
    return outcome._replace(tested=sorted(outcome.tested))
