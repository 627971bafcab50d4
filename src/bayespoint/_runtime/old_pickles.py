"""Pickles that another version wrote: a warning, and the defaults of newer parameters."""

from __future__ import annotations

import inspect
from typing import Any

from sklearn.exceptions import InconsistentVersionWarning

from .warn import warn

VERSION_KEY = "_bayespoint_version"


class OldPickles:
    """Mixin of estimators, before `BaseEstimator`: their pickles say which version wrote them."""

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), VERSION_KEY: _this_version()}  # type: ignore[dict-item]

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        wrote = state.pop(VERSION_KEY, None)
        new = {name: value for name, value in _defaults(type(self)).items() if name not in state}
        super().__setstate__(new | state)  # type: ignore[misc]
        if wrote != _this_version() or new:
            warn(OldPickleWarning(type(self).__name__, wrote, sorted(new)))


class OldPickleWarning(InconsistentVersionWarning):
    """A pickle was written by another version of bayespoint."""

    def __init__(self, name: str, wrote: str | None, new: list[str]):
        self.wrote, self.new = wrote, new
        super().__init__(
            estimator_name=name,
            current_sklearn_version=_this_version(),
            original_sklearn_version=wrote or "unknown",
        )

    def __str__(self) -> str:
        is_unknown = self.wrote in (None, _this_version())  # a version says it since this one
        by = "an earlier version of bayespoint" if is_unknown else f"bayespoint {self.wrote}"
        added = f" New parameters get their defaults: {', '.join(self.new)}." if self.new else ""
        return (
            f"This pickle of a {self.estimator_name} was written by {by}, but this is "
            f"{_this_version()}.{added} Compare some predictions, or train the model again; "
            "attributes may be missing. Files of bayespoint.save stay readable."
        )


def _this_version() -> str:
    from .. import __version__

    return __version__


def _defaults(kind: type) -> dict[str, Any]:
    parameters = inspect.signature(kind).parameters.values()
    return {p.name: p.default for p in parameters if p.default is not p.empty}
