"""Choose the rows that set the threshold, and judge the classifier on them."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import check_cv
from sklearn.utils import _safe_indexing, check_random_state
from sklearn.utils.validation import _check_method_params

from .confidence import confidence_of
from .decision import answers
from .groups import group_codes, group_values, known_groups
from .novelty import novelty_of


def hold_out(y, calibration_size, random_state) -> tuple[np.ndarray, np.ndarray]:
    """Return training rows, with at least one of each class, and held-out rows."""
    n_held_out = (
        int(calibration_size)
        if isinstance(calibration_size, Integral)
        else max(1, round(calibration_size * len(y)))
    )
    if n_held_out >= len(y):
        raise ValueError(
            f"calibration_size={calibration_size} holds out {n_held_out} of n_samples={len(y)}, "
            "which leaves nothing to train with. Give more rows or a smaller calibration_size, "
            "or use cv."
        )
    rng = check_random_state(random_state)
    codes = np.unique(y, return_inverse=True)[1]
    # Shuffle, sort by class, and take rows at equal distances: classes stay in proportion.
    order = rng.permutation(len(y))
    order = order[np.argsort(codes[order], kind="stable")]
    places = (np.arange(n_held_out) + rng.uniform()) * (len(y) / n_held_out)
    held_out = np.zeros(len(y), dtype=bool)
    held_out[order[np.minimum(places.astype(int), len(y) - 1)]] = True
    # The classifier must see every class, so give back a row of each class that is lost.
    lost = np.setdiff1d(codes, codes[~held_out])
    held_out[[np.flatnonzero(codes == code)[0] for code in lost]] = False
    return np.flatnonzero(~held_out), np.flatnonzero(held_out)


def disjoint_folds(cv, X, y) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return training and test rows of each fold; no row may be tested twice."""
    folds = list(check_cv(cv, y, classifier=True).split(X, y))
    folds = [(np.arange(len(y))[train], np.arange(len(y))[test]) for train, test in folds]
    n_tests = np.bincount(np.concatenate([test for _, test in folds]), minlength=len(y))
    if n_tests.max() > 1:
        raise ValueError(
            f"cv should test each row at most once, but row {n_tests.argmax()} is in "
            f"{n_tests.max()} test folds. Counting rows twice would promise too much. "
            "Use KFold or StratifiedKFold."
        )
    return folds


def fit_clone(estimator, X, y, params, rows=None):
    """Train a clone on the given rows, or on all of them."""
    if rows is not None:
        params = _check_method_params(X, params, indices=rows)
        X, y = _safe_indexing(X, rows), y[rows]
    return clone(estimator).fit(X, y, **params)


def train(option, X, y, params) -> tuple[Any, Iterable[tuple[Any, np.ndarray]]]:
    """Fit a reject option's classifier; return it, and judges with rows they did not learn from."""
    estimator = option.estimator
    if isinstance(estimator, FrozenEstimator):
        fitted = clone(estimator)
        return fitted, [(fitted, np.arange(len(y)))]
    if option.cv is None:
        rows, held_out = hold_out(y, option.calibration_size, option.random_state)
        fitted = fit_clone(estimator, X, y, params, rows)
        return fitted, [(fitted, held_out)]
    folds = disjoint_folds(option.cv, X, y)
    fitted = fit_clone(estimator, X, y, params)
    return fitted, ((fit_clone(estimator, X, y, params, rows), test) for rows, test in folds)


class Judged(NamedTuple):
    """What is known about the predictions of some rows that were not trained on."""

    confidence: np.ndarray
    correct: np.ndarray
    true_class: np.ndarray  # its place among the classes; -1 if the classifier does not know it
    answer: np.ndarray  # its place
    group: np.ndarray  # its group, or its answer again if there are no groups
    novelty: np.ndarray  # empty if nobody asks for it


def judge(option, classifier, X, y, rows) -> Judged:
    """Compare a classifier's answers for some rows with their classes."""
    X, y = _safe_indexing(X, rows), y[rows]
    answer = answers(classifier, X, option.costs)
    return Judged(
        confidence_of(classifier, X, option.costs),
        np.asarray(answer == y, dtype=bool),
        group_codes(classifier.classes_, y),
        group_codes(classifier.classes_, answer),
        answer if option.groups is None else group_values(option.groups, X, answer),
        np.empty(0) if option.max_novelty is None else novelty_of(classifier, X),
    )


def remember(option, judged: list[Judged]) -> None:
    """Keep what is known about held-out rows, and their groups."""
    joined = Judged(*(np.concatenate(parts) for parts in zip(*judged, strict=True)))
    option.calibration_confidence_, option.calibration_correct_ = joined[:2]
    option.calibration_class_, option.calibration_answer_ = joined[2:4]
    option.calibration_novelty_ = None if option.max_novelty is None else joined.novelty
    option.groups_ = option.calibration_group_ = None
    if option.groups is not None:
        option.calibration_group_, option.groups_ = joined.group, known_groups(joined.group)
