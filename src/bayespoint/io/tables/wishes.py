"""What the user says about the columns: in options, or in a small file that `check` writes."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from .date_format import check_formats, is_format
from .kinds import USES, Finding
from .number_format import NumberFormat

KEEP = "keep"
DECIMAL_MARKS = (".", ",")
KEYS = {"target", "columns"}


@dataclass(frozen=True)
class Wishes:
    """What the user says about the columns.

    Attributes
    ----------
    uses : dict
        For each column "number", "category", "date", "text", "drop" or "keep". A decimal mark
        may follow "number", and a format "date": "date %d.%m.%Y".
    only : tuple of str
        If not empty, all other columns are left out.
    decimal : str or None
        The decimal mark of all columns.
    target : str or None
        The column with the classes, if a file names it.
    """

    uses: dict[str, str] = field(default_factory=dict)
    only: tuple[str, ...] = ()
    decimal: str | None = None
    target: str | None = None

    @property
    def named(self) -> list[str]:
        """Return all columns that the user named."""
        return list(dict.fromkeys([*self.uses, *self.only]))

    def __post_init__(self) -> None:
        """Refuse uses that do not exist."""
        if self.decimal not in (None, *DECIMAL_MARKS):
            raise ValueError(f"The decimal mark should be . or , but is {self.decimal!r}.")
        for name, use in self.uses.items():
            kind, _, more = str(use).partition(" ")
            fits = not more or (kind == "number" and more in DECIMAL_MARKS) or kind == "date"
            if kind not in (*USES, KEEP) or not fits:
                raise ValueError(
                    f"Column {name!r} should be used as {', '.join(USES)} or {KEEP} (for example "
                    f"'number ,' or 'date %d.%m.%Y'), but {use!r} was given."
                )
            check_formats([more] if kind == "date" else [])


def make_wishes(
    columns: Iterable[str] = (),
    drop: Iterable[str] = (),
    keep: Iterable[str] = (),
    categorical: Iterable[str] = (),
    numeric: Iterable[str] = (),
    date: Iterable[str] = (),
    text: Iterable[str] = (),
    decimal: str | None = None,
    plan: str | Path | None = None,
) -> Wishes:
    """Return wishes from lists of columns; they overrule the file `plan`."""
    before = Wishes() if plan is None else read_plan(plan)
    given: dict[str, list[str]] = {}
    uses = {"drop": drop, KEEP: keep, "category": categorical, "number": numeric, "text": text}
    for use, names in uses.items():
        for name in names:
            given.setdefault(name, []).append(use)
    for entry in date:
        name, equals, format = entry.rpartition("=")
        if equals and is_format(format):
            given.setdefault(name, []).append(f"date {format}")
        else:
            given.setdefault(entry, []).append("date")
    for name, wanted in given.items():
        if len(set(wanted)) > 1:
            raise ValueError(f"Column {name!r} cannot be both: {' and '.join(sorted(wanted))}.")
    only = tuple(columns)
    merged = before.uses | {name: wanted[0] for name, wanted in given.items()}
    return Wishes(merged, only or before.only, decimal or before.decimal, before.target)


def read_plan(path: str | Path) -> Wishes:
    """Return the wishes in a TOML file."""
    try:
        content = tomllib.loads(Path(path).read_text("utf-8"))
    except FileNotFoundError:
        raise FileNotFoundError(f"There is no file {str(path)!r}.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} should be TOML, as bayespoint check writes it: {error}") from None
    unknown = sorted(set(content) - KEYS)
    if unknown:
        raise ValueError(f"{path} should have only {sorted(KEYS)}, but has {unknown[0]!r}.")
    uses, target = content.get("columns", {}), content.get("target")
    if not isinstance(uses, dict) or not all(isinstance(use, str) for use in uses.values()):
        raise ValueError(f'{path}: each line of [columns] should be like name = "number".')
    if not isinstance(target, str | None):
        raise ValueError(f"{path}: target should be the name of a column.")
    return Wishes(uses, tuple(name for name, use in uses.items() if use != "drop"), None, target)


def plan_text(name: str, target: str | None, findings: Sequence[Finding]) -> str:
    """Return the content of a TOML file with what will be done with each column."""
    lines = [
        f"# What bayespoint does with the columns of {_one_line(name)}.",
        "# Change a line and train with: bayespoint train FILE --plan THIS_FILE --model MODEL",
        f"# A column is used as {', '.join(USES)}. Columns without a line are left out.",
        "",
    ]
    if target is not None:
        lines += [f"target = {_quoted(target)}", ""]
    lines.append("[columns]")
    entries = [(f"{_quoted(f.name)} = {_quoted(_use(f))}", _comment(f)) for f in findings]
    width = max((len(entry) for entry, _ in entries), default=0)
    lines += [f"{entry:{width}}  # {comment}".rstrip() for entry, comment in entries]
    return "\n".join(lines) + "\n"


def _use(finding: Finding) -> str:
    if finding.use_as == "date" and finding.format is not None:
        return f"date {finding.format.format}"
    if finding.use_as == "number" and isinstance(finding.format, NumberFormat):
        return "number" + " ," * (finding.format.decimal == ",")
    return finding.use_as


def _comment(finding: Finding) -> str:
    words = [finding.kind, finding.why or finding.detail]
    return _one_line(": ".join(word for word in words if word))


def _quoted(text: str) -> str:
    """Return a TOML string; a JSON string is one, apart from DEL."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _one_line(text: str) -> str:
    return "".join(c if c.isprintable() else " " for c in text)
