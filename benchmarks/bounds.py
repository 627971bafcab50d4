"""How tight the bounds are: what is certified from training data, and the error on test data.

Rows: Raetsch's data sets (published training sizes, our own splits), two of them with 2000
points, and scikit-learn's breast cancer. `BayesPointClassifier` and `SVC`, rbf, with the gamma
that the evidence chooses, rounded to two digits (n_tuned=540). C of `SVC` is chosen by five
folds, which costs nothing. Linear: a9a, and TwoGaussians.

Columns, in percent: test error; PAC-Bayes certificate of the classifier (mean) and of a random
one (gibbs) at 95 %; bound on the leave-one-out error of `SVC`; for a hard boundary, where there
is one, the estimate from the volume of version space (for the Bayes point).

    python benchmarks/bounds.py --data FOLDER
"""
# ruff: noqa: T201

from __future__ import annotations

import argparse
import gzip
import warnings
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer, load_svmlight_file
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import normalize
from sklearn.svm import SVC, LinearSVC

from bayespoint import BayesPointClassifier, LinearBayesPointClassifier
from bayespoint.bounds import (
    estimate_version_space_bound,
    margin_distribution_bound,
    normalized_margins,
    pac_bayes_certificate,
    svm_leave_one_out_bound,
    vc_bound,
)
from bayespoint.datasets.two_gaussians import TwoGaussians

NAMES = ("banana", "breast-cancer", "diabetes", "heart", "thyroid", "titanic", "waveform")
N_TUNED = 540  # two digits, six decades


def rounded_gamma(X, y) -> float:
    """Return the gamma that the evidence chooses, rounded to two digits."""
    model = BayesPointClassifier(solver="ep", random_state=0).fit(X, y)
    return float(f"{model.gamma_:.1e}")


def kernel_row(X, y, X_test, y_test, hard_boundary: bool = True) -> dict[str, float]:
    """Return errors and bounds of the kernel classifiers on one split."""
    gamma, row = rounded_gamma(X, y), {}
    svc = GridSearchCV(SVC(gamma=gamma), {"C": 10.0 ** np.arange(-1, 3)}).fit(X, y)
    models = {"bpm": BayesPointClassifier(gamma=gamma, solver="ep"), "svc": svc.best_estimator_}
    for name, model in models.items():
        found = pac_bayes_certificate(model.fit(X, y), X, y, n_tuned=N_TUNED)
        row[f"{name} error"] = np.mean(model.predict(X_test) != y_test)
        row[f"{name} mean"], row[f"{name} gibbs"] = found.mean, found.gibbs
    row["svc loo"] = svm_leave_one_out_bound(svc.best_estimator_, X, y)
    if not hard_boundary:  # takes long for many points
        return row
    try:
        hard = BayesPointClassifier(gamma=gamma, solver="ep", softness=0).fit(X, y)
        row["hard error"] = np.mean(hard.predict(X_test) != y_test)
        row["hard volume"] = estimate_version_space_bound(hard, n_tuned=N_TUNED).bayes_point
    except ValueError:  # labels contradict each other
        row["hard error"] = row["hard volume"] = np.nan
    return row


def linear_row(X, y, X_test, y_test, scaling: float) -> dict[str, float]:
    """Return the same for linear classifiers, with VC and margin-distribution bounds."""
    row = {}
    for name, model in (("bpm", LinearBayesPointClassifier()), ("svc", LinearSVC(C=0.1))):
        model.fit(X, y)
        found = pac_bayes_certificate(model, X, y, intercept_scaling=scaling)
        row[f"{name} error"] = np.mean(model.predict(X_test) != y_test)
        row[f"{name} mean"], row[f"{name} gibbs"] = found.mean, found.gibbs
        cosines = normalized_margins(model, X, y, intercept_scaling=scaling)
        training_error = np.mean(cosines <= 0)
        row[f"{name} vc"] = vc_bound(training_error, len(cosines), X.shape[1] + 1)
        row[f"{name} margins"] = margin_distribution_bound(cosines)
    return row


def report(name: str, m: int, rows: list[dict[str, float]]) -> None:
    """Print means over splits, in percent."""
    values = {key: 100 * np.nanmean([row[key] for row in rows]) for key in rows[0]}
    print(f"{name:16} {m:6}  " + "  ".join(f"{k} {v:.1f}" for k, v in values.items()), flush=True)


def read_a9a(path: Path):
    """Return rows of length one; the features are zero or one."""
    with gzip.open(path) as file:
        X, y = load_svmlight_file(file, n_features=123)
    return normalize(X), y


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument(
        "--splits", type=int, default=5, help="splits of each of Raetsch's data sets; 0 for none"
    )
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in NAMES if options.splits else ():
        data = np.load(options.data / "raetsch" / f"{name}.npz")
        X, y = data["X"].astype(float), data["y"]
        rows = []
        for train in data["gen_train_idx"][: options.splits]:
            test = np.setdiff1d(np.arange(len(y)), train)
            rows.append(kernel_row(X[train], y[train], X[test], y[test]))
        report(name, len(train), rows)
    for name in ("banana", "waveform"):
        data = np.load(options.data / "raetsch" / f"{name}.npz")
        X, y = data["X"].astype(float), data["y"]
        report(name, 2000, [kernel_row(X[:2000], y[:2000], X[2000:], y[2000:], False)])
    X, y = load_breast_cancer(return_X_y=True)
    X = np.log(X + 0.01)  # not scaled by the data
    order = np.random.default_rng(0).permutation(len(y))
    train, test = order[:400], order[400:]
    report("wisconsin", 400, [kernel_row(X[train], y[train], X[test], y[test])])
    parts = [read_a9a(options.data / "large" / f"a9a{part}.libsvm.gz") for part in ("", ".t")]
    report("a9a, linear", parts[0][0].shape[0], [linear_row(*parts[0], *parts[1], 1.0)])
    for m in (100, 1000, 10_000, 100_000):
        problem = TwoGaussians(np.full(5, 0.7))
        sample, fresh = problem.draw(m, random_state=0), problem.draw(100_000, random_state=1)
        report("TwoGaussians", m, [linear_row(*sample, *fresh, 1.0)])
        print(f"{'':25}Bayes error {100 * problem.bayes_error:.1f}")


if __name__ == "__main__":
    main()
