"""Without tuning: the default classifier against a tuned SVC, on Raetsch's data sets.

Parts:
  default   error, log loss and seconds of `BayesPointClassifier()`, of `SVC` with C and gamma
            from a grid search (5 folds, 81 candidates; its log loss is that of
            `CalibratedClassifierCV`), and of `GaussianProcessClassifier` with its default
            kernel and with one whose two parameters it optimizes
  guide     which candidate to choose, from EP on a grid of 81: the one with the largest
            evidence, with the best leave-one-out score, or an average weighted by either; and
            whether each point should have its own predictive variance or all the same

Data: the folder `raetsch` with one file NAME.npz per set (X, y, gen_train_idx: rows of training
indices, all others are test points). Inputs are standardized on the training part. One
thread. Means over splits, and the mean over sets; paired standard errors over splits.
"""
# ruff: noqa: T201

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
from scipy.special import ndtr
from sklearn.calibration import CalibratedClassifierCV
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF, ConstantKernel
from sklearn.metrics import log_loss
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from bayespoint import BayesPointClassifier
from bayespoint.geometry.gram import soften
from bayespoint.solvers.propagation.approximation import predict
from bayespoint.solvers.propagation.on_gram import propagate

SETS = ("banana", "breast-cancer", "diabetes", "heart", "thyroid", "titanic", "waveform")
GRID = {"C": 10.0 ** np.arange(-1, 3.1, 0.5), "gamma": 10.0 ** np.arange(-3, 1.1, 0.5)}
SOFTNESS = 10.0 ** np.arange(-3, 1.1, 0.5)


def split(folder: Path, name: str, number: int):
    """Return training and test points and labels."""
    file = np.load(folder / "raetsch" / f"{name}.npz")
    X, y, train = file["X"], file["y"], file["gen_train_idx"][number]
    test = np.setdiff1d(np.arange(len(y)), train)
    scaler = StandardScaler().fit(X[train])
    return scaler.transform(X[train]), scaler.transform(X[test]), y[train], y[test]


def judge(model, X, X_test, y, y_test, calibrate=None) -> tuple[float, float, float]:
    """Return error in percent, log loss, and the seconds of the fit."""
    began = time.perf_counter()
    model.fit(X, y)
    taken = time.perf_counter() - began
    error = 100 * np.mean(model.predict(X_test) != y_test)
    speaker = model if calibrate is None else calibrate(model).fit(X, y)
    return error, log_loss(y_test, speaker.predict_proba(X_test)), taken


def defaults(folder: Path, name: str, number: int) -> dict[str, tuple[float, float, float]]:
    """Judge all classifiers on one split."""
    data = split(folder, name, number)
    wide = ConstantKernel(1.0, (1e-2, 1e3)) * RBF(1.0, (1e-2, 1e3))
    search = GridSearchCV(SVC(), GRID, cv=5)
    calibrated = judge(
        search, *data, calibrate=lambda found: CalibratedClassifierCV(SVC(**found.best_params_))
    )
    return {
        "bayespoint": judge(BayesPointClassifier(random_state=0), *data),
        "SVC, grid": calibrated,
        "GP, default": judge(GaussianProcessClassifier(), *data),
        "GP, optimized": judge(GaussianProcessClassifier(wide, random_state=0), *data),
    }


def guides(folder: Path, name: str, number: int) -> dict[str, tuple[float, float]]:
    """Judge ways to choose from candidates on one split."""
    X, X_test, y, y_test = split(folder, name, number)
    evidence, loo, own, common = [], [], [], []
    for gamma in GRID["gamma"]:
        unit, unit_test = ((rbf_kernel(A, X, gamma=gamma) + 1) / 2 for A in (X, X_test))
        for softness in SOFTNESS:
            matrix, across = soften(unit, softness), unit_test / (1 + softness)
            found = propagate(matrix, y.astype(float), one_by_one=False, max_iter=40, tol=0.02)
            evidence.append(found.log_evidence)
            loo.append(found.log_loo.sum())
            mean, variance = predict(matrix, found, across)
            own.append(ndtr(mean / np.sqrt(variance)))
            common.append(ndtr(mean / np.sqrt(np.median(found.cavity_variance))))
    evidence, loo, own, common = map(np.array, (evidence, loo, own, common))

    def score(positive):
        error = 100 * np.mean((positive > 0.5) != (y_test > 0))
        return error, log_loss(y_test, np.clip(positive, 1e-12, 1 - 1e-12))

    def average(logs):
        weights = np.exp(logs - logs.max())
        return weights @ own / weights.sum()

    return {
        "evidence": score(own[evidence.argmax()]),
        "evidence, one variance": score(common[evidence.argmax()]),
        "leave-one-out": score(own[loo.argmax()]),
        "average by evidence": score(average(evidence)),
        "average by leave-one-out": score(average(loo)),
    }


def report(results: dict[str, list[dict]], reference: str) -> None:
    """Print the results, one column per set, and the mean over sets."""
    names = list(next(iter(results.values()))[0])
    timed = len(next(iter(results.values()))[0][reference]) > 2
    for column, title in enumerate(("error, %", "log loss", "seconds")[: 3 if timed else 2]):
        print(f"\n{title:26s}" + "".join(f"{name:>15s}" for name in results) + f"{'mean':>10s}")
        for name in names:
            means = [np.mean([r[name][column] for r in runs]) for runs in results.values()]
            line = "".join(f"{mean:15.3f}" for mean in means)
            print(f"{name:26s}{line}{np.mean(means):10.3f}")
        for name in (n for n in names if n != reference):
            runs = zip(*results.values(), strict=True)
            off = [np.mean([r[name][column] - r[reference][column] for r in run]) for run in runs]
            error = np.std(off, ddof=1) / np.sqrt(len(off)) if len(off) > 1 else np.nan
            print(f"  {name} - {reference}: {np.mean(off):+.3f} +- {error:.3f} over splits")


def main() -> None:
    """Run the requested parts."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", default=["default", "guide"])
    parser.add_argument("--data", type=Path, required=True, help="folder that holds raetsch/")
    parser.add_argument("--splits", type=int, default=20)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")  # scikit-learn's optimizer warns at the bounds of a kernel
    for part, run, reference in (
        ("default", defaults, "bayespoint"),
        ("guide", guides, "evidence"),
    ):
        if part not in arguments.parts:
            continue
        with threadpool_limits(1):
            results = {
                name: [run(arguments.data, name, i) for i in range(arguments.splits)]
                for name in SETS
            }
        print(f"\n== {part}: {arguments.splits} splits")
        report(results, reference)


if __name__ == "__main__":
    main()
