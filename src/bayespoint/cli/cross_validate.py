"""bayespoint cross-validate: estimate how good a model would be, with all rows of a file."""

from __future__ import annotations

import time

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

from ..evaluation import evaluate_probabilities
from ..evaluation.baselines import take
from .decision import with_class_weight
from .evaluate import report_lines
from .source import Plan, read_source
from .terminal import percent, show, working
from .train import make_pipeline


def run_cross_validate(
    data: str, target: str | None, folds: int, plan: Plan, as_json: bool
) -> None:
    """Test on each fold a model that was trained with the other folds."""
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
        plan = with_class_weight(plan, y)
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
        evaluation = evaluate_probabilities(y, probability, classes)
    spread = np.std(errors, ddof=1)
    result = evaluation.to_dict() | {
        "folds": folds,
        "fold_errors": [float(error) for error in errors],
        "seconds_per_fit": float(np.median(seconds)),
    }
    show(
        result,
        as_json,
        f"On {len(y):,} rows of {source.name}, each predicted by a model trained with the other "
        f"{folds - 1} of {folds} folds:",
        *report_lines(evaluation),
        "",
        f"Folds: error {percent(np.mean(errors))} ± {percent(spread)} (standard deviation), "
        f"{np.median(seconds):.2f} s per fit.",
    )
