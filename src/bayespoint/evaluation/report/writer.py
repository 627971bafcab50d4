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

from collections.abc import Mapping, Sequence
from typing import Any

from ... import __version__
from ...classifiers.reject.certificate import Certificate
from ..measure import evaluate
from ..record import TrainingRecord
from ..results import Evaluation
from ..seen import SeenRows
from .alerts import find_alerts
from .facts import Facts, Training, gather, rows_to_judge
from .header import header, tiles
from .markup import Markup, join, tag
from .model_description import describe_model
from .page import assemble, write
from .section import Section
from .sections.about import about_section
from .sections.calibration import calibration_section
from .sections.confusion import confusion_section
from .sections.data import data_section
from .sections.drift import drift_section
from .sections.error import error_section
from .sections.examples import examples_section
from .sections.guarantees import guarantees_section
from .sections.importance import importance_section
from .sections.novelty import novelty_section
from .sections.ranking import ranking_section
from .sections.rejection import rejection_section, slider_points
from .sections.segments import segments_section
from .sections.training import training_section
from .segments import find_segments
from .summary import summarize


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
    reference: Mapping[str, Any] | None = None,
    suspects: Sequence[str] = (),
    watched: Certificate | None = None,
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
        Training rows, for baselines that learn from the same rows, a certificate, and drift.
        Rows of X that are among them are left out.
    train_summary : mapping, default=None
        More facts about the training to show: names and values.
    record, seen, watched : TrainingRecord, SeenRows, Certificate, default=None
        What the model file remembers of its training, what that says about the rows, and what
        is known about the promise since deployment.
    reference, suspects : mapping, sequence of str, default=None, ()
        Summary of the training columns (`evaluation.drift.summarize`), if `train` is not given;
        columns that alone predict so well that they may follow from the answer.
    baselines : bool, default=True
        Compare with logistic regression and a random forest, from `train` or `record`.
    n_examples : int, default=10
        Number of the hardest and of the least certain rows to show. 0 keeps single rows out
        of the report, but not minima, maxima and frequent values of columns.
    confidence_level : float, default=0.95
        Of all intervals.

    Returns
    -------
    Evaluation
    """
    judged, y, seen = rows_to_judge(X, y, train, seen)
    evaluation = evaluate(model, judged, y, confidence_level=confidence_level, seen=seen)
    known = Training(train, record, reference, suspects, watched)
    facts = gather(model, judged, evaluation, known, compare=baselines)
    write(path, _page(title, target, facts, _sections(facts, n_examples, target, train_summary)))
    return evaluation


def _sections(
    facts: Facts, n_examples: int, target: str | None, train_summary: Mapping[str, object] | None
) -> list[Section]:
    """Return all sections that have something to say."""
    evaluation, cells = facts.evaluation, facts.cells
    sections = [
        error_section(evaluation, facts.baselines, facts.reason, facts.record),
        ranking_section(evaluation),
        rejection_section(evaluation),
        guarantees_section(evaluation, facts.certificate, facts.watched),
        calibration_section(evaluation),
        confusion_section(evaluation),
        importance_section(cells, facts.importances),
        segments_section(cells, find_segments(cells, evaluation)),
        drift_section(facts.drifts),
        novelty_section(facts.model, cells.X, evaluation, cells, n_examples, facts.order),
        examples_section(evaluation, cells, n_examples, facts.order),
        data_section(cells, evaluation, facts.order),
        training_section(facts.findings),
        about_section(facts.model, evaluation, cells, target, train_summary),
    ]
    return [section for section in sections if section is not None]


def _page(title: str | None, target: str | None, facts: Facts, sections: list[Section]) -> str:
    """Put header, sections and footer together."""
    title = title or (f"How well is {target} predicted?" if target else "How good is this model?")
    evaluation, alerts = facts.evaluation, find_alerts(facts)
    held_out = [] if facts.record is None else facts.record.baselines
    sentences = summarize(
        evaluation, target, facts.cells.n_columns, facts.baselines, held_out, alerts
    )
    top = header(
        title,
        describe_model(facts.model),
        sentences,
        alerts[1:],  # the first one is in the sentences
        tiles(evaluation, facts.baselines[0]),
        sections,
    )
    body = join(top, *map(_section, sections), _footer())
    return assemble(title, body, slider_points(evaluation))


def _section(section: Section) -> Markup:
    heading = tag("h2", section.heading, id=section.key)
    return tag("section", heading, section.content, aria_labelledby=section.key)


def _footer() -> Markup:
    return tag("footer", f"Written by bayespoint {__version__}. This file needs no network.")
