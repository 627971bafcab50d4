"""Numbers as people write them."""

from __future__ import annotations

import math

from ..intervals import Share

# Longer texts of users are cut: a report is no place for whole documents.
LONGEST = 60


def percent(value: float) -> str:
    """Write a share, with more digits where it is small.

    Examples
    --------
    >>> percent(0.1464), percent(0.0004), percent(0), percent(1), percent(0.99996), percent(1e-9)
    ('14.6%', '0.04%', '0%', '100%', '99.996%', '<0.0001%')
    """
    if math.isnan(value):
        return "–"
    near = min(value, 1 - value)
    if near <= 0:
        return f"{100 * value:.0f}%"
    if near < 1e-6:
        return "<0.0001%" if value < 0.5 else ">99.9999%"
    digits = 1 if near >= 0.001 else -2 - math.floor(math.log10(near))
    return f"{100 * value:.{digits}f}%"


def level(value: float) -> str:
    """Write a level of confidence, which is a round number."""
    return f"{100 * value:g}%"


def between(low: float, high: float) -> str:
    """Write an interval of shares."""
    return f"{percent(low).removesuffix('%')} to {percent(high)}"


def interval(share: Share) -> str:
    """Write the interval of a share."""
    return between(share.low, share.high)


def number(value: object) -> str:
    """Write a number with as many digits as matter."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return text(value)
    if isinstance(value, int) or (value == round(value) and abs(value) < 1e15):
        return f"{int(value):,}"
    return f"{value:.4g}"


def text(value: object) -> str:
    """Write what a user called something, cut if it is long."""
    words = str(value)
    return words if len(words) <= LONGEST else words[: LONGEST - 1] + "…"


def several(count: int, one: str, many: str | None = None) -> str:
    """Write how many there are.

    Examples
    --------
    >>> several(1, "row"), several(1200, "row"), several(2, "class", "classes")
    ('1 row', '1,200 rows', '2 classes')
    """
    return f"{count:,} {one if count == 1 else many or one + 's'}"
