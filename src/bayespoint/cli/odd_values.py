"""Values that could not be read as numbers or dates: count them, and tell once."""

from __future__ import annotations

from .terminal import note


class OddValues:
    """Collects values that count as missing because they cannot be read."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._examples: dict[str, str] = {}
        self._formats: dict[str, str] = {}
        self._told: set[str] = set()

    def __call__(self, name: str, n_odd: int, example: str) -> None:
        """Count odd values of a column; none means that its numbers are written differently."""
        if not n_odd:
            self._formats[name] = example
            return
        self._counts[name] = self._counts.get(name, 0) + n_odd
        self._examples.setdefault(name, example)

    def tell(self) -> None:
        """Note what was counted, each column once."""
        for name, format in self._formats.items():
            if name not in self._told:
                note(f"column {name!r} is written {format} here, unlike in training")
        for name in self._counts:
            if name not in self._told:
                note(self._line(name))
        self._told |= {*self._counts, *self._formats}

    def lines(self) -> list[str]:
        """Return a line for each column with values that cannot be read."""
        return [self._line(name) for name in self._counts]

    def _line(self, name: str) -> str:
        n_odd = self._counts[name]
        what = "1 value" if n_odd == 1 else f"{n_odd:,} values"
        verb = "counts" if n_odd == 1 else "count"
        return (
            f"{what} of column {name!r} cannot be read and {verb} as missing, for example "
            f"{self._examples[name]!r}"
        )
