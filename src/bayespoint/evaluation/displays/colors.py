"""Colors that everybody can tell apart."""

from __future__ import annotations

# Okabe and Ito (2008); yellow is too light for lines and comes last.
COLORS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#F0E442")
BLACK, GRAY = "#000000", "#777777"
# Letters, axes, grid and background. Letters have a contrast of at least 7 on the background.
INK, DARK_GRAY, RULE, PAPER = "#1F2328", "#59636E", "#E3E7EB", "#FFFFFF"

# Vermilion for letters, which need more contrast than lines: the report has it on a light page.
DARK_VERMILION = "#B34E00"


def color(number: int) -> str:
    """Return the color of a class or line; they repeat after seven."""
    return COLORS[number % len(COLORS)]
