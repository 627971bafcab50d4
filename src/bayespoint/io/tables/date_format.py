"""How a column writes dates and times, and the numbers that a model learns from them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

import numpy as np

# A column holds dates if this share of its values is dates; the others become missing.
MIN_DATE_SHARE = 0.9
ISO = "ISO8601"
_ISO_TEXT = re.compile(
    r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?: ?(?:Z|UTC|[+-]\d\d(?::?\d\d)?))?)?"
)
_DAYS = (
    *("%d.%m.%Y", "%d.%m.%y", "%d/%m/%Y", "%m/%d/%Y", "%d/%m/%y", "%m/%d/%y", "%d-%m-%Y"),
    *("%m-%d-%Y", "%Y/%m/%d", "%Y.%m.%d", "%d-%b-%Y", "%d-%b-%y", "%d %b %Y", "%d %B %Y"),
    *("%b %d, %Y", "%B %d, %Y", "%b %d %Y", "%d. %B %Y", "%a %b %d %Y", "%a, %d %b %Y"),
)
_TIMES = ("", " %H:%M", " %H:%M:%S", " %H:%M:%S.%f", " %I:%M %p", " %I:%M:%S %p", ", %H:%M:%S")
TIME_FORMATS = ("%H:%M:%S", "%H:%M", "%I:%M %p", "%I:%M:%S %p")
FORMATS = (*(day + time for time in _TIMES for day in _DAYS), "%Y-%m", "%m/%Y", *TIME_FORMATS)
# Eight digits are a date only if the name of the column says so.
COMPACT = "%Y%m%d"
_DATE_NAME = re.compile(r"date|datum|fecha|day|time|(?:^|_)dt(?:$|_)", re.IGNORECASE)
# All parts, in the order of the features.
PARTS = ("days", "year", "month", "weekday", "hour")


@dataclass(frozen=True)
class DateFormat:
    """How dates are written, and which of their parts a model uses.

    Attributes
    ----------
    format : str
        A format of `strptime`, or "ISO8601".
    origin : str
        The first day in training, from which days are counted.
    parts : list of str
        The parts that vary: "days" since the origin, "year", "month", "weekday", "hour".
    """

    format: str
    origin: str = ""
    parts: list[str] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """Return the attributes as a dict that JSON can hold."""
        return asdict(self)

    def names(self, column: str) -> list[str]:
        """Return the names of the features that a column becomes."""
        return [f"{column} ({part})" for part in self.parts]


def recognize_dates(
    counts: dict[str, int], name: str, *, day_first: bool
) -> tuple[str, bool] | None:
    """Find the format of dates, or return None if the column holds something else.

    Parameters
    ----------
    counts : dict
        Different texts and how often each occurs.
    name : str
        Name of the column.
    day_first : bool
        What to choose if both 3/4/2025 could be in March and in April.

    Returns
    -------
    format : str
        A format of `strptime`, or "ISO8601".
    is_ambiguous : bool
        Whether day and month could be exchanged.
    """
    total = sum(counts.values())
    texts = sorted(counts, key=lambda text: -counts[text])
    if not texts or not any(re.search(r"\d\D+\d|^\d{8}$", text) for text in texts[:5]):
        return None

    def share(fits) -> float:
        return sum(counts[text] for text in texts if fits(text)) / total

    if share(lambda text: _ISO_TEXT.fullmatch(text) and _is_iso(text)) >= MIN_DATE_SHARE:
        return ISO, False
    candidates = (*FORMATS, *([COMPACT] if _DATE_NAME.search(name) else []))
    some = texts[:20]
    hopeful = [f for f in candidates if sum(_fits(t, f) for t in some) >= 0.5 * len(some)]
    fitting = {f: s for f in hopeful if (s := share(lambda t, f=f: _fits(t, f))) >= MIN_DATE_SHARE}
    if not fitting:
        return None
    best = max(fitting.values())
    chosen = [f for f, s in fitting.items() if s == best]
    first_day = [f for f in chosen if f.startswith("%d")]
    first_month = [f for f in chosen if f.startswith("%m") and f not in ("%m/%Y",)]
    if first_day and first_month:
        return (first_day if day_first else first_month)[0], True
    return chosen[0], False


def _fits(text: str, format: str) -> bool:
    if format == COMPACT and not re.fullmatch(r"(?:19|20)\d{6}", text):
        return False
    try:
        datetime.strptime(text, format)
    except ValueError:
        return False
    return True


def _is_iso(text: str) -> bool:
    try:
        datetime.fromisoformat(text[:10])
    except ValueError:
        return False
    return True


def parse_dates(texts, format: str) -> tuple[Any, np.ndarray]:
    """Return an Arrow column of texts as timestamps, and which values are not dates."""
    import pandas as pd

    values = pd.Series(texts.to_numpy(zero_copy_only=False), dtype=object)
    # Most dates occur more than once, and each is read once.
    codes, different = pd.factorize(values)
    times = pd.to_datetime(pd.Series(different), format=format, errors="coerce", utc=True)
    parsed = times.reindex(codes).reset_index(drop=True)
    return parsed, (parsed.isna() & values.notna()).to_numpy()


def find_parts(times: Any, format: str) -> DateFormat:
    """Return the origin and the parts of dates that vary."""
    known = times.dropna()
    if format in TIME_FORMATS:
        return DateFormat(format, "", ["hour"])
    origin = known.min().normalize()
    values = date_parts(known, DateFormat(format, origin.isoformat(), list(PARTS)))
    parts = [part for part in PARTS if len(np.unique(values[part])) > 1]
    return DateFormat(format, origin.isoformat(), parts)


def date_parts(times: Any, format: DateFormat) -> dict[str, np.ndarray]:
    """Return the parts of dates as numbers, NaN where a date is missing."""
    import pandas as pd

    when = times.dt
    found = {}
    for part in format.parts:
        if part == "days":
            values = (times - pd.to_datetime(format.origin, utc=True)) / pd.Timedelta(days=1)
        elif part == "hour":
            values = when.hour + when.minute / 60
        else:
            values = getattr(when, "day_of_week" if part == "weekday" else part)
        found[part] = values.to_numpy(dtype=float, na_value=np.nan)
    return found


def describe_format(format: str) -> str:
    """Return a format as people write it: dd.mm.yyyy."""
    if format == ISO:
        return "yyyy-mm-dd"
    words = {"%d": "dd", "%m": "mm", "%Y": "yyyy", "%y": "yy", "%b": "Mon", "%B": "Month"}
    words |= {"%H": "hh", "%I": "hh", "%M": "mm", "%S": "ss", "%f": "f", "%p": "am/pm", "%a": "Day"}
    return re.sub(r"%\w", lambda match: words.get(match[0], match[0]), format)


def is_format(text: str) -> bool:
    """Tell whether a text given by the user is a format of dates."""
    return text == ISO or bool(re.search(r"%[a-zA-Z]", text))


def check_formats(formats: Sequence[str]) -> None:
    """Refuse formats that `strptime` does not know."""
    for format in formats:
        if format and not is_format(format):
            raise ValueError(
                f"The format of a date should be like %d.%m.%Y or {ISO}, but is {format!r}."
            )
