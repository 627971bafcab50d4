"""Noisy images: our default and the paper's perceptrons against SVC, on three kinds of MNIST.

    python benchmarks/noisy_images.py run --data FOLDER --out FILE [--rows 60000] [--threads 2]
    python benchmarks/noisy_images.py report FILE

`clean` is MNIST. In `flipped`, 5 % of all labels, training and test, are another digit, at random.
`blurred` has gray noise on each pixel, then a Gaussian blur: classes overlap as in Fashion-MNIST.
Seconds are those of the clock, for a fit and the predictions of 10,000 test rows; `core` in the
file has the seconds of a core, for machines that are not idle.

SVC has no probabilities. For its log loss, sigmoids (`CalibratedClassifierCV`) and a multinomial
logistic regression are fitted to its decisions on one half of the test rows and judged on the other
half, and the other way around; the better of the two counts. This takes no training rows from it
and no time, so it flatters SVC: our probabilities come from the training rows alone.

`run` writes one line per set and machine, and skips what is there: a killed run loses one line.
The SVCs take about half an hour of a core.
"""
# ruff: noqa: T201

from __future__ import annotations

import argparse
import json
import time
import warnings
from pathlib import Path

import numpy as np
from mnist import PAPER, machine, time_of_products
from scipy.ndimage import gaussian_filter
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import ConvergenceWarning
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.svm import SVC
from sklearn.utils import Bunch

from bayespoint import BayesPointClassifier
from bayespoint.datasets.digits import load_handwritten

FLIPPED_SHARE = 0.05
# Standard deviations of the noise, in units of white, and of the blur, in pixels.
NOISE, BLUR_PIXELS = 0.7, 2.0
WIDTH = 28
N_TO_COMPILE = 2500
SETS = ("clean", "flipped", "blurred")
MACHINES = {
    "default": lambda threads: BayesPointClassifier(random_state=0, n_jobs=threads),
    "svc": lambda threads: SVC(),
    # Of the blurred set nearly all Gram rows are needed: 6 GB.
    "paper": lambda threads: machine(n_jobs=threads, cache_size=8000),
    "svc-paper": lambda threads: SVC(**PAPER),
}
PEERS = {"default": "svc", "paper": "svc-paper"}


def load(name: str, folder: str, n_rows: int) -> Bunch:
    """Return MNIST, with its first rows alone, and with noise."""
    data = load_handwritten("mnist", folder)
    data.X_train, data.y_train = data.X_train[:n_rows], data.y_train[:n_rows]
    for seed, part in enumerate(("train", "test")):
        X, y = f"X_{part}", f"y_{part}"
        rng = np.random.default_rng(seed)
        if name == "flipped":
            data[y] = flip(data[y], rng)
        if name == "blurred":
            data[X] = blur(data[X], rng)
    return data


