"""How the training went."""

from __future__ import annotations

from ..diagnosis import Finding
from ..markup import Markup, table, tag
from ..section import Section

# CSS class and text of a verdict.
VERDICTS = {True: ("fine", "✓ fine"), False: ("look", "! look at this"), None: ("", "")}


def training_section(findings: list[Finding]) -> Section:
    """Show what the solver reports."""
    return Section("training", "How the training went", _findings(findings))


def _findings(findings: list[Finding]) -> Markup:
    if not findings:
        return tag("p", "This kind of model reports nothing about its training.")
    rows = []
    for finding in findings:
        css_class, verdict = VERDICTS[finding.fine]
        rows.append(
            [
                finding.name,
                tag("td", finding.value, tag("small", finding.meaning), class_="words"),
                tag("td", verdict, class_=f"verdict {css_class}"),
            ]
        )
    return table(["", "value, and what it means", ""], rows, caption="What the solver reports")
