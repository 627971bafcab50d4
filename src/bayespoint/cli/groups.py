"""Groups of options that several verbs share and take as one argument."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any


class Group:
    """Marks a parameter that stands for several options; `make` turns them into its value."""

    def __init__(self, make: Callable[..., Any]):
        self.make = make


def expand_groups(verb: Callable) -> Callable:
    """Replace each parameter that is a group by the options of the group, for typer."""
    groups: dict[str, tuple[Callable, list[str]]] = {}
    options: list[inspect.Parameter] = []
    for parameter in inspect.signature(verb, eval_str=True).parameters.values():
        members, marks = [parameter], getattr(parameter.annotation, "__metadata__", ())
        for mark in marks:
            if isinstance(mark, Group):
                make = expand_groups(mark.make)
                members = list(inspect.signature(make).parameters.values())
                groups[parameter.name] = make, [member.name for member in members]
        # With keywords, required options may follow options with defaults.
        options += [member.replace(kind=inspect.Parameter.KEYWORD_ONLY) for member in members]

    @wraps(verb)
    def run(**values):
        for name, (make, members) in groups.items():
            values[name] = make(**{member: values.pop(member) for member in members})
        return verb(**values)

    run.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined]
    run.__annotations__ = {option.name: option.annotation for option in options}
    return run
