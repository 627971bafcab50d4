"""bayespoint demo: compare the Bayes point machine with SVC on the same splits."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from ..classifiers.bayes_point import BayesPointClassifier
from ..classifiers.reject.curve import rejection_curve
from .terminal import show, working

REJECT_RATE = 0.05
# All 1,797 images of digits would take most of the demo's time.
MAX_POINTS = 800
DATA: dict[str, Callable] = {
    "iris": load_iris,
    "wine": load_wine,
    "breast cancer": load_breast_cancer,
    "digits": load_digits,
}


class Score(NamedTuple):
    """Scores of one model on one split."""

    error: float
    confidence: float
    log_loss: float
    rejected_error: float
    seconds: float


def run_demo(n_splits: int, seed: int, as_json: bool) -> None:
    """Fit both classifiers on all splits and show a table."""
    scores: dict[str, dict[str, Score]] = {}
    with working("fitting") as say:
        for name, load in DATA.items():
            say(f"fitting {name}")
            both = [_both(seed, *split) for split in _splits(load, n_splits, seed)]
            scores[name] = {
                classifier: _mean([pair[classifier] for pair in both]) for classifier in both[0]
            }
    if as_json:
        results = {
            name: {classifier: score._asdict() for classifier, score in pair.items()}
            for name, pair in scores.items()
        }
        show({"splits": n_splits, "data": results}, True)
    else:
        Console().print(_table(scores, n_splits))


def _both(seed: int, train, test, X, y) -> dict[str, Score]:
    parts = X[train], y[train], X[test], y[test]
    return {"Bayes point": _bayes_point(*parts, seed), "SVC": _svc(*parts)}


def _mean(scores: list[Score]) -> Score:
    # The median time, because the first fit in a process loads the compiled loops.
    seconds = float(np.median([score.seconds for score in scores]))
    return Score(*np.mean(scores, axis=0).tolist())._replace(seconds=seconds)


def _table(scores: dict[str, dict[str, Score]], n_splits: int) -> Table:
    table = Table(
        title="BayesPointClassifier and SVC, both with default parameters",
        caption=_caption(n_splits),
        caption_justify="left",
        box=box.SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
    )
    for column in ["data", "classifier"]:
        table.add_column(column, no_wrap=True)
    for column in [
        "error\n%",
        "confidence\n%",
        "log\nloss",
        "error %\n5 % rejected",
        "seconds\nper fit",
    ]:
        table.add_column(column, justify="right", no_wrap=True)
    for name, pair in scores.items():
        for i, (classifier, score) in enumerate(pair.items()):
            table.add_row(
                "" if i else name,
                classifier,
                f"{100 * score.error:.1f}",
                f"{100 * score.confidence:.1f}",
                f"{score.log_loss:.3f}",
                f"{100 * score.rejected_error:.1f}",
                f"{score.seconds:.3f}",
                end_section=i == 1,
            )
    return table


def _caption(n_splits: int) -> str:
    return (
        f"Means over {n_splits} random splits into halves, the same for both; features scaled.\n"
        "confidence: mean probability that a classifier gives to its predictions.\n"
        "log loss: quality of the probabilities, lower is better. SVC gets them from a\n"
        "second model (sigmoid calibration, 5-fold cross-validation).\n"
        "5 % rejected: without the predictions that have the smallest probability."
    )


def _splits(load: Callable, n_splits: int, seed: int):
    X, y = load(return_X_y=True)
    chosen = np.random.default_rng(seed).permutation(len(y))[:MAX_POINTS]
    X, y = X[chosen], y[chosen]
    splitter = StratifiedShuffleSplit(n_splits, test_size=0.5, random_state=seed)
    for train, test in splitter.split(X, y):
        yield train, test, X, y


def _bayes_point(X, y, X_test, y_test, seed: int) -> Score:
    model = BayesPointClassifier(random_state=seed)
    return _score(model, model, X, y, X_test, y_test)


def _svc(X, y, X_test, y_test) -> Score:
    model = make_pipeline(StandardScaler(), SVC())
    return _score(model, CalibratedClassifierCV(model, ensemble=False), X, y, X_test, y_test)


def _score(model, probable, X, y, X_test, y_test) -> Score:
    """Fit and score; `probable` is the model that gives the probabilities."""
    began = time.perf_counter()
    model.fit(X, y)
    seconds = time.perf_counter() - began
    if probable is not model:
        probable.fit(X, y)
    predicted = model.predict(X_test)
    probability = probable.predict_proba(X_test)
    curve = rejection_curve(y_test, predicted, probability.max(axis=1))
    return Score(
        error=float(np.mean(predicted != y_test)),
        confidence=float(np.mean(probability.max(axis=1))),
        log_loss=log_loss(y_test, probability),
        rejected_error=float(np.interp(REJECT_RATE, curve.reject_rate, curve.error)),
        seconds=seconds,
    )
