"""Colors that everybody can tell apart."""

from __future__ import annotations

# Okabe and Ito (2008); yellow is too light for lines and comes last.
COLORS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#F0E442")
BLACK, GRAY = "#000000", "#777777"


def color(number: int) -> str:
    """Return the color of a class or line; they repeat after seven."""
    return COLORS[number % len(COLORS)]
