"""Help in sections, as plain text: loading rich would take longer than everything else."""

from __future__ import annotations

import re
from typing import Any

from typer.core import TyperCommand

# What typer calls a value, and what a person would call it.
VALUES = {
    "<str>": "TEXT",
    "<list[str]>": "NAME",
    "<list[Path]>": "FILE",
    "<path>": "FILE",
    "<int range>": "N",
    "<float range>": "X",
}


class SectionedCommand(TyperCommand):
    """A verb whose options are listed in sections, named by their `rich_help_panel`."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments and options, section by section."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for param in self.get_params(ctx):
            is_argument = param.param_type_name == "argument"
            record = param.get_help_record(ctx)
            if record is not None:
                kind = "Arguments" if is_argument else "Options"
                title = getattr(param, "rich_help_panel", None) or kind
                name = record[0].split()[0].upper() if is_argument else plain(record[0])
                sections.setdefault(title, []).append((name, plain(record[1])))
        for title, records in sections.items():
            with formatter.section(title):
                formatter.write_dl(records)

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the words after the name of the verb, without arguments that help hides."""
        hidden = [param.name for param in self.get_params(ctx) if getattr(param, "hidden", False)]
        pieces = super().collect_usage_pieces(ctx)
        return [
            piece.strip("{}").upper() for piece in pieces if piece.strip("[]").lower() not in hidden
        ]


def plain(text: str) -> str:
    """Return a text of typer in the words of a person."""
    for value, name in VALUES.items():
        text = text.replace(value, name)
    text = re.sub(r"\[default: \(([^()]*)\)", r"[default: \1", text)
    text = re.sub(r"([\d.e-]+)<=x<=([\d.e-]+)\]", r"\1 to \2]", text)
    return re.sub(r"x>=([\d.e-]+)\]", r"at least \1]", text)
