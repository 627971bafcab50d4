"""Table 2.1 of Advances in Large Margin Classifiers: the leave-one-out machine.

Its only parameter, the width of the kernel exp(-|x - x'|^2 / (2 sigma^2)), is chosen as in
the paper: the median of the best ones on the first five training sets, by cross-validation.
So are width and C of SVC. AdaBoost has scikit-learn's stumps. The paper gives no standard
errors.
"""

from __future__ import annotations

import numpy as np
from sklearn.ensemble import AdaBoostClassifier
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC

from .experiment import Measured, Outcome, Plan, average
from .picture import canvas, color
from .published import published
from .raetsch import (
    N_CHOICES,
    N_FOLDS,
    SIGMAS,
    Benchmark,
    choose_sigma,
    count_errors,
    load_benchmark,
    machine,
)

NAMES = ("banana", "breast-cancer", "diabetes", "heart", "thyroid", "titanic")
QUICK_NAMES = ("heart", "thyroid")
QUICK_SIGMAS = (1.0, 2.0, 4.0)
PRICES = tuple(10.0 ** (k / 2) for k in range(-2, 7))
# The paper takes AdaBoost's figures from Rätsch and others, who made 200 rounds.
N_ROUNDS = 200
MACHINES = ("LOO-SVM", "SVM", "AdaBoost")


def run(plan: Plan) -> Outcome:
    """Choose parameters, and classify the test points of all splits of each data set."""
    figures: dict[str, Measured] = {}
    lines, notes = [], []
    for name in plan.choose(QUICK_NAMES, NAMES):
        data = load_benchmark(name, plan.data, plan.choose(3, 100), plan.seed)
        sigma = choose_sigma(data, plan.choose(QUICK_SIGMAS, SIGMAS), plan)
        svc = choose_svc(data, plan)
        n_rounds = plan.choose(20, N_ROUNDS)
        items = [(data, *split, sigma, svc, n_rounds) for split in data.splits]
        results = plan.repeat(classify, items, name)
        for column, label in enumerate(MACHINES):
            figures[f"{name}, {label} error %"] = average([r[column] for r in results])
        if data.n_published:
            own = [r[0] for r in results[: data.n_published]]
            figures[f"{name}, LOO-SVM error % on the published splits"] = average(own)
        support, imprecise = np.mean([r[3] for r in results]), sum(r[4] for r in results)
        notes.append(
            f"{name}: sigma {sigma:.3g}, {len(results)} splits, {data.n_published} of them the "
            f"published ones; {support:.1f} % support vectors; {imprecise} fits imprecise. SVC: "
            f"gamma {svc.gamma:.3g}, C {svc.C:.3g}."
        )
        lines += [
            {"name": name, "split": i, "sigma": sigma, **dict(zip(MACHINES, r[:3], strict=True))}
            for i, r in enumerate(results)
        ]
    return Outcome(figures, lines, lambda: _draw(figures), tuple(notes))


def classify(data: Benchmark, train, test, sigma: float, svc: SVC, n_rounds: int):
    """Return errors of the machines in percent, support vectors, and whether imprecise."""
    model = machine(sigma)
    wrong, imprecise = count_errors(model, data.X, data.y, train, test)
    support = 100 * len(model.support_) / len(train)
    boost = AdaBoostClassifier(n_estimators=n_rounds, random_state=0)
    others = [
        100 * np.mean(other.fit(data.X[train], data.y[train]).predict(data.X[test]) != data.y[test])
        for other in (svc, boost)
    ]
    return 100 * wrong / len(test), *others, support, imprecise


def choose_svc(data: Benchmark, plan: Plan) -> SVC:
    """Return a support vector machine with the medians of the best parameters."""
    grid = {
        "gamma": [1 / (2 * sigma**2) for sigma in plan.choose(QUICK_SIGMAS, SIGMAS)],
        "C": plan.choose(PRICES[2:7:2], PRICES),
    }
    folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=0)
    searches = [
        GridSearchCV(SVC(), grid, cv=folds, n_jobs=plan.jobs).fit(data.X[train], data.y[train])
        for train, _ in data.splits[:N_CHOICES]
    ]
    best = {key: float(np.median([s.best_params_[key] for s in searches])) for key in grid}
    return SVC(**best)


def _draw(figures: dict[str, Measured]):
    figure, ax = canvas()
    names = list(dict.fromkeys(quantity.partition(",")[0] for quantity in figures))
    theirs = published("table_2_1")
    for k, label in enumerate(MACHINES):
        keys = [f"{name}, {label} error %" for name in names]
        place = np.arange(len(names)) + 0.22 * (k - 1)
        look = {"ls": "", "color": color(k + (k > 1)), "ms": 5, "capsize": 3}
        ours = [figures[key] for key in keys]
        ax.errorbar(
            place + 0.05,
            [one.mean for one in ours],
            [one.error for one in ours],
            marker="o",
            label=f"{label}, ours",
            **look,
        )
        paper = [theirs[key].value for key in keys]
        ax.errorbar(place - 0.05, paper, marker="s", mfc="white", label=f"{label}, paper", **look)
    ax.set_xticks(np.arange(len(names)), names)
    ax.set(ylabel="test error, percent", ylim=(0, None))
    ax.legend(ncols=3)
    return figure
