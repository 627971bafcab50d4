"""How many rows of an evaluation the model was trained with, and which rows are judged."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from .intervals import Share

# Rows that equal a training row by chance are told from this share of new rows on.
MIN_CHANCE_TOLD = 0.01


class SeenRows(NamedTuple):
    """What fingerprints say about the rows that were given to an evaluation."""

    n_given: int
    n_checked: int  # fewer than given if the model remembers a sample of its training rows
    n_seen: int  # of the checked rows, those that equal a training row in all columns
    n_judged: int
    n_held_out: int  # of the judged and checked rows, those that tested the model in training
    by_chance: Share  # of the rows held out in training, those that equal a training row
    judged: Literal["unseen", "all"]  # "all": also those that were seen
    requested: bool  # whether the user asked to judge all rows

    @property
    def only_new(self) -> bool:
        """Tell whether, as far as is known, no judged row was used in training."""
        return self.judged == "unseen" or self.n_seen == 0

    @property
    def are_coincidences(self) -> bool:
        """Tell whether rows that equal training rows are as frequent as chance makes them."""
        return self.judged == "all" and self.n_seen > 0 and not self.requested

    def sentence(self) -> str:
        """Say in one or two sentences which rows are judged, and why."""
        checked = self._checked()
        if self.n_seen == 0:
            return f"The model has seen none of {checked} in training.{self._held_out()}"
        if self.are_coincidences:
            return (
                f"{self.n_seen:,} of {checked} equal a training row in all columns that the model "
                f"uses. So do {self.by_chance.number:,} of the {self.by_chance.total:,} rows that "
                "were held out in training. Chance explains it, so nobody can tell which rows are "
                "new, and all are judged."
            )
        if self.judged == "all":
            return (
                f"The model has seen {self.n_seen:,} of {checked} in training. They are judged "
                "too, as requested. Expect more errors on new rows."
            )
        sample = " of them" if self.n_checked < self.n_given else ""
        return (
            f"The model has seen {self.n_seen:,} of {checked} in training, or rows that equal them "
            f"in all columns that it uses. Only the {self.n_judged:,} others{sample} are judged."
            f"{self._rarer()}{self._held_out()}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything, ready for JSON."""
        chance = self.by_chance
        return self._asdict() | {"by_chance": {"count": chance.number, "total": chance.total}}

    def _checked(self) -> str:
        if self.n_checked == self.n_given:
            return f"the {self.n_given:,} rows"
        return f"the {self.n_checked:,} rows that can be checked (of {self.n_given:,})"

    def _rarer(self) -> str:
        if self.by_chance.value < MIN_CHANCE_TOLD:
            return ""
        return (
            f" In these data {100 * self.by_chance.value:.0f} % of new rows equal a training row "
            "by chance, so the others are rarer, and probably harder, than usual."
        )

    def _held_out(self) -> str:
        if not self.n_held_out:
            return ""
        some = f"{self.n_held_out:,} of them" if self.n_held_out < self.n_judged else "They"
        return f" {some} already tested it when it was trained."


UNKNOWN = (
    "The model does not know its training rows, so nobody can tell here whether these rows are new."
)
