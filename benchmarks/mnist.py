"""Permuted perceptrons on handwritten digits: errors, speed, growth, memory, reproducibility.

python benchmarks/mnist.py --data FOLDER [PART ...]
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
import warnings

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.metrics import log_loss
from sklearn.svm import SVC

from bayespoint import BayesPointClassifier, rejection_curve
from bayespoint.datasets.digits import load_handwritten
from bayespoint.solvers import Perceptron

RATES = (0.0, 0.01, 0.02, 0.05, 0.1)
PAPER = {"kernel": "poly", "degree": 5, "gamma": 1, "coef0": 1}
# Kernels to choose from on a validation split of the training set.
DEGREES = (5, 7, 9, 11)
CONSTANTS = (1, 20)
MEGABYTE = 2**20


def say(text: str) -> None:
    """Print a line at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def machine(**parameters) -> BayesPointClassifier:
    """Return 001's machine: no bias, hard boundary, ten perceptrons per class."""
    paper = {**PAPER, "fit_intercept": False, "softness": 0, "solver": "perceptron"}
    return BayesPointClassifier(
        **{**paper, "cache_size": 4000, "n_jobs": -1, "random_state": 0, **parameters}
    )


def errors(model, X, y) -> np.ndarray:
    """Return the error in percent at each of the rejection rates."""
    decision = model.decision_function(X)
    curve = rejection_curve(y, model.classes_[decision.argmax(axis=1)], decision.max(axis=1))
    return 100 * curve.error[np.searchsorted(curve.reject_rate, RATES)]


def show(name: str, values, limits=None) -> None:
    """Print errors, and whether they are within limits."""
    line = "  ".join(f"{v:5.2f}" for v in values)
    ok = "" if limits is None else ("  ok" if np.all(values <= np.array(limits)) else "  TOO MUCH")
    say(f"{name:44}{line}{ok}")


def part_error(mnist, usps) -> None:
    """Print test errors beside those of the paper."""
    say("error in percent, rejecting             0 %    1 %    2 %    5 %   10 %")
    show("MNIST, paper", [1.46, 1.10, 0.87, 0.37, 0.11])
    model = machine().fit(mnist.X_train, mnist.y_train)
    show(
        "MNIST, degree 5",
        errors(model, mnist.X_test, mnist.y_test),
        [1.50, 1.15, 0.90, 0.40, 0.14],
    )
    single = 100 * model.draw_errors(mnist.X_test, mnist.y_test)
    say(f"    single members: {single.mean():.2f} +- {single.std():.2f}")
    model = machine().fit(usps.X_train, usps.y_train)
    show(
        "USPS, degree 5 (paper 4.73)", errors(model, usps.X_test, usps.y_test), [4.8, *[np.inf] * 4]
    )
    best = choose_kernel(mnist)
    model = machine(**best, solver=Perceptron(30)).fit(mnist.X_train, mnist.y_train)
    show(
        f"MNIST, {best}, 30 members",
        errors(model, mnist.X_test, mnist.y_test),
        [1.25, np.inf, 0.65, 0.30, 0.11],
    )


def choose_kernel(mnist) -> dict:
    """Return the kernel with the least error up to 10 % rejection on a validation split."""
    train, validation = slice(0, 50_000), slice(50_000, 60_000)
    scores = {}
    for degree in DEGREES:
        for coef0 in CONSTANTS:
            model = machine(degree=degree, coef0=coef0)
            model.fit(mnist.X_train[train], mnist.y_train[train])
            found = errors(model, mnist.X_train[validation], mnist.y_train[validation])
            show(f"    validation, degree {degree}, coef0 {coef0}", found)
            scores[degree, coef0] = found.mean()
    degree, coef0 = min(scores, key=scores.__getitem__)
    return {"degree": degree, "coef0": coef0}


def part_speed(mnist, usps) -> None:
    """Time fit and predict against SVC, and against the matrix products alone."""
    times = [timed(machine(), mnist) for _ in range(3)]
    ours = np.median([fit + predict for fit, predict, _ in times])
    fit, predict, model = times[0]
    say(f"perceptrons: {fit:.1f} s fit, {predict:.1f} s predict; median of 3: {ours:.1f} s")
    fit = np.median([fit for fit, *_ in times])  # memory of the first one is new
    n_needed, n_computed = len(model.support_), model.diagnostics_.n_rows[0]
    product = time_of_products(mnist.X_train, n_needed)
    say(f"{n_needed} rows of the kernel matrix are needed, {n_computed} were computed;")
    say(f"the dense product for those needed takes {product:.1f} s: {fit / product:.2f} times that")
    fit, predict, _ = timed(SVC(**PAPER), mnist)
    say(f"SVC: {fit:.1f} s fit, {predict:.1f} s predict: {(fit + predict) / ours:.1f} times ours")


