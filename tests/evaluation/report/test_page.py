"""The page as a file: safe data, hashes of the policy, and atomic writing."""

import json
import os
import re

import pytest
from sklearn.linear_model import LogisticRegression

from bayespoint import write_report
from bayespoint.evaluation.report.markup import join
from bayespoint.evaluation.report.page import assemble, write
from report_helpers import Page


def test_data_cannot_end_the_script():
    source = assemble("t", join("b"), [["</script><b>"]])
    assert "b" not in Page(source).tags
    inside = re.search(r'id="rejection-data">(.*?)</script>', source)[1]
    assert json.loads(inside) == [["</script><b>"]]


def test_a_failure_leaves_the_old_file_alone(iris, tmp_path, monkeypatch):
    X, y, X_test, y_test = iris
    model = LogisticRegression(max_iter=1000).fit(X, y)
    path = tmp_path / "report.html"
    path.write_text("old")

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        write_report(model, X_test, y_test, path, baselines=False)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["report.html"]


def test_half_of_a_surrogate_pair_becomes_a_question_mark(tmp_path):
    write(tmp_path / "page.html", "\ud800 half")
    assert (tmp_path / "page.html").read_text("utf-8") == "? half"
