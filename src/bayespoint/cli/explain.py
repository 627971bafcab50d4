"""bayespoint explain: which columns matter, and how much."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.inspection import permutation_importance

from ..classifiers.linear import LinearBayesPointClassifier
from ..io.tables.read_options import ReadOptions
from .terminal import aligned, note, show, working
from .trained import Trained, open_model, read_labeled

# Rows that are enough to see what matters, and how often columns are shuffled.
MOST_ROWS = 2000
N_REPEATS = 5


class Importance(NamedTuple):
    """What is lost without a column."""

    column: str
    log_loss: float
    error: float
    std_error: float


class Weight(NamedTuple):
    """A weight of a linear classifier, with its posterior standard deviation."""

    feature: str
    mean: float
    std: float


def run_explain(
    model_path: Path,
    data: str | None,
    target: str | None,
    top: int,
    seed: int,
    options: ReadOptions,
    as_json: bool,
) -> None:
    """Show the weights of a linear classifier, and what shuffling a column costs."""
    trained = open_model(model_path)
    weights = _weights(trained)
    importances: list[Importance] = []
    if data is not None:
        with working(f"reading {data}") as say:
            X, y = read_labeled(trained, data, target, options)
            importances = _importances(trained, X, y, seed, say)
    elif not weights:
        raise ValueError(
            "A kernel machine has no weights to show. Give rows of which the classes are known, "
            "to see what happens without each column: bayespoint explain MODEL DATA"
        )
    result = {
        "weights": [weight._asdict() for weight in weights],
        "importances": [importance._asdict() for importance in importances],
    }
    show(result, as_json, *_lines(weights, importances, trained, top))


def _weights(trained: Trained) -> list[Weight]:
    """Return the weights of a linear classifier of two classes, the surest first."""
    classifier = trained.classifier
    if not isinstance(classifier, LinearBayesPointClassifier) or len(classifier.classes_) > 2:
        return []
    mean, std = np.ravel(classifier.coef_), np.sqrt(np.ravel(classifier.coef_variance_))
    if trained.columns is None:
        names = [f"feature {i + 1}" for i in range(len(mean))]
    else:
        names = [str(name) for name in trained.pipeline[:-1].get_feature_names_out()]
    order = np.argsort(-np.abs(mean / std))
    return [Weight(names[i], float(mean[i]), float(std[i])) for i in order]


def _importances(trained: Trained, X, y, seed: int, say) -> list[Importance]:
    """Return what is lost if a column is shuffled, the most important first."""
    if sparse.issparse(X):
        note("columns of LIBSVM have no names; they are not shuffled one by one")
        return []
    rng = np.random.default_rng(seed)
    if len(y) > MOST_ROWS:
        some = rng.choice(len(y), MOST_ROWS, replace=False)
        X, y = X.iloc[some].reset_index(drop=True), y[some]
    say(f"shuffling {X.shape[1]} columns of {len(y):,} rows")
    known = np.isin(y, trained.model.classes_)
    result: Any = permutation_importance(
        trained.pipeline,
        X[known],
        y[known],
        scoring=["neg_log_loss", "accuracy"],
        n_repeats=N_REPEATS,
        random_state=seed,
    )
    loss, right = result["neg_log_loss"], result["accuracy"]
    order = np.argsort(-loss.importances_mean)
    return [
        Importance(
            str(X.columns[i]),
            float(loss.importances_mean[i]),
            float(right.importances_mean[i]),
            float(loss.importances_std[i] / np.sqrt(N_REPEATS)),
        )
        for i in order
    ]


def _lines(weights, importances, trained: Trained, top: int) -> list[str]:
    lines = []
    if importances:
        rows = [("column", "log loss", "error")]
        rows += [
            (
                row.column,
                f"+{max(row.log_loss, 0):.4f} ± {row.std_error:.4f}",
                f"+{max(100 * row.error, 0):.2f} %",
            )
            for row in importances[:top]
        ]
        lines += ["What gets worse if a column is shuffled:", *aligned(rows)]
    if weights:
        positive = trained.model.classes_[1]
        rows = [("feature", "weight", "± deviation")]
        rows += [(w.feature, f"{w.mean:+.3f}", f"{w.std:.3f}") for w in weights[:top]]
        lines += [""] * bool(lines) + [
            f"Weights for {positive!s}, of features as they are after scaling, the surest first:",
            *aligned(rows),
        ]
    return lines
