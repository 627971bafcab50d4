"""The section about drift: columns that differ, or that none does."""

from bayespoint.evaluation.drift import Drift
from bayespoint.evaluation.report.sections.drift import drift_section
from report_helpers import Page

SAME = Drift("size", 0.02, 1.0, 0.0, 0.0, [])


def test_columns_that_drifted():
    moved = Drift("age", 0.4, 1e-9, 0.0, 0.25, [])
    new = Drift("town", 0.01, 1.0, 0.0, 0.0, ["<Ulm>", *"abcdef"])
    words = Page(drift_section([moved, new, SAME]).content).text
    assert "1 column of 3 drifted, and 1 column have" not in words
    assert "1 column of 3 drifted; 1 has categories that training did not have" in words
    assert "age 40.0% ! drifted 0% → 25.0%" in words
    assert "“<Ulm>”, “a”, “b”, “c”, “d”, …" in words
    assert "size" not in words


def test_many_columns_are_cut():
    moved = [Drift(f"column {j:02}", 0.4, 1e-9, 0.0, 0.0, []) for j in range(12)]
    words = Page(drift_section(moved).content).text
    assert "The first 10 are shown" in words
    assert "column 10" not in words


def test_nothing_differs_or_nothing_is_known():
    assert "Yes: none of 1 column differs" in Page(drift_section([SAME]).content).text
    assert drift_section([]) is None
