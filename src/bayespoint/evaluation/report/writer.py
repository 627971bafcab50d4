"""Write a report on a classifier.

Examples
--------
>>> import tempfile
>>> from pathlib import Path
>>> from sklearn.datasets import load_iris
>>> from bayespoint import BayesPointClassifier, write_report
>>> X, y = load_iris(return_X_y=True, as_frame=True)
>>> model = BayesPointClassifier(random_state=0).fit(X[::2], y[::2])
>>> with tempfile.TemporaryDirectory() as folder:
...     path = Path(folder) / "iris.html"
...     evaluation = write_report(model, X[1::2], y[1::2], path, baselines=False)
...     path.stat().st_size < 1_000_000
True
"""

from __future__ import annotations

from collections.abc import Mapping

from ... import __version__
from ...bounds.pac_bayes import Certificate, pac_bayes_certificate
from ..baselines import Baseline, most_frequent, trained_baselines
from ..measure import evaluate
from ..model_parts import final_classifier, preparation_steps
from ..record import TrainingRecord
from ..results import Evaluation
from ..seen import SeenRows
from .columns import Table
from .diagnosis import diagnose
from .header import header
from .markup import Markup, join, tag
from .model_description import describe_model
from .page import assemble, write
from .section import Section
from .sections.about import about_section
from .sections.calibration import calibration_section
from .sections.confusion import confusion_section
from .sections.data import data_section
from .sections.error import error_section
from .sections.examples import examples_section
from .sections.guarantees import guarantees_section
from .sections.rejection import rejection_section, slider_points
from .sections.training import training_section


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
    record: TrainingRecord | None = None,
    seen: SeenRows | None = None,
    baselines: bool = True,
    n_examples: int = 10,
    confidence_level: float = 0.95,
) -> Evaluation:
    """Write a report on a classifier: one HTML file that works offline.

    Parameters
    ----------
    model : classifier
        Fitted, with `predict_proba`: a classifier, pipeline or reject option around them.
    X, y : array-like of shapes (n_rows, n_features) and (n_rows,)
        Rows that did not train it (also a DataFrame or sparse matrix), and classes.
    path : str or path-like
        Where to write. An old file is replaced when the new one is complete.
    title, target : str, default=None
        Heading of the page; name of the column that is predicted.
    train : tuple of X and y, default=None
        Training rows, for baselines that learn from the same rows and for a certificate.
    train_summary : mapping, default=None
        More facts about the training to show: names and values.
    record, seen : TrainingRecord, SeenRows, default=None
        What the model file remembers of its training, and what that says about the rows.
    baselines : bool, default=True
        Compare with logistic regression and a random forest, from `train` or `record`.
    n_examples : int, default=10
        Number of the hardest and of the least certain rows to show. 0 keeps single rows out
        of the report, but not minima, maxima and frequent values of columns.
    confidence_level : float, default=0.95
        Confidence level of all intervals.

    Returns
    -------
    Evaluation
    """
    evaluation = evaluate(model, X, y, confidence_level=confidence_level, seen=seen)
    cells, kept = Table(X), record if baselines else None
    compared = _compare(model, X, evaluation, train if baselines else None)
    sections = [
        error_section(evaluation, *compared, kept),
        *_quality_sections(evaluation, _certify(model, train, confidence_level)),
        examples_section(evaluation, cells, n_examples),
        data_section(cells, evaluation),
        training_section(diagnose(model)),
        about_section(model, evaluation, cells, target, train_summary),
    ]
    title = title or (f"How well is {target} predicted?" if target else "How good is this model?")
    write(path, _page(title, model, evaluation, compared[0][0], sections))
    return evaluation


def _quality_sections(evaluation: Evaluation, certificate) -> list[Section]:
    """Return the sections that need nothing but the evaluation."""
    return [
        rejection_section(evaluation),
        guarantees_section(evaluation, certificate),
        calibration_section(evaluation),
        confusion_section(evaluation),
    ]


def _page(title: str, model, evaluation: Evaluation, constant: Baseline, sections) -> str:
    """Put header, sections and footer together."""
    shown = [section for section in sections if section is not None]
    top = header(title, describe_model(model), evaluation, constant, shown)
    body = join(top, *map(_section, shown), _footer())
    return assemble(title, body, slider_points(evaluation))


def _compare(model, X, evaluation: Evaluation, train) -> tuple[list[Baseline], str | None]:
    """Return baselines, and the reason if some are missing."""
    constant = most_frequent(evaluation)
    if train is None:
        return [constant], None
    trained, reason = trained_baselines(model, X, evaluation, train)
    return [constant, *trained], reason


def _certify(model, train, confidence_level) -> Certificate | str | None:
    """Return a certificate from the training rows, or why there is none."""
    if train is None:
        return None
    if preparation_steps(model):
        return "the preparation of the columns used the same rows, which makes it invalid."
    try:
        return pac_bayes_certificate(final_classifier(model), *train, confidence=confidence_level)
    except (TypeError, ValueError, AttributeError) as error:
        return str(error)


def _section(section: Section) -> Markup:
    heading = tag("h2", section.heading, id=section.key)
    return tag("section", heading, section.content, aria_labelledby=section.key)


def _footer() -> Markup:
    return tag("footer", f"Written by bayespoint {__version__}. This file needs no network.")
