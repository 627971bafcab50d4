"""Where pictures go, and colors that everybody can tell apart."""

from __future__ import annotations

from typing import Any

# Okabe and Ito (2008); yellow is too light for lines and comes last.
COLORS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#F0E442")
BLACK, GRAY = "#000000", "#777777"


def open_axes(display: object, ax) -> Any:
    """Return axes to draw on, new ones if none are given."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            f"{type(display).__name__} needs the package matplotlib, which is not installed: "
            "pip install 'bayespoint[plot]'."
        ) from error
    return plt.subplots(layout="constrained")[1] if ax is None else ax


def color(number: int) -> str:
    """Return the color of a class or of a line."""
    return COLORS[number % len(COLORS)]
