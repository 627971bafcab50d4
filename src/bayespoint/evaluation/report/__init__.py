"""One HTML file that says how good a classifier is, to read offline and to send around."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from datetime import datetime

import numpy as np
import scipy
import sklearn

from ... import __version__
from ...bounds.pac_bayes import Certificate, pac_bayes_certificate
from ..baselines import Baseline, most_frequent, trained_baselines
from ..measure import evaluate
from ..model_parts import final_classifier, preparation_steps
from ..results import Evaluation
from . import background, quality, refusal, rows
from .columns import Table
from .diagnosis import describe_model, diagnose
from .markup import Markup, join, tag
from .page import assemble, write
from .section import Section
from .words import interval, level, percent, several, text

__all__ = ["write_report"]


def write_report(
    model,
    X,
    y,
    path,
    *,
    title: str | None = None,
    target: str | None = None,
    train=None,
    train_summary: Mapping[str, object] | None = None,
    baselines: bool = True,
    n_examples: int = 10,
    confidence_level: float = 0.95,
) -> Evaluation:
    """Write a report on a classifier: one HTML file that works offline.

    Parameters
    ----------
    model : classifier
        Fitted, with `predict_proba`: a classifier, a `Pipeline`, or a reject option around it.
    X : DataFrame, array-like or sparse matrix of shape (n_rows, n_features)
        Rows that were not used to train it.
    y : array-like of shape (n_rows,)
        Their classes.
    path : str or path-like
        Where to write it. A file that is there is replaced when the new one is complete.
    title : str, default=None
        Heading of the page.
    target : str, default=None
        What the classes are called: the name of the column that is predicted.
    train : tuple of X and y, default=None
        The training rows. With them, baselines learn from the same rows as the model, and
        a PAC-Bayes certificate is computed where it is valid.
    train_summary : mapping, default=None
        What else is known about the training, to be shown: names and values.
    baselines : bool, default=True
        Compare with logistic regression and a random forest. They have to be trained, which
        takes seconds.
    n_examples : int, default=10
        Rows to show of the hardest and of the least certain ones. 0 keeps all single rows out
        of the report; minima, maxima and frequent values of columns are still in it.
    confidence_level : float, default=0.95
        Of all intervals.

    Returns
    -------
    Evaluation
        The figures in the report.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sklearn.datasets import load_iris
    >>> from bayespoint import BayesPointClassifier
    >>> from bayespoint import write_report
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = BayesPointClassifier(random_state=0).fit(X[::2], y[::2])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "iris.html"
    ...     figures = write_report(model, X[1::2], y[1::2], path, baselines=False)
    ...     path.stat().st_size < 1_000_000
    True
    """
    figures = evaluate(model, X, y, confidence_level=confidence_level)
    cells = Table(X)
    others, reason = _compare(model, X, figures, train, baselines)
    about = _about(model, figures, cells, target) | dict(train_summary or {})
    rejection, points = refusal.rejection(figures)
    content = [
        quality.error(figures, others, reason),
        rejection,
        refusal.guarantees(figures, _certificate(model, train, confidence_level)),
        quality.calibration(figures),
        quality.confusion(figures),
        rows.examples(figures, cells, n_examples),
        rows.data(cells, figures),
        background.diagnosis(diagnose(model)),
        background.facts(about),
    ]
    title = title or (f"How well is {target} predicted?" if target else "How good is this model?")
    shown = [section for section in content if section is not None]
    body = join(_header(title, model, figures, others, shown), *map(_section, shown), _footer())
    write(path, assemble(title, body, points))
    return figures


def _compare(model, X, figures, train, wanted: bool) -> tuple[list[Baseline], str | None]:
    """Return baselines, and why there are no more."""
    others = [most_frequent(figures)]
    if not wanted:
        return others, None
    try:
        found = trained_baselines(model, X, figures, train)
    except (TypeError, ValueError) as error:
        return others, f"Other classifiers could not be trained on these rows: {text(error)}"
    if not found:
        return others, "Some class has too few rows to train other classifiers for comparison."
    return others + found, None


def _certificate(model, train, confidence_level) -> Certificate | str | None:
    """Return a certificate from the training rows, or why there is none."""
    if train is None:
        return None
    if preparation_steps(model):
        return "preparing the columns has looked at the same rows, which makes it invalid."
    try:
        return pac_bayes_certificate(final_classifier(model), *train, confidence=confidence_level)
    except (TypeError, ValueError, AttributeError) as error:
        return str(error)


def _about(model, figures: Evaluation, cells: Table, target: str | None) -> dict[str, object]:
    names = ", ".join(text(label) for label in figures.classes[:10])
    steps = " → ".join(type(step).__name__ for step in preparation_steps(model))
    about = {
        "model": describe_model(model),
        "columns are prepared by": steps or None,
        "predicts": target,
        "classes": f"{len(figures.classes)}: {names}"
        + (", …" if len(figures.classes) > 10 else ""),
        "rows of this report": f"{figures.n_rows:,}; they must not have been used in training",
        "columns": f"{cells.n_columns:,}",
        "written": datetime.now().astimezone().strftime("%Y-%m-%d %H:%M %Z"),
        "versions": f"bayespoint {__version__}, scikit-learn {sklearn.__version__}, NumPy "
        f"{np.__version__}, SciPy {scipy.__version__}, Python {platform.python_version()}",
    }
    return {name: value for name, value in about.items() if value is not None}


def _header(title: str, model, figures: Evaluation, others: list[Baseline], shown) -> Markup:
    constant, kept = others[0], figures.promise
    summary = (
        f"On {several(figures.n_rows, 'row')} that it had not seen, the model is wrong on "
        f"{percent(figures.error.value)} of them (the {level(figures.confidence_level)} interval "
        f"is {interval(figures.error)}). "
        + constant.name.replace("always", "Always answering", 1)
        + f" would be wrong on {percent(constant.error.value)}."
    )
    model_words = describe_model(model)
    tiles = [
        _tile("error", percent(figures.error.value), interval(figures.error)),
        _tile("without a model", percent(constant.error.value), constant.name),
        _tile("log loss", f"{figures.log_loss:.3f}", f"without a model {constant.log_loss:.3f}"),
        _tile("rows", f"{figures.n_rows:,}", several(len(figures.classes), "class", "classes")),
    ]
    if kept is not None:
        answered = percent(kept.error.total / figures.n_rows)
        tiles[1:1] = [
            _tile("with rejection", percent(kept.error.value), f"of the {answered} it answers")
        ]
    links = (tag("li", tag("a", part.heading, href=f"#{part.key}")) for part in shown)
    return tag(
        "header",
        tag("h1", title),
        tag("p", model_words[0].upper() + model_words[1:], class_="soft"),
        tag("p", summary, class_="lead"),
        tag("dl", *tiles, class_="tiles"),
        tag("nav", tag("ul", *links), aria_label="Contents"),
    )


def _tile(name: str, value: str, more: str) -> Markup:
    return tag("div", tag("dt", name), tag("dd", value), tag("dd", text(more)))


def _section(section: Section) -> Markup:
    heading = tag("h2", section.heading, id=section.key)
    return tag("section", heading, section.content, aria_labelledby=section.key)


def _footer() -> Markup:
    return tag("footer", f"Written by bayespoint {__version__}. This file needs no network.")
