"""Colors that people with color blindness can tell apart."""

import numpy as np
from matplotlib.colors import to_rgb

from bayespoint.evaluation.displays.colors import COLORS, color


def test_colors_repeat_after_the_last():
    assert color(0) == color(len(COLORS)) == COLORS[0]


def luminance(name):
    """Return the relative luminance of WCAG 2."""
    values = np.array(to_rgb(name))
    linear = np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)
    return linear @ [0.2126, 0.7152, 0.0722]


def test_the_first_two_classes_differ_without_color_vision():
    dark, light = sorted(map(luminance, COLORS[:2]))
    assert (light + 0.05) / (dark + 0.05) > 2  # the contrast ratio of WCAG 2
