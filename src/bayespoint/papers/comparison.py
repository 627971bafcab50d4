"""Beyond the papers: today's classifiers on the same splits of the Rätsch benchmark.

Each is used as is common: with scaled features, and with cross-validation of its parameters.
Scores are error, log loss, error after rejecting the least certain 5 %, and seconds; the
classifiers are compared by mean ranks over data sets, with Nemenyi's critical difference.
"""

from __future__ import annotations

import time
import warnings

import numpy as np
from scipy import stats
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF, ConstantKernel
from sklearn.linear_model import LogisticRegressionCV
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from ..classifiers.bayes_point import BayesPointClassifier
from ..classifiers.reject.curve import rejection_curve
from .experiment import Lines, Measured, Outcome, Plan, average
from .picture import BLACK, canvas, color
from .raetsch import Benchmark, load_benchmark

NAMES = ("banana", "breast-cancer", "diabetes", "heart", "thyroid", "titanic", "waveform")
REJECT_RATE = 0.05
SCORES = ("error %", "log loss", "error % at 5 % rejection", "seconds")
TITLES = ("error", "log loss", "error, 5 % rejected")


def classifiers(quick: bool) -> dict:
    """Return the classifiers by name."""
    grid = {
        "C": np.logspace(-1, 3, 2 if quick else 5),
        "gamma": np.logspace(-3, 1, 2 if quick else 5),
    }
    svc = GridSearchCV(SVC(), grid, cv=5)
    gp = GaussianProcessClassifier(ConstantKernel(1.0) * RBF(1.0), random_state=0)
    logistic = LogisticRegressionCV(Cs=5, cv=5, max_iter=1000, scoring="neg_log_loss")
    if "use_legacy_attributes" in logistic.get_params():  # else newer versions of sklearn warn
        logistic.set_params(l1_ratios=(0.0,), use_legacy_attributes=False)
    return {
        "Bayes point": BayesPointClassifier("rbf", random_state=0, n_jobs=1),
        "SVC, grid search": CalibratedClassifierCV(svc, ensemble=False),
        "Gaussian process": gp,
        "logistic regression": logistic,
        "random forest": RandomForestClassifier(random_state=0),
        "gradient boosting": HistGradientBoostingClassifier(random_state=0),
    }


def run(plan: Plan) -> Outcome:
    """Train all classifiers on the same splits, and rank them."""
    names = plan.choose(("heart", "thyroid"), NAMES)
    models = classifiers(plan.quick)
    n_splits = plan.choose(2, 10)
    scores = []
    for name in names:
        data = load_benchmark(name, plan.data, n_splits, plan.seed)
        items = [(data, *split, model) for model in models.values() for split in data.splits]
        found = np.reshape(plan.repeat(score, items, name), (len(models), n_splits, len(SCORES)))
        scores.append(found)
    means = np.mean(scores, axis=2)  # data sets, classifiers, scores
    numbers: dict[str, Measured] = {}
    for k, label in enumerate(SCORES):
        ranks = np.array([stats.rankdata(row) for row in means[..., k].round(10)])
        for c, classifier in enumerate(models):
            numbers[f"{classifier}, mean rank by {label}"] = average(ranks[:, c])
    for c, classifier in enumerate(models):
        for k, label in enumerate(SCORES):
            numbers[f"{classifier}, mean {label}"] = Measured(float(means[:, c, k].mean()))
    lines = [
        {"name": name, "classifier": c, "split": i, **dict(zip(SCORES, row, strict=True))}
        for name, found in zip(names, scores, strict=True)
        for c, rows in zip(models, found, strict=True)
        for i, row in enumerate(rows)
    ]
    note = (
        f"{n_splits} splits of {len(names)} data sets; probabilities of SVC by sigmoid "
        "calibration, 5 folds; seconds of training, one thread, on a machine with other work."
    )
    return Outcome(numbers, lines, lambda: _draw(means, list(models)), (note,))


def score(data: Benchmark, train, test, model) -> list[float]:
    """Return error, log loss, error after rejecting, and seconds of training."""
    pipeline = make_pipeline(StandardScaler(), clone(model))
    began = time.perf_counter()
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # limits on iterations, which users would ignore too
        pipeline.fit(data.X[train], data.y[train])
    seconds = time.perf_counter() - began
    probability = pipeline.predict_proba(data.X[test])
    found, truth = pipeline.classes_[probability.argmax(axis=1)], data.y[test]
    curve = rejection_curve(truth, found, probability.max(axis=1))
    rejected = np.interp(REJECT_RATE, curve.reject_rate, curve.error)
    loss = log_loss(truth, probability, labels=pipeline.classes_)
    return [100 * float(np.mean(found != truth)), loss, 100 * float(rejected), seconds]


def critical_difference(n_classifiers: int, n_data: int, level: float = 0.05) -> float:
    """Return the smallest significant difference of mean ranks (Nemenyi's test)."""
    q = stats.studentized_range.ppf(1 - level, n_classifiers, np.inf) / np.sqrt(2)
    return float(q * np.sqrt(n_classifiers * (n_classifiers + 1) / (6 * n_data)))


def redraw(numbers: dict[str, Measured], runs: Lines):
    """Draw kept results."""
    names = list(dict.fromkeys(line["classifier"] for line in runs))
    n_sets = len(dict.fromkeys(line["name"] for line in runs))
    scores = [[float(line[label]) for label in SCORES] for line in runs]
    return _draw(np.reshape(scores, (n_sets, len(names), -1, len(SCORES))).mean(axis=2), names)


def _draw(means: np.ndarray, names: list[str]):
    figure, axes = canvas(1, 3, height=3.4, sharey=True)
    difference = critical_difference(len(names), len(means))
    for k, ax in enumerate(axes):
        ranks = np.array([stats.rankdata(row) for row in means[..., k].round(10)]).mean(axis=0)
        place = np.arange(len(names))
        ax.barh(place, ranks, color=[color(3 if i == 0 else 0) for i in place], alpha=0.75)
        # Ranks within this band do not differ significantly from the best.
        best = ranks.min()
        ax.axvspan(best, best + difference, color="0.85", zorder=0)
        ax.set(
            title=TITLES[k],
            xlabel="mean rank",
            xlim=(0, len(names)),
        )
        for i, rank in enumerate(ranks):
            ax.text(rank - 0.1, i, f"{rank:.1f}", ha="right", va="center", color=BLACK)
    axes[0].set_yticks(np.arange(len(names)), names)
    axes[0].invert_yaxis()
    return figure
