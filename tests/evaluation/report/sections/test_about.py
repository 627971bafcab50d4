"""The last section: facts about the model, the rows and the versions."""

import numpy as np
import sklearn
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bayespoint import __version__
from bayespoint.evaluation.measure import evaluate
from bayespoint.evaluation.report.columns import Table
from bayespoint.evaluation.report.sections.about import about_section
from report_helpers import Page


def test_facts(rng):
    X, y = rng.normal(size=(60, 3)), np.arange(60) % 12
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    evaluation = evaluate(model, X, y)
    section = about_section(model, evaluation, Table(X), "month", {"rows": 12345, "fast": True})
    words = Page(section.content).text
    for fact in (
        "model a LogisticRegression",
        "columns are prepared by StandardScaler",
        "predicts month",
        "classes 12: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, …",
        "columns 3",
        f"bayespoint {__version__}, scikit-learn {sklearn.__version__}",
        "rows 12,345",
        "fast True",
    ):
        assert fact in words
    assert "predicts" not in about_section(model, evaluation, Table(X), None, None).content
