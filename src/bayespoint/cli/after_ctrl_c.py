"""After Ctrl-C: stop, and keep what is finished."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from typing import Any

from .._runtime.interrupt import n_presses
from .terminal import cut_short

# If the test is cut short, the model is tested with this many rows, which takes no time.
QUICK_TEST_ROWS = 200


def until_interrupted(parts: Iterable[Any]) -> Iterator[Any]:
    """Yield parts until Ctrl-C is pressed, while a part is read or while it is learned."""
    before, any_read = n_presses(), False
    try:
        for part in parts:
            any_read = True
            yield part
            if n_presses() > before:
                break
        else:
            return
    except KeyboardInterrupt:
        if not any_read:
            raise
    cut_short("the rest of the rows is not learned")


def tested_anyway(judge: Callable) -> Callable:
    """Make a test that Ctrl-C cuts short go on with a few rows, so that the model is not lost."""

    @wraps(judge)
    def run(pipeline, held_out, *args, **kwargs):
        try:
            return judge(pipeline, held_out, *args, **kwargs)
        except KeyboardInterrupt:
            n_rows = len(held_out)
            held_out.thin(QUICK_TEST_ROWS)
            cut_short(f"the model is tested with {len(held_out):,} of {n_rows:,} held-out rows")
            return judge(pipeline, held_out, *args, **kwargs)

    return run
