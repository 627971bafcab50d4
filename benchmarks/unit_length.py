"""Do perceptrons learn digits better if all points have unit length in feature space?

    python benchmarks/unit_length.py --data FOLDER

Algorithm 1 of 000 as plainly as it can be written, on USPS: ten permutations a class, kernel
(<x, x'> + 1)^5, grey values in [0, 1]; the same permutations for the points as they are, as in
the paper, and for points of unit length, as in `BayesPointClassifier`. One minute.
"""

# ruff: noqa: T201

import argparse

import numpy as np
from numba import njit

from bayespoint import digits

N_MEMBERS, N_SEEDS = 10, 4


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


def error(gram, cross, data, seed: int) -> float:
    """Return the test error in percent of the mean of perceptrons, one class against the rest."""
    rng, outputs = np.random.default_rng(seed), []
    for label in range(10):
        signs = np.where(data.y_train == label, 1.0, -1.0)
        orders = [rng.permutation(len(signs)) for _ in range(N_MEMBERS)]
        outputs.append(cross @ sum(member(gram, signs, order) for order in orders))
    return 100 * np.mean(np.argmax(outputs, axis=0) != data.y_test)


def main() -> None:
    """Print errors of both."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", required=True, help="folder with usps.npz")
    data = digits.load_handwritten("usps", parser.parse_args().data)
    X, T = data.X_train.astype(float), data.X_test.astype(float)
    gram, cross = (X @ X.T + 1) ** 5, (T @ X.T + 1) ** 5
    length, test_length = (np.sqrt((np.sum(Z * Z, axis=1) + 1) ** 5) for Z in (X, T))
    unit = gram / np.outer(length, length), cross / np.outer(test_length, length)
    for name, matrices in {"as they are": (gram, cross), "of unit length": unit}.items():
        errors = [error(*matrices, data, seed) for seed in range(N_SEEDS)]
        spread = np.std(errors, ddof=1) / np.sqrt(N_SEEDS)
        print(f"points {name:15} {np.mean(errors):.2f} ± {spread:.2f} % errors", flush=True)


if __name__ == "__main__":
    main()