def timed(model, data) -> tuple[float, float, object]:
    """Return seconds to fit and to predict."""
    begun = time.perf_counter()
    model.fit(data.X_train, data.y_train)
    fitted = time.perf_counter()
    model.predict(data.X_test)
    return fitted - begun, time.perf_counter() - fitted, model


def time_of_products(X, n_rows: int) -> float:
    """Return the seconds of BLAS for this many Gram rows, in its best block size."""
    X = X.astype(np.float32)
    out = np.empty((512, len(X)), dtype=np.float32)
    np.matmul(X[:512], X.T, out=out)
    begun = time.perf_counter()
    for start in range(0, 4096, 512):
        np.matmul(X[start : start + 512], X.T, out=out)
    return (time.perf_counter() - begun) * n_rows / 4096


def part_growth(mnist, usps) -> None:
    """Print the time for growing numbers of training points."""
    sizes = [7_500, 15_000, 30_000, 60_000]
    seconds = []
    for m in sizes:
        repeats = 3 if m <= 15_000 else 1
        runs = []
        for _ in range(repeats):
            begun = time.perf_counter()
            machine().fit(mnist.X_train[:m], mnist.y_train[:m])
            runs.append(time.perf_counter() - begun)
        seconds.append(np.median(runs))
        say(f"{m:6} points: {seconds[-1]:6.2f} s")
    slope = np.log(seconds[-1] / seconds[0]) / np.log(sizes[-1] / sizes[0])
    say(f"time grows like m^{slope:.2f} (at most 1.8)")


def part_memory(mnist, usps, data: str) -> None:
    """Print the peak memory of a fit in its own process."""
    for cache_size in (1000, 4000):
        command = [sys.executable, __file__, "--data", data, "one_fit", str(cache_size)]
        say(subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip())


def one_fit(mnist, cache_size: float) -> None:
    """Fit once, and print the memory it took."""
    machine().fit(mnist.X_train[:2500], mnist.y_train[:2500])  # compiles, and imports
    data, before = mnist.X_train.nbytes / MEGABYTE, resident("VmRSS")
    begun = time.perf_counter()
    model = machine(cache_size=cache_size).fit(mnist.X_train, mnist.y_train)
    seconds = time.perf_counter() - begun
    peak = resident("VmHWM")
    allowed = 1.2 * (cache_size + data)
    say(
        f"cache_size {cache_size:.0f}: {seconds:.0f} s, {model.diagnostics_.n_rows[0]} rows; peak "
        f"{peak:.0f} MB, of fit and data {peak - before + data:.0f} of {allowed:.0f} allowed"
    )


def resident(which: str) -> float:
    """Return the megabytes in use now (VmRSS), or the peak so far (VmHWM).

    `getrusage` would count the memory of the process that started this one.
    """
    with open("/proc/self/status") as file:
        (line,) = (line for line in file if line.startswith(which))
    return int(line.split()[1]) / 1024


def part_same(mnist, usps) -> None:
    """Print whether coefficients depend on threads and memory."""
    expected = machine().fit(mnist.X_train, mnist.y_train).dual_coef_
    for change in ({"n_jobs": 1}, {"cache_size": 1000}, {"cache_size": 8000}):
        model = machine(**change).fit(mnist.X_train, mnist.y_train)
        same = np.array_equal(model.dual_coef_, expected)
        say(f"{change}: {'the same coefficients' if same else 'OTHER COEFFICIENTS'}")


def part_probabilities(mnist, usps) -> None:
    """Print log loss against SVC with sigmoid calibration; MNIST takes half an hour."""
    for name, data in (("USPS", usps), ("MNIST", mnist)):
        model = machine().fit(data.X_train, data.y_train)
        ours = log_loss(data.y_test, model.predict_proba(data.X_test))
        say(f"{name}: log loss {ours:.4f}")
        peer = CalibratedClassifierCV(SVC(**PAPER), method="sigmoid", cv=5, ensemble=False)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            peer.fit(data.X_train, data.y_train)
            loss = log_loss(data.y_test, peer.predict_proba(data.X_test))
        say(f"{name}: log loss {loss:.4f} of SVC with sigmoid calibration")


PARTS = ("error", "speed", "growth", "memory", "same", "probabilities")


def main() -> None:
    """Run the requested parts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", help="folder with mnist/ and usps.npz (or BAYESPOINT_DATA)")
    parser.add_argument("parts", nargs="*", default=list(PARTS[:-1]), help=", ".join(PARTS))
    arguments = parser.parse_args()
    mnist = load_handwritten("mnist", arguments.data)
    if arguments.parts[0] == "one_fit":
        one_fit(mnist, float(arguments.parts[1]))
        return
    usps = load_handwritten("usps", arguments.data)
    machine().fit(usps.X_train, usps.y_train)  # compiles
    for part in arguments.parts:
        say(f"\n== {part}")
        extra = [arguments.data] if part == "memory" else []
        globals()[f"part_{part}"](mnist, usps, *extra)


if __name__ == "__main__":
    main()
