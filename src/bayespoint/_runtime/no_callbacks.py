"""Stand-ins for scikit-learn's callbacks, which versions before 1.9 do not have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class NoContext:
    """A callback context of an estimator that has no callbacks."""

    def subcontext(self, **_: Any) -> NoContext:
        """Return the context of a part of the work."""
        return self

    def call_on_fit_task_begin(self, **_: Any) -> None:
        """Call nobody."""

    def call_on_fit_task_end(self, **_: Any) -> bool:
        """Call nobody, and ask for no stop."""
        return False


class CallbackSupportMixin:
    """Support no callbacks: there is no `set_callbacks`."""

    def _init_callback_context(self, **_: Any) -> NoContext:
        return NoContext()


def with_callbacks(method: Callable) -> Callable:
    """Return the method as it is."""
    return method
