"""Large kernel problems: BayesPointClassifier with default arguments against a tuned SVC.

    python benchmarks/large_kernel.py --data FOLDER [a9a] [covtype] [--ours]

a9a: 32,561 training and 16,281 test points. covtype: class 2 against the rest, 100,000 and 50,000
rows at random, 54 standardized columns. The SVC gets C and gamma from a grid search on 5,000
rows and is fitted again on all. For its log loss it is calibrated with a sigmoid: for a9a on a
tenth of the training set, held out of another fit; for covtype, where another fit takes too long,
on 10,000 more rows, which our classifier does not get. Times are CPU times, in one thread.
The SVC on covtype takes about twenty minutes.
"""

# ruff: noqa: T201

import argparse
import os
import time
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_svmlight_file
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from bayespoint import BayesPointClassifier

N_TUNED = 5000
C = [0.1, 1, 10, 100, 1000]
# Relative to gamma="scale".
GAMMA = np.array([0.03, 0.1, 0.3, 1, 3, 10])


def load_a9a(folder: Path):
    """Return training points and labels, test points and labels, and no more points."""
    parts = []
    for name in ("a9a", "a9a.t"):
        X, y = load_svmlight_file(str(folder / "large" / f"{name}.libsvm.gz"), n_features=123)
        X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
        parts += [X, y]
    return *parts, None, None


def load_covtype(folder: Path):
    """Return 100,000 training, 50,000 test and 10,000 more points, with labels."""
    data = np.load(folder / "large" / "covtype.npz")
    codes = [np.eye(data[name].max() + 1)[data[name]] for name in ("wilderness", "soil")]
    X = np.hstack([data["X_num"], *(code[:, code.any(axis=0)] for code in codes)])
    y = np.where(data["y"] == 2, 1, -1)
    order = np.random.default_rng(0).permutation(len(y))
    train, test, more = np.split(order[:160_000], [100_000, 150_000])
    scaler = StandardScaler().fit(X[train])
    return tuple(a for rows in (train, test, more) for a in (scaler.transform(X[rows]), y[rows]))


def timed(model, X, y):
    """Fit, and return the model and the CPU time in seconds."""
    begun = time.process_time()
    model.fit(X, y)
    return model, time.process_time() - begun


def report(name: str, model, X, y, probability, seconds: float) -> None:
    """Print a line of results."""
    error = 100 * np.mean(model.predict(X) != y)
    loss = log_loss(y, probability)
    print(f"{name:8} error {error:5.2f} %, log loss {loss:.4f}, fit {seconds:7.1f} s", flush=True)


def ours(X, y, T, t) -> None:
    """Fit BayesPointClassifier with default arguments."""
    model, seconds = timed(BayesPointClassifier(random_state=0), X, y)
    report("ours", model, T, t, model.predict_proba(T), seconds)
    print(f"         gamma {model.gamma_:.3g}, softness {model.softness_:.3g}")


def peer(X, y, T, t, more, more_y) -> None:
    """Fit the tuned and the calibrated SVC."""
    rng = np.random.default_rng(1)
    some = rng.choice(len(y), N_TUNED, replace=False)
    part = X[some].toarray() if sparse.issparse(X) else X[some]
    scale = 1 / (part.shape[1] * part.var())  # gamma="scale"
    grid = {"C": C, "gamma": scale * GAMMA}
    search = GridSearchCV(SVC(cache_size=1000), grid, cv=5)
    search, seconds = timed(search, X[some], y[some])
    best = search.best_params_
    print(
        f"SVC      C {best['C']:g}, gamma {best['gamma']:.3g}, found in {seconds:.0f} s", flush=True
    )
    model, seconds = timed(SVC(cache_size=1000, **best), X, y)
    if more is None:
        held_out, rest = np.split(rng.permutation(len(y)), [len(y) // 10])
        frozen = FrozenEstimator(SVC(cache_size=1000, **best).fit(X[rest], y[rest]))
        more, more_y = X[held_out], y[held_out]
    else:
        frozen = FrozenEstimator(model)
    calibrated = CalibratedClassifierCV(frozen, method="sigmoid").fit(more, more_y)
    report("SVC", model, T, t, calibrated.predict_proba(T), seconds)


def main() -> None:
    """Run the requested problems."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("problems", nargs="*", default=["a9a", "covtype"])
    parser.add_argument("--data", default=os.environ.get("BAYESPOINT_DATA"), help="with large/")
    parser.add_argument("--ours", action="store_true", help="leave out the SVC")
    arguments = parser.parse_args()
    for name in arguments.problems:
        load = {"a9a": load_a9a, "covtype": load_covtype}[name]
        X, y, T, t, more, more_y = load(Path(arguments.data))
        print(f"\n== {name}: {X.shape[0]:,} training points, {T.shape[0]:,} test points")
        with threadpool_limits(1):
            ours(X, y, T, t)
            if not arguments.ours:
                peer(X, y, T, t, more, more_y)


if __name__ == "__main__":
    main()
