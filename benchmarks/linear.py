"""Compare LinearBayesPointClassifier with scikit-learn's linear classifiers and river.

python benchmarks/linear.py --data FOLDER [PART ...]

Parts: fit, dense, stream, river, memory. Data sets: a9a (32,561 x 123, sparse), word counts of
25,000 IMDB reviews (27,271 words, scaled by their maximum) and covtype (500,000 x 54, dense,
standardized; class 2 against the rest).
"""
# ruff: noqa: T201

from __future__ import annotations

import argparse
import time
import tracemalloc
import warnings
from functools import partial
from pathlib import Path

import numpy as np
from problems import seconds
from scipy import sparse
from sklearn.datasets import load_svmlight_file, make_classification
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.metrics import log_loss
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

from bayespoint import LinearBayesPointClassifier

# Rows per batch of a stream.
BATCH_ROWS = 1000
MEGABYTE = 2**20
# Rows, features and classes of generated tables.
DENSE_PROBLEMS = (
    (2000, 20, 2),
    (20_000, 20, 2),
    (20_000, 100, 2),
    (100_000, 30, 2),
    (20_000, 20, 5),
)


def load_a9a(folder: Path):
    """Return training and test points and labels."""
    parts = [
        load_svmlight_file(folder / f"a9a{end}.libsvm.gz", n_features=123) for end in ("", ".t")
    ]
    return [part for X, y in parts for part in (X, y > 0)]


def load_imdb(folder: Path):
    """Return word counts, scaled, and whether a review is good."""
    file = np.load(folder / "imdb_counts.npz")
    parts = []
    for name in ("train", "test"):
        arrays = [file[f"{name}_{key}"] for key in ("data", "indices", "indptr")]
        arrays[0] = arrays[0].astype(float)
        parts.append(sparse.csr_matrix(tuple(arrays), shape=file[f"{name}_shape"]))
    scaler = MaxAbsScaler().fit(parts[0])
    X, X_test = map(scaler.transform, parts)
    return X, file["y_train"] > 0, X_test, file["y_test"] > 0


def load_covtype(folder: Path, n_train: int = 500_000):
    """Return cartographic variables, standardized, and whether the forest is of class 2."""
    file = np.load(folder / "covtype.npz")
    codes = [file[name].astype(int) for name in ("wilderness", "soil")]
    dummies = [np.eye(code.max() - code.min() + 1)[code - code.min()] for code in codes]
    X, y = np.column_stack([file["X_num"], *dummies]), file["y"] == 2
    order = np.random.default_rng(0).permutation(len(y))
    X, y = X[order], y[order]
    X = StandardScaler().fit(X[:n_train]).transform(X)
    return X[:n_train], y[:n_train], X[n_train:], y[n_train:]


LOADERS = {"a9a": load_a9a, "imdb": load_imdb, "covtype": load_covtype}


def warm_up() -> None:
    """Load compiled loops."""
    X, y = make_classification(3000, 50, random_state=0)
    X = np.where(X > 1.5, X, 0.0)
    for covariance in ("full", "factorized"):
        for kind in (np.asarray, sparse.csr_matrix):
            model = LinearBayesPointClassifier(covariance=covariance).fit(kind(X), y)
            model.partial_fit(kind(X), y).predict_proba(kind(X))


def part_fit(folder: Path) -> None:
    """Compare fit time and test log loss with logistic regression at its defaults."""
    for name, load in LOADERS.items():
        X, y, X_test, y_test = load(folder)
        mine, peer = LinearBayesPointClassifier(), LogisticRegression(solver="lbfgs")
        fits = [partial(model.fit, X, y) for model in (mine, peer)]
        t_mine, t_peer = seconds(*fits, repeats=5)
        losses = [log_loss(y_test, m.predict_proba(X_test)) for m in (mine, peer)]
        wrong = [100 * (1 - m.score(X_test, y_test)) for m in (mine, peer)]
        print(
            f"{name:8} fit {t_mine:6.2f} s against {t_peer:6.2f} s: {t_mine / t_peer:5.2f} "
            f"(at most 1)   log loss {losses[0]:.4f} against {losses[1]:.4f}: "
            f"{losses[0] / losses[1]:6.4f} (at most 1.01)   error {wrong[0]:.2f} against "
            f"{wrong[1]:.2f} %   {mine.covariance_}, {mine.n_iter_} sweeps",
            flush=True,
        )


def part_dense(folder: Path) -> None:
    """Compare fit times with logistic regression on generated dense tables."""
    for n, d, n_classes in DENSE_PROBLEMS:
        X, y = make_classification(
            n, d, n_informative=10, n_classes=n_classes, flip_y=0.1, random_state=0
        )
        X = StandardScaler().fit_transform(X)
        mine, peer = LinearBayesPointClassifier(), LogisticRegression()
        t_mine, t_peer = seconds(partial(mine.fit, X, y), partial(peer.fit, X, y), repeats=5)
        print(
            f"{n:7,} x {d:3}, {n_classes} classes: {t_mine:.3f} s against {t_peer:.3f} s: "
            f"{t_mine / t_peer:5.2f}",
            flush=True,
        )


