import os

import pytest

from bayespoint import write_report
from report_helpers import Page

MAX_BYTES = 1_000_000


@pytest.fixture
def write(tmp_path):
    """Return a function that writes a report and returns the evaluation and the page."""

    def call(model, X, y, **options):
        path = tmp_path / "report.html"
        evaluation = write_report(model, X, y, path, **({"baselines": False} | options))
        assert os.listdir(tmp_path) == ["report.html"]  # no other file is left
        assert path.stat().st_size < MAX_BYTES
        return evaluation, Page(path.read_text(encoding="utf-8"))

    return call
