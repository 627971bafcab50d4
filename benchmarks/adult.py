"""The raw adult file: the command's classifier beside LogisticRegression on the same columns.

    python benchmarks/adult.py --data FOLDER

Both learn from the 80 % of the training file that `bayespoint train` trains on, prepared by the
same pipeline. Errors are measured on the test file.
"""

# ruff: noqa: T201

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

import bayespoint
from bayespoint.cli.train import Plan, read_source, split

TARGET = "column_15"


def command(*words: object) -> None:
    """Run the command."""
    subprocess.run([sys.executable, "-m", "bayespoint", *map(str, words)], check=True)


def main() -> None:
    """Print errors."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with large/adult_*")
    folder = parser.parse_args().data / "large"
    plan = Plan()
    train = read_source(str(folder / "adult_train.csv.gz"), TARGET, plan)
    test = read_source(str(folder / "adult_test.csv.gz"), TARGET, plan)
    X, _, y, _ = split(train.X, train.y, holdout=0.2, seed=plan.seed)
    X_test, y_test = test.X, pd.Series(test.y).str.rstrip(".").to_numpy()
    with tempfile.TemporaryDirectory() as name:
        for kind in ("kernel", "linear"):
            path = Path(name) / f"{kind}.bayespoint"
            data = folder / "adult_train.csv.gz"
            command("train", data, "--target", TARGET, "--model", path, "--classifier", kind)
            model = bayespoint.load(path)
            report(kind, model, X_test, y_test)
    prepare = model.estimator_.estimator[:-1]
    peer = LogisticRegression(max_iter=1000).fit(prepare.transform(X), y)
    report("LogisticRegression", peer, prepare.transform(X_test), y_test)


def report(name: str, model, X, y) -> None:
    """Print a line."""
    error = 100 * np.mean(model.predict(X) != y)
    print(f"{name:20} error {error:.2f} %, log loss {log_loss(y, model.predict_proba(X)):.4f}")


if __name__ == "__main__":
    main()
