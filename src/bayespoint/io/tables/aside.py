"""Read in a thread of its own what may have to wait, so that Ctrl-C need not wait with it."""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterator
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Any

_END = object()


def aside(values: Generator[Any, None, None]) -> Iterator[Any]:
    """Yield values that are read in a thread, one when it is asked for.

    Python answers signals between its instructions in the main thread. Waiting for a thread can be
    interrupted, and waiting inside a library cannot.
    """
    requests: SimpleQueue[Future | None] = SimpleQueue()
    # At the end, Python would wait for a thread that is not a daemon.
    threading.Thread(target=_serve, args=(values, requests), daemon=True).start()
    try:
        while True:
            answer: Future = Future()
            requests.put(answer)
            value = answer.result()
            if value is _END:
                return
            yield value
    finally:
        requests.put(None)


def _serve(values: Generator[Any, None, None], requests: SimpleQueue[Future | None]) -> None:
    """Answer requests for the next value."""
    while (answer := requests.get()) is not None:
        try:
            answer.set_result(next(values, _END))
        except BaseException as error:
            answer.set_exception(error)
    values.close()
