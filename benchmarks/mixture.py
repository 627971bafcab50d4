"""What each part of the default is worth: terms of its kernel, link, likelihood, coupling.

    python benchmarks/mixture.py --data FOLDER [--splits 2] [--max-train 400] [--sets NAME ...]

Data: files NAME.npz (X, y), split as in `arena.py`. Means over sets of error, log loss and
calibration error, and paired differences of the first two to the default with standard errors
over sets; seconds are CPU times. The variants:

  default               `BayesPointClassifier()`
  only rbf, ...         the mixture with these terms alone
  without local, ...    the mixture without these terms
  softmax               probabilities are softmax(T F) instead of powers of F, T from left-out rows
  ep                    expectation propagation with the chosen mixture, one class against the
                        rest, its softness by evidence, scaled by a temperature
  one against one       the same for each pair of classes, with the mixture chosen for all, coupled
                        by the method of Wu, Lin and Weng (2004); only for more than two classes
"""
# ruff: noqa: T201

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import numpy as np
from arena_measures import judge as qualities
from arena_measures import load_split
from scipy import optimize, special
from threadpoolctl import threadpool_limits

from bayespoint import BayesPointClassifier
from bayespoint.fitting import mixture_search
from bayespoint.geometry.mixture import TERMS, term_names

WITHOUT = {
    "local": {"local"},
    "ranks": {"rank_rbf", "rank_laplacian"},
    "overlap": {"overlap"},
    "rbf": {"rbf", "rank_rbf"},
}
MAX_PAIRED_CLASSES = 15
# Pairwise probabilities stay this far from 0 and 1.
MIN_PAIRED_PROBABILITY = 1e-9


def with_terms(kept: set[str]) -> Callable:
    """Return a function that fits the default with some of its terms."""

    def fit(X, y):
        def some(views):
            return [name for name in term_names(views) if name in kept] or ["laplacian"]

        with patch.object(mixture_search, "term_names", some):
            return BayesPointClassifier(random_state=0).fit(X, y).predict_proba

    return fit


def with_softmax(X, y):
    """Fit the default; its probabilities are softmax(T F)."""
    model = BayesPointClassifier(random_state=0).fit(X, y)
    gram = model._fitted_kernel()(model.support_vectors_, model.support_vectors_)
    unit = gram / gram[0, 0]
    classes = model.classes_
    codes = (y[:, None] == classes) - 1 / len(classes)
    inverse = np.linalg.inv(unit + model.softness_ * np.eye(len(y)))
    left_out = codes - inverse @ codes / np.diagonal(inverse)[:, None]
    target = np.searchsorted(classes, y)

    def loss(log_t):
        log_p = special.log_softmax(np.exp(log_t) * left_out, axis=1)
        prior = 0.5 * ((log_t - np.log(8)) / 0.5) ** 2
        return prior - np.sum(log_p[np.arange(len(y)), target])

    t = np.exp(optimize.minimize_scalar(loss, bounds=(-2, 6), method="bounded").x)

    def predict(X_test):
        F = model.probit_scale_ * model.decision_function(X_test)
        F = np.column_stack([-F, F]) if F.ndim == 1 else F
        return special.softmax(t * F, axis=1)

    return predict


def with_ep(X, y):
    """Fit expectation propagation with the chosen mixture."""
    return BayesPointClassifier(solver="ep", random_state=0).fit(X, y).predict_proba


def one_against_one(X, y):
    """Fit expectation propagation on each pair of classes, and couple the pairs."""
    model = BayesPointClassifier(random_state=0).fit(X, y)
    kernel, points, c = model._fitted_kernel(), model.support_vectors_, len(model.classes_)
    gram = kernel(points, points)
    pairs = {}
    for a in range(c):
        for b in range(a):
            rows = np.flatnonzero(np.isin(y, model.classes_[[b, a]]))
            pair = BayesPointClassifier("precomputed", fit_intercept=False, random_state=0)
            pairs[a, b] = rows, pair.fit(gram[np.ix_(rows, rows)], y[rows])

    def predict(X_test):
        across = kernel(model.columns_.points(X_test), points)
        r = np.full((len(X_test), c, c), 0.5)
        for (a, b), (rows, pair) in pairs.items():
            p = np.clip(
                pair.predict_proba(across[:, rows])[:, 1],
                MIN_PAIRED_PROBABILITY,
                1 - MIN_PAIRED_PROBABILITY,
            )
            r[:, a, b], r[:, b, a] = p, 1 - p
        return couple(r)

    return predict


