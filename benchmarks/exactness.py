"""How exact numbers are, and what changes them.

    python benchmarks/exactness.py [precision] [converge] [linear] [same] [--preload FILE ...]
        [--python FILE ...]

precision: errors of label regression and of expectation propagation against twins in 50 digits, on
kernel matrices that are closer and closer to singular.
converge: log loss on new rows where expectation propagation does not converge, with outputs that
shrink and with outputs as they are.
linear: sweeps of the linear classifier on random splits of iris, and fits that do not converge.
same: largest difference of probabilities between kernels of OpenBLAS, numbers of threads, other
libraries (`--preload FILE`, which other_blas.py made), and versions (`--python FILE`, another
environment's Python).
"""
# ruff: noqa: T201

import argparse
import json
import os
import subprocess
import sys
import warnings

import high_precision
import numpy as np
from scipy import special
from sklearn.datasets import load_iris
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

import bayespoint.fitting.gram_fit as gram_fit
from bayespoint import BayesPointClassifier, LinearBayesPointClassifier
from bayespoint.solvers import EP

GAPS = (1.0, 1e-2, 1e-4, 1e-6, 1e-8)
SOFTNESS = (1.0, 1e-3, 1e-6, 1e-9)
EP_TOL = 1e-12


def fitted(K, y, softness, solver):
    options = {"fit_intercept": False, "random_state": 0}
    model = BayesPointClassifier("precomputed", softness=softness, solver=solver, **options)
    return model.fit(K, y)


def precision():
    print("| condition number | regression: outputs | evidence | EP: outputs | probabilities |")
    print("|---|---|---|---|---|")
    rows = []
    for gap in GAPS:
        for softness in SOFTNESS:
            K, y, across = high_precision.nearly_singular(8, gap)
            codes, _, evidence = high_precision.regression(K, y / 2, softness, across)
            model = fitted(K, y, softness, "regression")
            off = np.abs(model.decision_function(across) * model.probit_scale_ - codes).max()
            errors = [off / np.abs(codes).max(), abs(model.log_evidence_ - evidence)]
            outputs, _, _ = high_precision.propagation(K, y, softness, across)
            model = fitted(K, y, softness, EP(tol=EP_TOL, max_iter=2000))
            ours = model.decision_function(across) * model.probit_scale_
            errors.append(np.abs(ours - outputs).max() / np.abs(outputs).max())
            errors.append(np.abs(special.ndtr(ours) - special.ndtr(outputs)).max())
            rows.append((np.linalg.cond(K + softness * np.eye(len(K))), *errors))
    decades = np.log10([row[0] for row in rows])
    for low in range(0, 16, 2):
        here = [row for row, d in zip(rows, decades, strict=True) if low <= d < low + 2]
        if here:
            worst = np.max(here, axis=0)[1:]
            print(f"| 1e{low} to 1e{low + 2} | " + " | ".join(f"{w:.0e}" for w in worst) + " |")


