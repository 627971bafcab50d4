"""How much of a piece of work is done, for whoever shows it to the user."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager

# Gets the share of a step that is done, and the name of the step.
Listener = Callable[[float, str], None]

_listener: Listener | None = None


@contextmanager
def heard_by(listener: Listener) -> Iterator[None]:
    """Tell a listener about the shares that are done inside the block."""
    global _listener
    before, _listener = _listener, listener
    try:
        yield
    finally:
        _listener = before


@contextmanager
def between(begin: float, end: float) -> Iterator[None]:
    """Count the shares inside the block as a part of a longer step."""
    outer = _listener
    if outer is None:
        yield
        return
    with heard_by(lambda share, step: outer(begin + share * (end - begin), step)):
        yield


def share_of_way(error: float, first: float, last: float) -> float | None:
    """Return the share of the steps that are done, if each divides the error by the same factor.

    Examples
    --------
    >>> round(share_of_way(0.01, 1.0, 1e-4), 2)  # two of four digits
    0.5
    """
    if not (0 < last < first < math.inf and error < math.inf):
        return None
    whole = math.log(first) - math.log(last)
    return min(max((math.log(first) - math.log(max(error, last))) / whole, 0.0), 1.0)


def advance(share: float | None, step: str) -> None:
    """Say that a share of a step is done; nothing happens if nobody listens.

    Parameters
    ----------
    share : float or None
        Between 0 and 1; None if it is not known.
    step : str
        What is being done, as a verb in -ing: "reading", "choosing", "fitting".
    """
    if _listener is not None and share is not None:
        _listener(share, step)
