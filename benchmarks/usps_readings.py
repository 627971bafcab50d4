"""USPS with algorithm 1 of 000, for every reading of what its section 4.3 leaves open.

A plain loop over one kernel matrix in double precision, apart from the classifier that experiment
figure_9 uses:

    python benchmarks/usps_readings.py --data FOLDER

For each reading the mean test error over seeds is printed, its deviation, by how many deviations
the mean is above the published error, and the share of runs with at most that error.
"""

# ruff: noqa: T201

from __future__ import annotations

import argparse

import numpy as np

from bayespoint._jit.perceptron import learn
from bayespoint.datasets import digits
from bayespoint.papers.experiment import single_runs
from bayespoint.papers.figure_9 import as_good
from bayespoint.papers.published import judge, published

N_CLASSES, N_MEMBERS, DEGREE = 10, 10, 5
# More than any perceptron makes; 000 sets no limit.
MAX_MISTAKES = 10**9
CODINGS = {
    "rounded": lambda X: np.rint(255 * X),
    "rounded down": lambda X: np.floor(255 * X),
    "not rounded": lambda X: 255 * X,
}


def errors(gram, to_test, y, y_test, seed: int, same_orders: bool) -> dict[str, float]:
    """Return the test errors in percent of the mean of unit members, and of members as they are."""
    rng = np.random.default_rng(seed)
    orders = [rng.permutation(len(y)) for _ in range(N_MEMBERS)]
    outputs = {scaling: np.zeros((len(y_test), N_CLASSES)) for scaling in ("unit", "raw")}
    for c in range(N_CLASSES):
        signs = np.where(y == c, 1.0, -1.0)
        for k in range(N_MEMBERS):
            order = orders[k] if same_orders else rng.permutation(len(y))
            margins = np.zeros(len(y))
            count, _ = learn(gram, signs, order, margins, MAX_MISTAKES)
            output = to_test @ (signs * count)
            outputs["raw"][:, c] += output
            outputs["unit"][:, c] += output / np.sqrt(count @ margins)
    return {
        scaling: 100 * float(np.mean(values.argmax(axis=1) != y_test))
        for scaling, values in outputs.items()
    }


def report(reading: str, found: list[float]) -> None:
    """Print a line of the table."""
    ours = single_runs(found)
    far = judge(ours, published("figure_9")["usps, as printed: error % at 0 % rejection"]).distance
    share = as_good("usps", np.array(found)).mean
    print(f"{reading:45} {ours.mean:.3f} {np.std(found, ddof=1):.3f} {far:+.2f} {share:5.1f} %")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", help="folder with usps.npz; default: $BAYESPOINT_DATA or OpenML")
    parser.add_argument("--seeds", type=int, default=200)
    options = parser.parse_args()
    data = digits.load_handwritten("usps", options.data)
    print(f"{'reading':45}  mean  dev.  above  as good")
    for coding, code in CODINGS.items():
        train, test = code(data.X_train), code(data.X_test)
        # A common factor changes nothing and keeps numbers small.
        scale = np.mean(np.sum(train**2, axis=1))
        gram, to_test = (((Z @ train.T + 1) / scale) ** DEGREE for Z in (train, test))
        for same_orders in (False, True) if coding == "rounded" else (False,):
            runs = [
                errors(gram, to_test, data.y_train, data.y_test, seed, same_orders)
                for seed in range(options.seeds)
            ]
            reading = coding + (", the same orders for all classes" if same_orders else "")
            report(reading, [run["unit"] for run in runs])
            if coding == "rounded" and not same_orders:
                report(f"{reading}, members not of unit length", [run["raw"] for run in runs])


if __name__ == "__main__":
    main()
