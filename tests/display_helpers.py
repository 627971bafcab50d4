"""Render displays and read what they show."""


def drawn(display):
    """Render a display; matplotlib raises its errors only then."""
    display.figure_.canvas.draw()
    return display


def legend_texts(display):
    """Return the lines of the legend."""
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]
