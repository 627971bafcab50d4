"""Do perceptrons learn digits better if all points have unit length in feature space?

    python benchmarks/unit_length.py --data FOLDER

Algorithm 1 of 000, written as plainly as possible, on USPS and the first 10,000 training points
of MNIST: ten permutations per class, kernel (<x, x'> + 1)^5, gray values in [0, 1]. The same
permutations are used for unscaled points, as in the paper, and for points of unit length, as in
`BayesPointClassifier`. One minute, 3 GB.
"""

# ruff: noqa: T201

import argparse

import numpy as np
from numba import njit

from bayespoint.datasets import digits

N_MEMBERS, N_SEEDS = 10, 4
N_TRAIN = 10_000


@njit
def member(gram, signs, order):
    """Return the coefficients of a perceptron that gets all points right, of unit length."""
    outputs, coef = np.zeros(len(signs)), np.zeros(len(signs))
    mistakes = True
    while mistakes:
        mistakes = False
        for i in order:
            if signs[i] * outputs[i] <= 0:
                coef[i] += signs[i]
                outputs += signs[i] * gram[i]
                mistakes = True
    return coef / np.sqrt(coef @ outputs)


def kernel(X, Z):
    """Return all (<x, z> + 1)^5."""
    matrix = X @ Z.T
    matrix += 1
    matrix **= 5
    return matrix


def error(gram, cross, y, y_test, seed: int) -> float:
    """Return the test error in percent of the mean of perceptrons, one class against the rest."""
    rng, outputs = np.random.default_rng(seed), []
    for label in range(10):
        signs = np.where(y == label, 1.0, -1.0)
        orders = [rng.permutation(len(signs)) for _ in range(N_MEMBERS)]
        outputs.append(cross @ sum(member(gram, signs, order) for order in orders))
    return 100 * np.mean(np.argmax(outputs, axis=0) != y_test)


def main() -> None:
    """Print errors of both."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", required=True, help="folder with usps.npz and mnist/")
    folder = parser.parse_args().data
    for name in ("usps", "mnist"):
        data = digits.load_handwritten(name, folder)
        X, y, T = data.X_train[:N_TRAIN], data.y_train[:N_TRAIN], data.X_test
        gram, cross = kernel(X, X), kernel(T, X)
        lengths, test_lengths = (np.sqrt((np.sum(Z * Z, axis=1) + 1) ** 5) for Z in (X, T))
        for points in ("unscaled", "of unit length"):
            if points == "of unit length":
                gram /= lengths[:, None]
                gram /= lengths
                cross /= test_lengths[:, None]
                cross /= lengths
            errors = [error(gram, cross, y, data.y_test, seed) for seed in range(N_SEEDS)]
            spread = np.std(errors, ddof=1) / np.sqrt(N_SEEDS)
            print(f"{name:5} points {points:15} {np.mean(errors):.2f} ± {spread:.2f} % errors")


if __name__ == "__main__":
    main()
