"""Table 2.1 of Advances in Large Margin Classifiers: the leave-one-out machine.

Its only parameter, the width of the kernel exp(-|x - x'|^2 / (2 sigma^2)), is chosen as in the
paper: cross-validation finds the best width on each of the first five training sets, and their
median is used. The paper takes its other columns from the authors of the benchmark. So SVC has
the width and C that they published, and AdaBoost their kind of base learner, small networks of
radial basis functions; the C of regularized AdaBoost is chosen as the width is. The paper gives
no standard errors; it averages the same number of splits, so its errors are about as large as
ours.
"""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.ensemble import AdaBoostClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from .experiment import Lines, Measured, Outcome, Plan, average
from .network import Network
from .picture import canvas, color
from .published import published
from .raetsch import (
    N_SELECTION_FOLDS,
    N_SELECTION_SETS,
    SIGMAS,
    Benchmark,
    choose_sigma,
    count_errors,
    load_benchmark,
    machine,
)
from .regularized_boosting import RegularizedAdaBoost

# Parameters of the support vector machine: the divisor of |x - x'|^2, and C. They come from the
# web page of the benchmark, quoted from memory; the paper does not print them.
SVC_SETTINGS = {
    "banana": (1.0, 316.2),
    "breast-cancer": (50.0, 15.19),
    "diabetes": (20.0, 1.0),
    "heart": (120.0, 3.162),
    "thyroid": (3.0, 10.0),
    "titanic": (2.0, 1e5),
}
QUICK_NAMES = ("heart", "thyroid")
QUICK_SIGMAS = (1.0, 2.0, 4.0)
# Rounds of AdaBoost in Rätsch and others, from whom the paper takes the numbers.
N_ROUNDS = 200
# With titanic's many equal points and large C libsvm would never end.
MAX_SVC_ITERATIONS = 1_000_000
MACHINES = ("LOO-SVM", "SVM", "AdaBoost", "regularized AdaBoost")
# Candidates for the C of regularized AdaBoost, in units of the mean weight.
BOOST_CS = (0.1, 0.3, 1.0)
# Other base learners of AdaBoost, trees by their depth, on this many splits.
TREES = {"stumps": 1, "trees of depth 3": 3}
N_TREE_SPLITS = 20


def run(plan: Plan) -> Outcome:
    """Choose parameters, and classify the test points of all splits of each data set."""
    numbers: dict[str, Measured] = {}
    lines, notes = [], []
    for name in plan.choose(QUICK_NAMES, tuple(SVC_SETTINGS)):
        data = load_benchmark(name, plan.data, plan.choose(3, 100), plan.seed)
        sigma = choose_sigma(data, plan.choose(QUICK_SIGMAS, SIGMAS), plan)
        width, C = SVC_SETTINGS[name]
        svc = SVC(gamma=1 / width, C=C, max_iter=MAX_SVC_ITERATIONS)
        n_rounds = plan.choose(5, N_ROUNDS)
        boost_C = choose_boost(data, plan.choose(BOOST_CS[:1], BOOST_CS), n_rounds, plan)
        items = [(data, *split, sigma, svc, n_rounds, boost_C) for split in data.splits]
        results = plan.repeat(classify, items, name)
        for column, label in enumerate(MACHINES):
            numbers[f"{name}, {label} error %"] = average([r[column] for r in results])
        few = [(data, *split, n_rounds) for split in data.splits[:N_TREE_SPLITS]]
        by_tree = np.transpose(plan.repeat(boost_trees, few, f"{name}, trees"))
        for label, errors in zip(TREES, by_tree, strict=True):
            numbers[f"{name}, AdaBoost of {label} error %"] = average(errors)
        if data.n_published:
            own = [r[0] for r in results[: data.n_published]]
            numbers[f"{name}, LOO-SVM error % on the published splits"] = average(own)
        support, imprecise = np.mean([r[4] for r in results]), sum(r[5] for r in results)
        notes.append(
            f"{name}: sigma {sigma:.3g}, {len(results)} splits, {data.n_published} of them the "
            f"published ones; {support:.1f} % support vectors; {imprecise} fits imprecise; C of "
            f"regularized AdaBoost {boost_C:g}."
        )
        lines += [
            {"name": name, "split": i, "sigma": sigma, **dict(zip(MACHINES, r[:4], strict=True))}
            for i, r in enumerate(results)
        ]
    return Outcome(numbers, lines, lambda: _draw(numbers), tuple(notes))


def boost_trees(data: Benchmark, train, test, n_rounds: int) -> list[float]:
    """Return the errors of AdaBoost with trees in percent."""
    errors = []
    for depth in TREES.values():
        tree = DecisionTreeClassifier(max_depth=depth)
        boost = AdaBoostClassifier(tree, n_estimators=n_rounds, random_state=0)
        found = boost.fit(data.X[train], data.y[train]).predict(data.X[test])
        errors.append(100 * float(np.mean(found != data.y[test])))
    return errors


def choose_boost(data: Benchmark, candidates, n_rounds: int, plan: Plan) -> float:
    """Return the median of the values of C that are best on the first training sets."""
    sets = [(data.X[train], data.y[train]) for train, _ in data.splits[:N_SELECTION_SETS]]
    items = [(X, y, C, n_rounds) for X, y in sets for C in candidates]
    errors = np.reshape(plan.repeat(cross_validate_boost, items, "boosting"), (len(sets), -1))
    return float(np.median([candidates[k] for k in errors.argmin(axis=1)]))


def cross_validate_boost(X, y, C: float, n_rounds: int) -> int:
    """Return the number of errors of regularized AdaBoost on points that were left out."""
    model = RegularizedAdaBoost(Network(), C=C, n_rounds=n_rounds, random_state=0)
    folds = StratifiedKFold(N_SELECTION_FOLDS, shuffle=True, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # titanic has 14 different points
        return int(np.sum(cross_val_predict(model, X, y, cv=folds) != y))


def classify(data: Benchmark, train, test, sigma: float, svc: SVC, n_rounds: int, boost_C: float):
    """Return the errors of the machines and the support vectors in percent, and imprecision."""
    model = machine(sigma)
    wrong, imprecise = count_errors(model, data.X, data.y, train, test)
    support = 100 * len(model.support_) / len(train)
    boost = AdaBoostClassifier(Network(), n_estimators=n_rounds, random_state=0)
    soft = RegularizedAdaBoost(Network(), C=boost_C, n_rounds=n_rounds, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # titanic has 14 different points
        others = [other.fit(data.X[train], data.y[train]) for other in (svc, boost, soft)]
    errors = [100 * np.mean(other.predict(data.X[test]) != data.y[test]) for other in others]
    return 100 * wrong / len(test), *errors, support, imprecise


def redraw(numbers: dict[str, Measured], runs: Lines):
    """Draw kept results."""
    return _draw(numbers)


def _draw(numbers: dict[str, Measured]):
    figure, ax = canvas()
    names = list(dict.fromkeys(quantity.partition(",")[0] for quantity in numbers))
    theirs = published("table_2_1")
    for k, label in enumerate(MACHINES):
        keys = [f"{name}, {label} error %" for name in names]
        place = np.arange(len(names)) + 0.2 * (k - 1.5)
        look = {"ls": "", "color": color(k + (k > 1)), "ms": 6}
        ours = [numbers[key] for key in keys]
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
    ax.legend(ncols=4, loc="lower center", bbox_to_anchor=(0.5, 1.0), fontsize=9.5)
    return figure
