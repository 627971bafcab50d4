"""Numbers and names as a reader expects them."""

from __future__ import annotations

import math

from ..intervals import Share

# Longer names and values are cut in the report.
MAX_TEXT_LENGTH = 60


def percent(value: float) -> str:
    """Format a share, with more digits near 0 and 1.

    Examples
    --------
    >>> percent(0.1464), percent(0.0004), percent(0), percent(1), percent(0.99996), percent(1e-9)
    ('14.6%', '0.04%', '0%', '100%', '99.996%', '<0.0001%')
    """
    if math.isnan(value):
        return "–"
    distance = min(value, 1 - value)  # from 0 or 1, whichever is nearer
    if distance <= 0:
        return f"{100 * value:.0f}%"
    if distance < 1e-6:
        return "<0.0001%" if value < 0.5 else ">99.9999%"
    digits = 1 if distance >= 0.001 else -2 - math.floor(math.log10(distance))
    return f"{100 * value:.{digits}f}%"


def level(value: float) -> str:
    """Format a confidence level, which is a round number."""
    return f"{100 * value:g}%"


def between(low: float, high: float) -> str:
    """Format an interval of shares."""
    return f"{percent(low).removesuffix('%')} to {percent(high)}"


def interval(share: Share) -> str:
    """Format the interval of a share."""
    return between(share.low, share.high)


def number(value: object) -> str:
    """Format a number with four significant digits, or with all if it is whole."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return text(value)
    if isinstance(value, int) or (abs(value) < 1e15 and value == round(value)):
        return f"{int(value):,}"
    return f"{value:.4g}"


def text(value: object) -> str:
    """Return the text of a value, cut if it is long."""
    words = str(value)
    return words if len(words) <= MAX_TEXT_LENGTH else words[: MAX_TEXT_LENGTH - 1] + "…"


def several(count: int, one: str, many: str | None = None) -> str:
    """Format a count with its noun.

    Examples
    --------
    >>> several(1, "row"), several(1200, "row"), several(2, "class", "classes")
    ('1 row', '1,200 rows', '2 classes')
    """
    return f"{count:,} {one if count == 1 else many or one + 's'}"
