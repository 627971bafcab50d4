"""How much a category and a mark of a missing value should weigh: error and log loss.

    python benchmarks/columns.py --data FOLDER

FOLDER holds `large/adult_train.csv.gz` and `uci121/*.npz`. The latter have no text: there, a
column with 3 to 12 different numbers counts as categories. For marks, numbers are removed.
"""

# ruff: noqa: T201

import argparse
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.metrics import log_loss

from bayespoint import BayesPointClassifier

MAX_TRAINING_ROWS = 300
MAX_ROWS = 3000
CATEGORY_NUMBERS = range(3, 13)
WITH_CATEGORIES = (
    "annealing credit-approval flags hayes-roth heart-cleveland heart-va lymphography "
    "molec-biol-splice monks-1 monks-3 pittsburg-bridges-T-OR-D primary-tumor statlog-heart"
)
WITH_NUMBERS = (
    "breast-cancer-wisc-diag breast-tissue cardiotocography-10clases image-segmentation "
    "oocytes_merluccius_states_2f seeds statlog-landsat wine-quality-red"
)
WEIGHTS = {
    "0": 0.0,
    "0.5": 0.5,
    "0.71": 0.5**0.5,
    "1": 1.0,
    "1.41": 2**0.5,
    "variance": None,
}


def adult(folder: Path):
    """Return the raw table and its classes."""
    options = {"header": None, "skipinitialspace": True, "na_values": "?"}
    table = pd.read_csv(folder / "large" / "adult_train.csv.gz", **options)
    table.columns = [f"column_{i}" for i in table.columns]
    return table.iloc[:, :-1], table.iloc[:, -1].to_numpy(str)


def study(folder: Path, name: str, categories: bool):
    """Return a table of numbers, with text for columns of few numbers, and its classes."""
    with np.load(folder / "uci121" / f"{name}.npz") as file:
        X, y = file["X"], file["y"]
    table = pd.DataFrame(X, columns=[f"column_{i}" for i in range(X.shape[1])])
    few = [c for c in table if table[c].nunique() in CATEGORY_NUMBERS] if categories else []
    return table.assign(**{c: table[c].astype(str) for c in few}), y


def remove(table: pd.DataFrame, how: str, rng) -> pd.DataFrame:
    """Return the table without a fifth of its numbers: any, or the largest of each column."""
    gone = rng.random(table.shape) < 0.2 if how == "any" else table > table.quantile(0.8)
    return table.mask(gone)


def weighted(columns, points, training, weight):
    """Return points whose categories and marks have another weight."""
    is_number = np.append(True, columns.groups[1:] != columns.groups[:-1])
    is_number &= columns.is_number[columns.groups]
    factor = np.ones(len(is_number)) if weight is None else np.where(is_number, 1.0, weight)
    for j in np.flatnonzero(~columns.is_number | columns.missing) if weight is None else []:
        block = (columns.groups == j) & ~is_number
        share = (training[:, block] != 0).mean(axis=0)
        # Variance 1: half the mean squared distance of two rows, as in a column of numbers.
        factor[block] = 1 / np.sqrt(max(np.sum(share * (1 - share)), 1e-9))
    return np.where(is_number, points, points != 0) * factor


def measure(table, y, kernel: str, seed: int) -> list:
    """Return error and log loss for each weight."""
    rows = np.random.default_rng(seed).permutation(len(table))[:MAX_ROWS]
    n = min(MAX_TRAINING_ROWS, int(0.7 * len(rows)))
    train, test = rows[:n], rows[n:]
    test = test[np.isin(y[test], y[train])]
    reader = BayesPointClassifier("linear", softness=1.0, standardize=True)
    columns = reader.fit(table.iloc[train], y[train]).columns_
    X, X_test = (reader._read_points(table.iloc[part]) for part in (train, test))
    results = []
    for weight in WEIGHTS.values():
        model = BayesPointClassifier(kernel, standardize=False, random_state=0)
        model.fit(weighted(columns, X, X, weight), y[train])
        probabilities = model.predict_proba(weighted(columns, X_test, X, weight))
        wrong = model.classes_[probabilities.argmax(axis=1)] != y[test]
        loss = log_loss(y[test], probabilities, labels=model.classes_)
        results.append((100 * np.mean(wrong), loss))
    return results


def main() -> None:
    """Print mean errors for categories and for marks; a weight of 0 leaves them out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--splits", type=int, default=3)
    options = parser.parse_args()
    folder = options.data
    warnings.simplefilter("ignore")  # some splits have classes of a single row
    with_text = [adult(folder), *(study(folder, n, True) for n in WITH_CATEGORIES.split())]
    numbers = [study(folder, n, False) for n in WITH_NUMBERS.split()]
    rng = np.random.default_rng(0)
    kinds = {"categories": with_text}
    for how in ("any", "largest"):
        kinds[f"marks, {how} missing"] = [(remove(t, how, rng), y) for t, y in numbers]
    for kind, tables in kinds.items():
        for kernel in ("auto", "rbf", "laplacian"):
            seeds = range(options.splits)
            found = np.array([[measure(*table, kernel, k) for k in seeds] for table in tables])
            means = found.mean(axis=1)  # of each table and weight
            off = means - means[:, [list(WEIGHTS).index("1")]]
            deviation = off.std(axis=0, ddof=1) / len(tables) ** 0.5
            print(f"{kind}, {kernel}; differences to weight 1, with standard errors over tables")
            for k, weight in enumerate(WEIGHTS):
                (error, loss), (d_error, d_loss), (s_error, s_loss) = (
                    a[k] for a in (means.mean(axis=0), off.mean(axis=0), deviation)
                )
                print(
                    f"  {weight:8} error {error:.2f} % ({d_error:+.2f} ± {s_error:.2f}), log loss "
                    f"{loss:.4f} ({d_loss:+.4f} ± {s_loss:.4f})",
                    flush=True,
                )


if __name__ == "__main__":
    main()
