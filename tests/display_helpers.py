"""What a display has drawn."""


def drawn(display):
    """Render it, which is when matplotlib raises its errors."""
    display.figure_.canvas.draw()
    return display


def legend_texts(display):
    """Return the lines of the legend."""
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]
