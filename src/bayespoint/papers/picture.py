"""The look of the pictures: small files, and colors that color-blind readers can tell apart."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from .._runtime.atomic import in_place_of
from ..evaluation.displays.colors import BLACK, COLORS, GRAY, color
from ..evaluation.displays.style import WIDTH, use_style

__all__ = [
    "BLACK",
    "COLORS",
    "GRAY",
    "MARKERS",
    "WIDTH",
    "canvas",
    "classes",
    "color",
    "curve",
    "need_matplotlib",
    "write",
]

MARKERS = "osD^vXP"
HEIGHT = 3.6
N_COLORS = 256


def need_matplotlib() -> None:
    """Raise an error if matplotlib is missing, before an experiment starts."""
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError as error:
        raise ImportError(
            "The picture of an experiment needs matplotlib, which is not installed: "
            'pip install "bayespoint[plot]".'
        ) from error


def canvas(n_rows: int = 1, n_columns: int = 1, *, height: float = HEIGHT, **kwargs):
    """Return a figure and its axes, as wide as a page."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH, height), layout="constrained")
    axes = figure.subplots(n_rows, n_columns, **kwargs)
    return figure, axes


def curve(ax, x, y, number: int, label: str, *, error=None, **kwargs) -> None:
    """Draw a line with markers and bars of one standard error."""
    look = {"color": color(number), "marker": MARKERS[number], "ms": 6, "lw": 1.8, **kwargs}
    ax.errorbar(x, y, error, label=label, **look)


def classes(ax, X, y, **kwargs) -> None:
    """Draw the points of two classes, which differ in color and shape."""
    for number, (label, marker) in enumerate(((-1, "o"), (1, "X"))):
        look = {"s": 26, "c": color(3 * number), "marker": marker, "ec": "white", "lw": 0.5}
        ax.scatter(*X[y == label].T, **{**look, "zorder": 3, **kwargs})


def write(draw: Callable[[], Any], path: Path) -> None:
    """Draw a picture in our style, and save it as PNG with few colors, which makes it small."""
    import numpy as np
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from PIL import Image

    with use_style():
        drawn = FigureCanvasAgg(draw())
        drawn.draw()
    picture = Image.fromarray(np.asarray(drawn.buffer_rgba())).convert("RGB")
    # Choose colors that are far apart, because rare ones (markers) would get lost otherwise.
    few = picture.quantize(N_COLORS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    with in_place_of(path) as file:
        few.save(file, "PNG", optimize=True)