def couple(r: np.ndarray) -> np.ndarray:
    """Return class probabilities from r[:, a, b], the probability of a if it is a or b."""
    n, c, _ = r.shape
    each = np.arange(c)
    swapped = np.swapaxes(r, 1, 2)
    Q = -swapped * r
    Q[:, each, each] = np.sum(swapped**2, axis=2) - 0.25
    system = np.zeros((n, c + 1, c + 1))
    system[:, :c, :c] = Q
    system[:, each, each] += 1e-12
    system[:, :c, c] = system[:, c, :c] = 1.0
    right = np.zeros((n, c + 1, 1))
    right[:, c] = 1.0
    p = np.maximum(np.linalg.solve(system, right)[:, :c, 0], 1e-10)
    return p / p.sum(axis=1, keepdims=True)


VARIANTS: dict[str, Callable] = {
    "default": with_terms(set(TERMS)),
    "only rbf": with_terms({"rbf"}),
    "only laplacian": with_terms({"laplacian"}),
    **{f"without {name}": with_terms(set(TERMS) - terms) for name, terms in WITHOUT.items()},
    "softmax": with_softmax,
    "ep": with_ep,
    "one against one": one_against_one,
}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--splits", type=int, default=2)
    parser.add_argument("--max-train", type=int, default=400)
    parser.add_argument("--sets", nargs="*")
    parser.add_argument("--variants", nargs="*", choices=VARIANTS, default=list(VARIANTS))
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    found: dict[str, dict[str, np.ndarray]] = {name: {} for name in options.variants}
    for file in sorted(options.data.glob("*.npz")):
        if options.sets and file.stem not in options.sets:
            continue
        for name in options.variants:
            scores = [judge(name, file, s, options.max_train) for s in range(options.splits)]
            if scores[0] is not None:
                found[name][file.stem] = np.mean(scores, axis=0)
        errors = {n: 100 * v[file.stem][0] for n, v in found.items() if file.stem in v}
        print(file.stem, ", ".join(f"{n} {e:.1f}" for n, e in errors.items()), flush=True)
    show(found)


def judge(name: str, file: Path, number: int, max_train: int) -> np.ndarray | None:
    """Return error, log loss, calibration error and seconds of a variant on a split."""
    X, y, X_test, y_test = load_split(file, number, max_train)
    n_classes = len(np.unique(y))
    if name == "one against one" and not 2 < n_classes <= MAX_PAIRED_CLASSES:
        return None
    began = time.process_time()
    with threadpool_limits(1):
        predict = VARIANTS[name](X, y)
        seconds = time.process_time() - began
        probability = predict(X_test)
    classes = np.unique(y)
    scores = qualities(classes[probability.argmax(axis=1)], probability, classes, y_test)
    return np.array([scores["error"], scores["log_loss"], scores["calibration"], seconds])


def show(found: dict[str, dict[str, np.ndarray]]) -> None:
    """Print means, and differences to the default on the sets that a variant has."""
    print("variant            sets  error %  log loss  calibr.  seconds   difference to default")
    for name, scores in found.items():
        sets = sorted(scores)
        values = np.array([scores[s] for s in sets])
        off = values[:, :2] - np.array([found["default"][s][:2] for s in sets])
        error = off.std(axis=0, ddof=1) / np.sqrt(len(sets))
        mean = values.mean(axis=0)
        print(
            f"{name:18} {len(sets):4} {100 * mean[0]:8.2f} {mean[1]:9.4f} {mean[2]:8.4f} "
            f"{mean[3]:8.2f} {100 * off[:, 0].mean():8.2f} ± {100 * error[0]:.2f} %"
            f"{off[:, 1].mean():10.4f} ± {error[1]:.4f}"
        )


if __name__ == "__main__":
    main()
