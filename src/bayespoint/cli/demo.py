"""bayespoint demo: the Bayes point machine beside what people use `SVC` for."""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from ..classifiers.bayes_point import BayesPointClassifier
from ..classifiers.reject.confidence import confidence_of
from ..classifiers.reject.curve import rejection_curve
from .demo_tables import TABLES, Split, splits
from .terminal import show, working

REJECT_RATE = 0.1
OURS, AS_IT_COMES, TUNED = "Bayes point", "SVC as it comes", "SVC tuned"
GRID = {"svc__C": [0.1, 1, 10, 100, 1000], "svc__gamma": [0.001, 0.01, 0.1, 1]}
COLUMNS = {
    "error": "error\n%",
    "log_loss": "log\nloss",
    "rejected_error": "error %\n10 % refused",
    "seconds": "seconds",
}
CAPTION = """\
Means over {n_splits} random splits, the same for all.{bold}
error: share of wrong answers on test rows.
log loss: how good the probabilities are; lower is better, and a wrong answer
  that was certain costs most. SVC as it comes has no probabilities.
10 % refused: error without the tenth of the answers that are least certain.
seconds: all that the fit needs. Features of SVC are scaled; tuned means a grid
  of 20 candidates, five folds, and then sigmoid calibration, five folds."""


class Score(NamedTuple):
    """Scores of one machine on one split."""

    error: float
    log_loss: float  # NaN without probabilities
    rejected_error: float
    seconds: float


Scores = dict[str, dict[str, Score]]


def run_demo(n_splits: int, seed: int, as_json: bool) -> None:
    """Fit all machines on all splits, and show a table and what it says."""
    scores: Scores = {}
    with working("fitting") as say:
        # The first fit of a process loads compiled loops, or compiles them.
        machine(OURS, seed).fit(*load_iris(return_X_y=True))
        for name, table in TABLES.items():
            parts = list(splits(table, n_splits, seed))
            scores[name] = {}
            for kind in (OURS, AS_IT_COMES, TUNED):
                say(f"{kind}, {name}")
                found = [judge(machine(kind, seed), part) for part in parts]
                scores[name][kind] = mean(found)
    if as_json:
        results = {
            name: {kind: _as_json(score) for kind, score in found.items()}
            for name, found in scores.items()
        }
        show({"splits": n_splits, "data": results}, True)
        return
    console = Console(highlight=False)
    console.print(_table(scores))
    # A file or a pipe shows nothing in bold.
    bold = " Best error and log loss in bold." * console.is_terminal
    console.print(CAPTION.format(n_splits=n_splits, bold=bold), style="dim")
    console.print("\n" + closing(scores))


def machine(kind: str, seed: int) -> Any:
    """Return an unfitted machine."""
    if kind == OURS:
        return BayesPointClassifier(random_state=seed)
    svc = make_pipeline(StandardScaler(), SVC())
    if kind == AS_IT_COMES:
        return svc
    return _TunedSVC(svc)


class _TunedSVC:
    """`SVC` as people tune and calibrate it: the best of a grid, then sigmoid calibration."""

    def __init__(self, svc):
        self.search = GridSearchCV(svc, GRID)

    def fit(self, X, y) -> CalibratedClassifierCV:
        best = self.search.fit(X, y).best_estimator_
        return CalibratedClassifierCV(best, ensemble=False).fit(X, y)


def judge(model, part: Split) -> Score:
    """Fit a machine and score it on the test rows."""
    began = time.perf_counter()
    fitted = model.fit(part.X, part.y)
    seconds = time.perf_counter() - began
    predicted = fitted.predict(part.X_test)
    loss = np.nan
    if hasattr(fitted, "predict_proba"):
        probability = fitted.predict_proba(part.X_test)
        loss = log_loss(part.y_test, probability, labels=fitted.classes_)
    curve = rejection_curve(part.y_test, predicted, confidence_of(fitted, part.X_test))
    return Score(
        error=float(np.mean(predicted != part.y_test)),
        log_loss=float(loss),
        rejected_error=float(np.interp(REJECT_RATE, curve.reject_rate, curve.error)),
        seconds=seconds,
    )


def mean(scores: list[Score]) -> Score:
    """Return means over splits."""
    return Score(*np.mean(scores, axis=0).tolist())


def _table(scores: Scores) -> Table:
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for column in ("data", "machine"):
        table.add_column(column, no_wrap=True)
    for column in COLUMNS.values():
        table.add_column(column, justify="right", no_wrap=True)
    for name, found in scores.items():
        best = np.nanmin(list(found.values()), axis=0)
        for kind, score in found.items():
            cells = _cells(score)
            for i in range(3):
                # Numbers that look equal are equally good.
                if cells[i] == _cells(Score(*best))[i]:
                    cells[i] = f"[bold]{cells[i]}[/bold]"
            first, last = kind == OURS, kind == TUNED
            table.add_row(name if first else "", kind, *cells, end_section=last)
    return table


def _cells(score: Score) -> list[str]:
    loss = "–" if np.isnan(score.log_loss) else f"{score.log_loss:.3f}"
    return [
        f"{100 * score.error:.1f}", loss, f"{100 * score.rejected_error:.1f}",
        f"{score.seconds:.3f}",
    ]  # fmt: skip


def closing(scores: Scores) -> str:
    """Say what to look at, who wins how often, and what to try next."""
    n = len(scores)
    errors = sum(
        found[OURS].error <= min(s.error for s in found.values()) for found in scores.values()
    )
    losses = sum(found[OURS].log_loss <= found[TUNED].log_loss for found in scores.values())
    ratio = sum(found[TUNED].seconds for found in scores.values()) / sum(
        found[OURS].seconds for found in scores.values()
    )
    return (
        f"Look at the log loss first: the Bayes point machine has the lower one on {losses} of "
        f"{n} tables, and the fewest errors on {errors}, without tuning, {ratio:.1f} times as fast "
        "as a tuned SVC; an SVC as it comes is faster. Now try a file of your own:\n"
        "  bayespoint train FILE.csv --target COLUMN --model FILE.bayespoint"
    )


def _as_json(score: Score) -> dict[str, float | None]:
    return {k: None if np.isnan(v) else v for k, v in score._asdict().items()}