def learn(model, X, y, size: int) -> float:
    """Return the seconds that all updates take."""
    batches = [slice(start, start + size) for start in range(0, X.shape[0], size)]
    batches = [(X[here], y[here]) for here in batches]
    began = time.perf_counter()
    for rows, labels in batches:
        model.partial_fit(rows, labels, classes=[False, True])
    return time.perf_counter() - began


def stream(model, X, y, size: int) -> tuple[float, float]:
    """Return the seconds that all updates take, and the log loss of predictions before them."""
    total, probabilities = 0.0, []
    for start in range(0, X.shape[0], size):
        rows, labels = X[start : start + size], y[start : start + size]
        if start:
            probabilities.append(model.predict_proba(rows)[:, 1])
        began = time.perf_counter()
        model.partial_fit(rows, labels, classes=[False, True])
        total += time.perf_counter() - began
    return total, log_loss(y[size:], np.concatenate(probabilities))


def part_stream(folder: Path) -> None:
    """Compare one pass of partial_fit with stochastic gradient descent."""
    for name, load in LOADERS.items():
        X, y, *_ = load(folder)
        order = np.random.default_rng(1).permutation(len(y))
        X, y = X[order], y[order]
        for size in (BATCH_ROWS, 10 * BATCH_ROWS):
            makers = {
                "ours": LinearBayesPointClassifier,
                "factorized": lambda: LinearBayesPointClassifier(covariance="factorized"),
                "SGD": lambda: SGDClassifier(loss="log_loss", random_state=0),
            }
            runs = {
                key: [stream(make(), X, y, size) for _ in range(3)] for key, make in makers.items()
            }
            rate = {
                key: len(y) / np.median([run[0] for run in found]) for key, found in runs.items()
            }
            line = "   ".join(
                f"{key} {rate[key]:9,.0f} rows/s, {rate[key] / rate['SGD']:5.2f} of SGD's, "
                f"log loss {found[0][1]:.4f}"
                for key, found in runs.items()
            )
            print(f"{name:8} batches of {size:6}: {line}", flush=True)


def part_river(folder: Path) -> None:
    """Compare rows per second with river's AdPredictor, which takes a row at a time."""
    from river import linear_model

    for name, load, n_peer in (("a9a", load_a9a, 4000), ("imdb", load_imdb, 500)):
        X, y, *_ = load(folder)
        X.data[:] = 1.0  # AdPredictor only knows which features a row has
        rows = [dict.fromkeys(X[i].indices.tolist(), 1) for i in range(n_peer)]
        rates = []
        for _ in range(5):
            peer, began = linear_model.AdPredictor(), time.perf_counter()
            for row, label in zip(rows, y[:n_peer].tolist(), strict=True):
                peer.learn_one(row, label)
            rates.append(n_peer / (time.perf_counter() - began))
        peer_rate = np.median(rates)
        for size in (BATCH_ROWS, len(y)):
            fixed = {"prior_variance": 1.0, "covariance": "factorized"}
            runs = [learn(LinearBayesPointClassifier(**fixed), X, y, size) for _ in range(5)]
            rate = len(y) / np.median(runs)
            print(
                f"{name:8} {X.nnz / len(y):.0f} features a row, batches of {size}: {rate:,.0f} "
                f"rows/s, river's AdPredictor {peer_rate:,.0f}: {rate / peer_rate:.0f} times "
                "(at least 100)",
                flush=True,
            )


def part_memory(folder: Path) -> None:
    """Compare the peak memory of a factorized fit with the documented one."""
    X, y, *_ = load_imdb(folder)
    tracemalloc.start()
    LinearBayesPointClassifier(covariance="factorized").fit(X, y)
    _, peak = tracemalloc.get_traced_memory()
    promised = 16 * (X.nnz + len(y))
    print(
        f"imdb     {peak / MEGABYTE:.0f} MB beside the data; 16 bytes for each of {X.nnz:,} "
        f"entries and {len(y):,} intercepts are {promised / MEGABYTE:.0f} MB: "
        f"{peak / promised:.2f}",
        flush=True,
    )


PARTS = {
    "fit": part_fit,
    "dense": part_dense,
    "stream": part_stream,
    "river": part_river,
    "memory": part_memory,
}


def main() -> None:
    """Run the given parts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", default=["fit", "stream", "river"])
    parser.add_argument("--data", type=Path, required=True, help="folder that holds large/")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    warm_up()
    for name in arguments.parts:
        PARTS[name](arguments.data / "large")


if __name__ == "__main__":
    main()