def flip(y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Replace a share of the labels by other digits."""
    other = (y + rng.integers(1, 10, len(y))) % 10
    return np.where(rng.random(len(y)) < FLIPPED_SHARE, other, y)


def blur(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Add noise to each pixel, blur, and round to 256 gray values."""
    images = X.reshape(-1, WIDTH, WIDTH)
    images = images + NOISE * rng.standard_normal(images.shape)
    images = gaussian_filter(images, (0, BLUR_PIXELS, BLUR_PIXELS))
    return np.round(255 * np.clip(images, 0, 1)).reshape(len(X), -1) / 255


class Decided(ClassifierMixin, BaseEstimator):
    """A fitted classifier whose rows are the decisions of another one."""

    def __init__(self, classes=None):
        self.classes = classes

    def fit(self, X, y):
        """Note the classes; nothing is learned."""
        self.classes_ = np.asarray(self.classes)
        return self

    def decision_function(self, X):
        """Return the decisions."""
        return X

    def predict(self, X):
        """Return the class of the largest decision."""
        return self.classes_[X.argmax(axis=1)]


def calibrated(model, decisions: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return probabilities of each half of the rows, with a model of the other half."""
    probabilities = np.empty_like(decisions)
    halves = np.array_split(np.random.default_rng(0).permutation(len(y)), 2)
    for fitted, judged in (halves, halves[::-1]):
        model.fit(decisions[fitted], y[fitted])
        probabilities[judged] = model.predict_proba(decisions[judged])
    return probabilities


def losses_of_svc(decisions: np.ndarray, y: np.ndarray, classes) -> dict[str, float]:
    """Return the log loss of the better calibration, and of both."""
    given = FrozenEstimator(Decided(classes).fit(decisions, y))
    found = {
        "sigmoid": CalibratedClassifierCV(given, method="sigmoid"),
        "logistic": LogisticRegression(max_iter=1000),
    }
    losses = {name: log_loss(y, calibrated(m, decisions, y)) for name, m in found.items()}
    return {"log_loss": min(losses.values()), **losses}


def measure(name: str, data: Bunch, threads: int) -> dict:
    """Fit a machine and predict; return seconds, error in percent, log loss and details."""
    model = MACHINES[name](threads)
    begun, worked = time.perf_counter(), time.process_time()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        model.fit(data.X_train, data.y_train)
    fitted = time.perf_counter()
    # For all of these machines the largest decision is the predicted class.
    decisions = model.decision_function(data.X_test)
    predicted, worked = time.perf_counter(), time.process_time() - worked
    if name.startswith("svc"):
        details = losses_of_svc(decisions, data.y_test, model.classes_)
        details["n_support"] = int(model.n_support_.sum())
    else:
        details = {"log_loss": log_loss(data.y_test, model.predict_proba(data.X_test))}
        details |= perceptron_details(model, data) if name == "paper" else {}
    return {
        "fit": fitted - begun,
        "predict": predicted - fitted,
        "core": worked,
        "error": 100 * np.mean(model.classes_[decisions.argmax(axis=1)] != data.y_test),
        "warnings": [str(w.message) for w in caught],
        **details,
    }


def perceptron_details(model: BayesPointClassifier, data: Bunch) -> dict:
    """Return Gram rows needed and computed, mistakes, and the time of the needed products."""
    diagnostics = model.diagnostics_
    return {
        "n_support": len(model.support_),
        "n_rows": int(diagnostics.n_rows[0]),
        "n_mistakes": int(np.sum(diagnostics.n_mistakes)),
        "n_consistent": int(np.sum(diagnostics.n_consistent)),
        "product": time_of_products(data.X_train, len(model.support_)),
    }


def run(arguments: argparse.Namespace) -> None:
    """Measure what is missing in the file of results."""
    out = Path(arguments.out)
    done = {(r["set"], r["machine"], r["rows"], r["threads"]) for r in read(out)}
    for kind in arguments.sets:
        wanted = [(kind, name, arguments.rows, arguments.threads) for name in arguments.machines]
        missing = [key for key in wanted if key not in done]
        data = load(kind, arguments.data, arguments.rows) if missing else None
        if data is not None:  # compiles
            machine().fit(data.X_train[:N_TO_COMPILE], data.y_train[:N_TO_COMPILE])
        for key in missing:
            found = dict(zip(("set", "machine", "rows", "threads"), key, strict=True))
            found.update(measure(key[1], data, arguments.threads))
            with out.open("a") as file:
                file.write(json.dumps(found) + "\n")
            show(found)


def read(path: Path) -> list[dict]:
    """Return the results of a file."""
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def show(found: dict) -> None:
    """Print one result."""
    print(
        f"{found['set']:8} {found['rows']:6} rows {found['machine']:10}"
        f"{found['fit']:8.1f} s fit {found['predict']:6.1f} s predict"
        f"{found['error']:7.2f} % errors, log loss {found['log_loss']:.4f}",
        flush=True,
    )


def report(arguments: argparse.Namespace) -> None:
    """Print all results, and each of our machines against its peer."""
    results = read(Path(arguments.out))
    for found in results:
        show(found)
    key = {(r["set"], r["rows"], r["machine"]): r for r in results}
    for (kind, rows, name), ours in key.items():
        peer = key.get((kind, rows, PEERS.get(name)))
        if peer is None:
            continue
        ratio = (peer["fit"] + peer["predict"]) / (ours["fit"] + ours["predict"])
        print(
            f"{kind:8} {rows:6} rows: {name} in {ours['threads']} threads is {ratio:.2f} times as "
            f"fast as {peer['machine']}; errors {ours['error']:.2f} against {peer['error']:.2f} %, "
            f"log loss {ours['log_loss']:.4f} against {peer['log_loss']:.4f}"
        )
        if name == "paper":
            print(
                f"    {ours['n_mistakes']} mistakes, {ours['n_consistent']} consistent members; "
                f"{ours['n_support']} Gram rows needed, {ours['n_rows']} computed; fit "
                f"{ours['fit'] / ours['product']:.2f} times the product of those needed"
            )


def main() -> None:
    """Run or report."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True)
    running = commands.add_parser("run")
    running.add_argument("--data", help="folder with mnist/ (or BAYESPOINT_DATA)")
    running.add_argument("--out", required=True, help="file of results, one JSON object per line")
    running.add_argument("--rows", type=int, default=60_000)
    running.add_argument("--threads", type=int, default=2)
    running.add_argument("--sets", nargs="+", choices=SETS, default=SETS)
    running.add_argument("--machines", nargs="+", choices=MACHINES, default=list(MACHINES))
    running.set_defaults(do=run)
    reporting = commands.add_parser("report")
    reporting.add_argument("out")
    reporting.set_defaults(do=report)
    arguments = parser.parse_args()
    arguments.do(arguments)


if __name__ == "__main__":
    main()