def curved(seed, n=80):
    """Return points with a curved boundary, and labels some of which are flipped."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n + 500, 3))
    y = (X[:, 0] + 0.5 * X[:, 1] ** 2 > 0.3).astype(int)
    flipped = rng.random(len(y)) < (0.02, 0.1, 0.3)[seed % 3]
    y = np.where(flipped, 1 - y, y)
    return X[:n], y[:n], X[n:], y[n:]


def converge(n_seeds=10):
    machines = {
        "rbf, hard, 1 % flips": {"kernel": "rbf", "gamma": 1.0, "softness": 0, "label_noise": 0.01},
        "rbf, hard, 0.1 %": {"kernel": "rbf", "gamma": 0.5, "softness": 0, "label_noise": 1e-3},
        "linear, hard, 1 %": {"kernel": "linear", "softness": 0, "label_noise": 0.01},
    }
    shrinking = gram_fit.trust_in
    print("| machine | not converged | log loss, as it is (worst) | shrunk (worst) |")
    print("|---|---|---|---|")
    for name, given in machines.items():
        losses = []
        for seed in range(n_seeds):
            X, y, new, labels = curved(seed)
            found = []
            for trust in (lambda residual: 1.0, shrinking):
                gram_fit.trust_in = trust
                model = BayesPointClassifier(solver=EP(max_iter=60), random_state=0, **given)
                model.fit(X, y)
                found.append(log_loss(labels, model.predict_proba(new)))
            if not model.diagnostics_.mixed.all():
                losses.append(found)
        (bold, shrunk), worst = np.mean(losses, axis=0), np.max(losses, axis=0)
        both = f"{bold:.3f} ({worst[0]:.2f}) | {shrunk:.3f} ({worst[1]:.2f})"
        print(f"| {name} | {len(losses)} of {n_seeds} | {both} |")


def linear(n_seeds=60):
    X, y = load_iris(return_X_y=True)
    sweeps, failed = [], 0
    for seed in range(n_seeds):
        for size in (0.3, 0.5):
            part, _, labels, _ = train_test_split(X, y, random_state=seed, test_size=size)
            model = LinearBayesPointClassifier().fit(part, labels)
            sweeps.append(model.n_iter_)
            failed += model.n_iter_ == model.max_iter
    print(f"{failed} of {len(sweeps)} do not converge, {np.median(sweeps):g} sweeps in the median")


# What changes the last digits

PROBE = """
import json, sys
import numpy as np
from sklearn.datasets import load_wine
from threadpoolctl import threadpool_info
from bayespoint import BayesPointClassifier, LinearBayesPointClassifier
X, y = load_wine(return_X_y=True)
two = y < 2
machines = {"the default": (BayesPointClassifier(random_state=0), X, y)}
machines["linear"] = LinearBayesPointClassifier(), X, y
for solver in ("regression", "ep", "billiard", "perceptron", "nystroem", "cells"):
    given = dict(gamma=0.05, softness=0.1, standardize=True, random_state=0)
    machines[solver] = BayesPointClassifier("rbf", solver=solver, **given), X[two], y[two]
machines["mosaic"] = BayesPointClassifier(solver="mosaic", random_state=0), X[two], y[two]
found = {}
for name, (model, X, y) in machines.items():
    found[name] = model.fit(X[::2], y[::2]).predict_proba(X).tolist()
libraries = sorted({f"{i['internal_api']} {i.get('architecture')}" for i in threadpool_info()
                    if i["user_api"] == "blas"})
json.dump({"found": found, "libraries": libraries}, sys.stdout)
"""


def probe(python=sys.executable, **environment):
    """Return probabilities of all machines in a new process, and its libraries."""
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1"} | environment
    run = subprocess.run(
        [python, "-W", "ignore", "-c", PROBE],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if run.returncode:
        raise RuntimeError(run.stderr[-2000:])
    answer = json.loads(run.stdout)
    return {name: np.array(p) for name, p in answer["found"].items()}, answer["libraries"]


def same(preload, pythons):
    usual, libraries = probe()
    print(f"beside: {', '.join(libraries)}\n")
    variants = {
        f"kernels of {core}": {"OPENBLAS_CORETYPE": core}
        for core in ("Prescott", "Nehalem", "Haswell", "SkylakeX")
    }
    variants["two threads of BLAS"] = {"OPENBLAS_NUM_THREADS": "2"}
    for file in preload:
        variants[os.path.basename(file)] = {"LD_PRELOAD": os.path.abspath(file)}
    for python in pythons:
        variants[python] = {"python": python}
    print("| what varies | " + " | ".join(usual) + " |")
    print("|---" * (1 + len(usual)) + "|")
    for name, environment in variants.items():
        found, _ = probe(**environment)
        off = " | ".join(f"{np.abs(found[k] - usual[k]).max():.0e}" for k in usual)
        print(f"| {name} | {off} |", flush=True)


def main():
    parts = {"precision": precision, "converge": converge, "linear": linear}
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[*parts, "same", []])
    parser.add_argument("--preload", nargs="*", default=[], help="libraries of other_blas.py")
    parser.add_argument("--python", nargs="*", default=[], help="Python with other versions")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in given.parts or [*parts, "same"]:
        print(f"\n{name}\n")
        same(given.preload, given.python) if name == "same" else parts[name]()


if __name__ == "__main__":
    main()
