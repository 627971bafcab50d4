"""The training section: findings with their verdicts."""

from bayespoint.evaluation.report.diagnosis import Finding
from bayespoint.evaluation.report.sections.training import training_section
from report_helpers import Page


def test_verdicts():
    findings = [
        Finding("good", "1", "all is well", True),
        Finding("bad", "2", "it is < 3", False),
        Finding("neutral", "3", "just a number"),
    ]
    section = training_section(findings)
    words = Page(section.content).text
    for line in ("good 1 all is well ✓ fine", "bad 2 it is < 3 ! look at this", "neutral 3 just"):
        assert line in words
    assert 'class="verdict look"' in section.content


def test_nothing_to_report():
    assert "reports nothing about its training" in training_section([]).content
