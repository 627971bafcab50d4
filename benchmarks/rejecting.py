"""Share of rows accepted under a promise: our chain of tests against other rules.

    python benchmarks/rejecting.py [--draws 200]

Each row has a rank u, uniform in (0, 1), which sets its confidence and its probability of
an error. So the true error of the rows that a threshold accepts is known. Measured for
each number of calibration rows and each promised error: the mean share of accepted rows,
and how often the promise is broken (0.05 is allowed). MAPIE (if installed) controls the
precision of a classifier whose positives are the accepted rows.
"""
# ruff: noqa: T201

import argparse
import importlib.util

import numpy as np
from scipy.special import bdtr

from bayespoint.classifiers.reject.thresholds import certified_threshold

LEVEL = 0.95
N_ROWS, MAX_ERRORS = (200, 1000, 5000), (0.02, 0.05, 0.1)
# Ranks at which the true error is computed.
RANKS = np.linspace(0, 1, 100_001)


def shapes():
    """Return functions from rank to the probability of an error."""
    return {
        "smooth": lambda u: 0.5 * (1 - u) ** 2,
        "steep": lambda u: 0.45 * np.exp(-6 * u),
        "noisy top": lambda u: np.where(u > 0.97, 0.08, 0.4 * (1 - u) ** 1.5),
        "hard": lambda u: 0.03 + 0.45 * (1 - u),
    }


def passes(wrong_from_top, k, max_error, risk):
    """Tell whether the errors of the k most certain rows are few enough."""
    return bdtr(float(wrong_from_top[k - 1]), int(k), max_error) <= risk


def geometric_bonferroni(confidence, correct, max_error, level):
    """Test fixed ranks in steps of the square root of two, with equal shares of the risk."""
    order = np.argsort(-confidence)
    wrong = np.cumsum(~correct[order])
    # Fewer rows could not pass one of ten tests even without an error.
    fewest = np.log((1 - level) / 10) / np.log1p(-max_error)
    ranks = len(order) / np.sqrt(2) ** np.arange(40)
    ranks = np.unique(ranks[(ranks >= fewest) | (ranks == len(order))].astype(int))
    good = [k for k in ranks if passes(wrong, k, max_error, (1 - level) / len(ranks))]
    if not good:
        return np.inf
    # Errors are binomial among rows strictly above the next one.
    return np.nextafter(confidence[order][max(good)], 2) if max(good) < len(order) else -np.inf


def selection_guaranteed_risk(confidence, correct, max_error, level):
    """Search by bisection, as Geifman and El-Yaniv do."""
    order = np.argsort(-confidence)
    wrong, low, high = np.cumsum(~correct[order]), 1, len(order)
    risk, found = (1 - level) / np.ceil(np.log2(len(order))), np.inf
    while low <= high:
        middle = (low + high) // 2
        if passes(wrong, middle, max_error, risk):
            found, low = confidence[order][middle - 1], middle + 1
        else:
            high = middle - 1
    return found


def mapie(confidence, correct, max_error, level, method):
    """Use MAPIE's controller with a grid of a hundred thresholds."""
    from mapie.risk_control import BinaryClassificationController

    controller = BinaryClassificationController(
        lambda c: np.column_stack([1 - np.ravel(c), np.ravel(c)]),
        "precision",
        1 - max_error,
        confidence_level=level,
        list_predict_params=np.linspace(0.99, 0, 100),
        fwer_method=method,
    ).calibrate(confidence[:, None], correct.astype(int))
    valid = np.ravel(controller.valid_predict_params).astype(float)
    return valid.min() if valid.size else np.inf


def rules():
    """Return the rules to compare."""
    found = {
        "ours": certified_threshold,
        "Bonferroni": geometric_bonferroni,
        "SGR": selection_guaranteed_risk,
    }
    if importlib.util.find_spec("mapie"):
        for method in ("bonferroni_holm", "fixed_sequence"):
            found[f"MAPIE {method}"] = lambda *a, method=method: mapie(*a, method)
    return found


def compare(rule, wrong_by_rank, n, max_error, n_draws):
    """Return the mean share of accepted rows, and how often the promise is broken."""
    rng = np.random.default_rng(n)
    risk = np.cumsum(wrong_by_rank(RANKS)[::-1])[::-1] / np.arange(len(RANKS), 0, -1)
    coverage, broken = [], []
    for _ in range(n_draws):
        u = rng.random(n)
        correct = rng.random(n) >= wrong_by_rank(u)
        # Confidences from 0.5 to 1.
        threshold = 2 * rule(0.5 + u / 2, correct, max_error, LEVEL) - 1
        coverage.append(1 - np.clip(threshold, 0, 1))
        broken.append(threshold < 1 and np.interp(max(threshold, 0), RANKS, risk) > max_error)
    return np.mean(coverage), np.mean(broken)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=200)
    n_draws = parser.parse_args().draws
    print("| rule | " + " | ".join(f"n = {n}" for n in N_ROWS) + " | all | broken, worst |")
    print("|---|" + "---|" * (len(N_ROWS) + 2))
    for name, rule in rules().items():
        results = np.array(
            [
                [
                    [compare(rule, shape, n, e, n_draws) for e in MAX_ERRORS]
                    for shape in shapes().values()
                ]
                for n in N_ROWS
            ]
        )
        mean = results[..., 0].mean(axis=(1, 2))
        cells = [f"{value:.3f}" for value in (*mean, mean.mean(), results[..., 1].max())]
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
