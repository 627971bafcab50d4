"""The look that all pictures of this project share."""

from __future__ import annotations

from typing import Any

from .colors import COLORS, DARK_GRAY, INK, PAPER, RULE

# Inches and dots: 1200 pixels, which fill a page. Letters are then as large as the page's text.
WIDTH, HEIGHT, DOTS_PER_INCH = 8.0, 5.0, 150
# The first one that is installed; matplotlib brings the last one.
FONTS = ("Arial", "Liberation Sans", "Helvetica", "DejaVu Sans")
STYLE: dict[str, Any] = {
    "figure.figsize": (WIDTH, HEIGHT),
    "figure.dpi": DOTS_PER_INCH,
    "figure.facecolor": PAPER,  # not transparent, so that a picture can be read on a dark page
    "figure.titlesize": 15,
    "figure.titleweight": "bold",
    "figure.constrained_layout.w_pad": 0.1,
    "figure.constrained_layout.h_pad": 0.1,
    "savefig.dpi": "figure",
    "savefig.facecolor": PAPER,
    "font.size": 12,
    "text.color": INK,
    "mathtext.fontset": "dejavusans",
    "axes.facecolor": PAPER,
    "axes.edgecolor": DARK_GRAY,
    "axes.linewidth": 0.8,
    "axes.labelcolor": INK,
    "axes.labelsize": 12,
    "axes.titlesize": 13,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.titlecolor": INK,
    "axes.titlepad": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": True,
    "grid.color": RULE,
    "grid.linewidth": 0.7,
    "xtick.color": DARK_GRAY,
    "ytick.color": DARK_GRAY,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "xtick.labelsize": 11,
    "ytick.labelsize": 11,
    "xtick.major.size": 0,
    "ytick.major.size": 0,
    "xtick.minor.size": 0,
    "ytick.minor.size": 0,
    "xtick.major.pad": 6,
    "ytick.major.pad": 6,
    "lines.linewidth": 2.2,
    "lines.markersize": 7,
    "lines.solid_capstyle": "round",
    "errorbar.capsize": 0,
    "patch.edgecolor": PAPER,
    "hatch.linewidth": 0.5,
    "image.cmap": "cividis",  # even in lightness, and the same for color-blind readers
    "legend.frameon": False,
    "legend.fontsize": 11,
    "legend.facecolor": PAPER,
    "legend.edgecolor": RULE,
}


class use_style:
    """Draw pictures in the style of this project.

    It sets matplotlib's `rcParams`: large letters, 150 dots per inch, colors that
    color-blind readers can tell apart (Okabe and Ito), a discreet grid. As a context
    manager it puts the former values back.

    Parameters
    ----------
    only_defaults : bool, default=False
        Leave alone what differs from matplotlib's defaults, because the user has set it. The
        displays do so when they make a figure.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from bayespoint.displays import use_style
    >>> with use_style():  # for one picture
    ...     figure, ax = plt.subplots()
    >>> use_style()  # for everything that follows  # doctest: +SKIP
    """

    def __init__(self, only_defaults: bool = False):
        import matplotlib
        from cycler import cycler

        # Their types forbid names that are not literal.
        now: Any = matplotlib.rcParams
        default: Any = matplotlib.rcParamsDefault
        # Names of fonts stay with a text. What "sans-serif" means would be looked up when it is
        # drawn, perhaps after the context.
        style = STYLE | {"axes.prop_cycle": cycler(color=COLORS), "font.family": [installed_font()]}
        if only_defaults:
            style = {key: value for key, value in style.items() if now[key] == default[key]}
        self._now, self._before = now, {key: now[key] for key in style}
        now.update(style)

    def __enter__(self) -> use_style:
        return self

    def __exit__(self, *_: object) -> None:
        self._now.update(self._before)


def installed_font() -> str:
    """Return the best of our fonts that this machine has."""
    from matplotlib.font_manager import fontManager

    names = {font.name for font in fontManager.ttflist}
    return next(name for name in FONTS if name in names)
