"""bayespoint cross-validate: how good a model would be, with all rows of a file."""

from __future__ import annotations

import time

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

from ..evaluation import evaluate_probabilities
from ..evaluation.baselines import take
from .evaluate import report_lines
from .source import Plan, read_source
from .terminal import percent, show, working
from .train import make_pipeline


def run_cross_validate(
    data: str, target: str | None, folds: int, plan: Plan, as_json: bool
) -> None:
    """Train with all folds but one, and test with that, in turn."""
    with working(f"reading {data}") as say:
        source = read_source(data, target, plan)
        if source.rest is not None:
            raise ValueError(
                f"{source.name} is too large to cross-validate. Train with it: rows that are held "
                "out tell as much."
            )
        X, y = source.X, source.y
        smallest = int(np.unique(y, return_counts=True)[1].min())
        if smallest < folds:
            raise ValueError(
                f"Every class should have a row for each of the {folds} folds, but one has "
                f"{smallest}. Use fewer folds."
            )
        pipeline = make_pipeline(source.columns, X, len(y), plan)
        classes, seconds, errors = np.unique(y), [], []
        probability = np.empty((len(y), len(classes)))
        splits = StratifiedKFold(folds, shuffle=True, random_state=plan.seed).split(X, y)
        for number, (train, test) in enumerate(splits):
            say(f"fold {number + 1} of {folds}")
            began = time.perf_counter()
            model = clone(pipeline).fit(take(X, train), y[train])
            seconds.append(time.perf_counter() - began)
            probability[test] = model.predict_proba(take(X, test))
            errors.append(np.mean(classes[probability[test].argmax(axis=1)] != y[test]))
        figures = evaluate_probabilities(y, probability, classes)
    spread = np.std(errors, ddof=1)
    result = figures.to_dict() | {
        "folds": folds,
        "fold_errors": [float(error) for error in errors],
        "seconds_per_fit": float(np.median(seconds)),
    }
    show(
        result,
        as_json,
        f"On {len(y):,} rows of {source.name}, each predicted by a model that was trained with "
        f"{folds - 1} of {folds} folds without it:",
        *report_lines(figures),
        "",
        f"Folds: error {percent(np.mean(errors))} ± {percent(spread)} (standard deviation), "
        f"{np.median(seconds):.2f} s a fit.",
    )
