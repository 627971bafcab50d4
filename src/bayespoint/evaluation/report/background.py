"""Sections on the model: how it was trained, and what it is."""

from __future__ import annotations

from collections.abc import Mapping

from .diagnosis import Finding
from .markup import table, tag
from .section import Section, right


def diagnosis(findings: list[Finding]) -> Section:
    """Show what the solver says."""
    if not findings:
        content = tag("p", "This kind of model reports nothing about its training.")
        return Section("training", "How the training went", content)
    verdicts = {True: ("fine", "✓ fine"), False: ("look", "! look at this"), None: ("", "")}
    rows = [
        [
            finding.name,
            right(finding.value),
            tag("td", verdicts[finding.fine][1], class_=f"verdict {verdicts[finding.fine][0]}"),
            tag("td", finding.meaning, class_="words"),
        ]
        for finding in findings
    ]
    content = table(["", "value", "", "what it means"], rows, caption="What the solver reports")
    return Section("training", "How the training went", content)


def _fact(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def facts(rows: Mapping[str, object]) -> Section:
    """Say what the report is about."""
    body = [[name, tag("td", _fact(value), class_="words")] for name, value in rows.items()]
    return Section("about", "What this is", table(["", ""], body, caption="Model and data"))
