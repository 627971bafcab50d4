"""bayespoint explain: show which columns matter, and how much."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy import sparse

from ..classifiers.linear import LinearBayesPointClassifier
from ..evaluation.importance import importances
from ..io.tables.columns import Columns
from ..io.tables.read_options import ReadOptions
from .terminal import aligned, cut_short, note, show, working
from .trained import Trained, open_model, read_to_judge

# Shuffle columns of this many rows: enough to see which columns matter, and fewer rows if there
# are many columns, because each column takes predictions for all these rows.
MIN_SHUFFLED_ROWS, MAX_SHUFFLED_ROWS = 200, 2000
MAX_SHUFFLED_CELLS = 20_000
# How scikit-learn begins the name of a feature that marks missing values.
MISSING_MARK = "missingindicator_"
# A kernel machine computes at most this many kernel values for one round of shuffles.
MAX_KERNEL_VALUES = 4e7


class Importance(NamedTuple):
    """How much worse the model gets if a column is shuffled."""

    column: str
    log_loss: float
    error: float
    std_error: float


class Weight(NamedTuple):
    """A weight of a linear classifier, with its posterior standard deviation."""

    label: str  # the class that it speaks for
    feature: str
    mean: float
    std: float


def run_explain(
    model_path: Path,
    data: str | None,
    target: str | None,
    top: int,
    seed: int,
    read_options: ReadOptions,
    include_seen: bool,
    as_json: bool,
) -> None:
    """Show the weights of a linear classifier, and what shuffling a column costs.

    Rows that trained the model are left out: there a column that it only remembers looks useful.
    """
    trained = open_model(model_path)
    weights = _weights(trained)
    shuffled: list[Importance] = []
    if data is not None:
        with working(f"reading {data}") as say:
            X, y, seen = read_to_judge(trained, data, target, read_options, include_seen)
            if seen is not None and seen.n_seen:
                note(seen.sentence())
            try:
                shuffled = _importances(trained, X, y, seed, say)
            except KeyboardInterrupt:
                if not weights:
                    raise
                cut_short("columns were not shuffled")
    relevance = _relevance(trained)
    if data is None and not weights and not relevance:
        raise ValueError(
            "A kernel machine has no weights to show. Give rows with known classes, to see how "
            "much each column matters: bayespoint explain MODEL DATA"
        )
    result = {
        "weights": [weight._asdict() for weight in weights],
        "relevance": dict(relevance),
        "importances": [importance._asdict() for importance in shuffled],
    }
    lines = _lines(weights, shuffled, top)
    if relevance:
        rows = [("feature", "scale"), *((name, f"{scale:.2f}") for name, scale in relevance[:top])]
        title = "Scales of the features in the kernel, mean one; larger matters more:"
        lines += [""] * bool(lines) + [title, *aligned(rows)]
    show(result, as_json, *lines)


def _relevance(trained: Trained) -> list[tuple[str, float]]:
    """Return the scales that a kernel machine learned for its features, the largest first."""
    scales = getattr(trained.classifier, "relevance_", None)
    if scales is None or np.all(scales == 1):
        return []
    names = _feature_names(trained, len(scales))
    return [(names[i], float(scales[i])) for i in np.argsort(-scales, kind="stable")]


def _feature_names(trained: Trained, n: int) -> list[str]:
    if trained.columns is None:
        return [f"feature {i + 1}" for i in range(n)]
    names = trained.pipeline[:-1].get_feature_names_out()
    return [readable(str(name), trained.columns) for name in names]


def readable(feature: str, columns: Columns) -> str:
    """Return the name of a feature without words that only scikit-learn knows."""
    bare = feature.removeprefix("categories__").removeprefix("numbers__")
    for name in columns.categories:
        if bare in (f"{name}_None", f"{name}_nan"):
            return f"{name} (missing)"
        if bare == f"{name}_infrequent_sklearn":
            return f"{name} (rare ones)"
    if bare.startswith(MISSING_MARK):
        return f"{bare.removeprefix(MISSING_MARK)} (missing)"
    return feature


def _weights(trained: Trained) -> list[Weight]:
    """Return the weights of a linear classifier class by class, the most certain first."""
    classifier = trained.classifier
    if not isinstance(classifier, LinearBayesPointClassifier):
        return []
    means, deviations = classifier.coef_, np.sqrt(classifier.coef_variance_)
    names = _feature_names(trained, means.shape[1])
    # Of two classes, the second one has weights.
    labels = classifier.classes_[-len(means) :]
    return [
        Weight(str(label), names[i], float(mean[i]), float(std[i]))
        for label, mean, std in zip(labels, means, deviations, strict=True)
        for i in np.argsort(-np.abs(mean / std), kind="stable")
    ]


def _importances(trained: Trained, X, y, seed: int, say) -> list[Importance]:
    """Return how much worse the model gets without each column, the largest loss first."""
    if sparse.issparse(X):
        note("the columns of a LIBSVM file have no names and are not shuffled")
        return []
    say(f"shuffling {X.shape[1]} columns")
    found = importances(
        trained.pipeline,
        X,
        y,
        max_rows=_n_rows(X.shape[1], len(getattr(trained.classifier, "support_", ()))),
        max_seconds=np.inf,
        random_state=seed,
    )
    if found is None:
        note(
            f"{len(y):,} {'row tells' if len(y) == 1 else 'rows tell'} nothing about columns. Give "
            "at least two rows of known classes that did not train the model."
        )
    return [
        Importance(str(X.columns[row.column]), row.log_loss, row.error, row.deviation)
        for row in found or ()
    ]


def _n_rows(n_columns: int, n_support: int) -> int:
    """Return how many rows to shuffle, for a machine that may have support vectors."""
    cells = min(MAX_SHUFFLED_CELLS, MAX_KERNEL_VALUES / max(n_support, 1))
    return max(MIN_SHUFFLED_ROWS, min(MAX_SHUFFLED_ROWS, int(cells / n_columns)))


def _lines(weights: list[Weight], shuffled: list[Importance], top: int) -> list[str]:
    lines = []
    if shuffled:
        rows = [("column", "log loss", "error")]
        rows += [
            (
                row.column,
                f"+{max(row.log_loss, 0):.4f} ± {row.std_error:.4f}",
                f"+{max(100 * row.error, 0):.2f} %",
            )
            for row in shuffled[:top]
        ]
        lines += ["How much worse the model gets if a column is shuffled:", *aligned(rows)]
    for label in dict.fromkeys(weight.label for weight in weights):
        some = [weight for weight in weights if weight.label == label][:top]
        rows = [("feature", "weight", "± deviation")]
        rows += [(w.feature, f"{w.mean:+.3f}", f"{w.std:.3f}") for w in some]
        lines += [""] * bool(lines) + [
            f"Weights for {label} (of the scaled features, the most certain first):",
            *aligned(rows),
        ]
    return lines
