"""Colors that people with color blindness can tell apart, and that show on the background."""

import re
from importlib import resources
from itertools import combinations

import numpy as np
import pytest
from matplotlib.colors import to_rgb

from bayespoint.evaluation.displays.colors import (
    COLORS,
    DARK_GRAY,
    DARK_VERMILION,
    INK,
    PAPER,
    color,
)

# Linear RGB as people without one kind of cones see it: Viénot, Brettel and Mollon (1999).
BLINDNESS = {
    "protanopia": [[0.11238, 0.88762, 0], [0.11238, 0.88762, 0], [0.00401, -0.00401, 1]],
    "deuteranopia": [[0.29275, 0.70725, 0], [0.29275, 0.70725, 0], [-0.02234, 0.02234, 1]],
    "full color vision": np.eye(3),
}
XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
WHITE = XYZ.sum(axis=1)


def linear(name):
    values = np.array(to_rgb(name))
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def lab(rgb):
    """Return coordinates in CIELAB, where equal distances look equally different."""
    ratio = XYZ @ rgb / WHITE
    f = np.where(ratio > 0.008856, np.cbrt(ratio), 7.787 * ratio + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def contrast(one, two):
    """Return the contrast ratio of WCAG 2."""
    dark, light = sorted(linear(name) @ XYZ[1] for name in (one, two))
    return (light + 0.05) / (dark + 0.05)


def test_colors_repeat_after_the_last():
    assert color(0) == color(len(COLORS)) == COLORS[0]


@pytest.mark.parametrize("kind", BLINDNESS)
def test_lines_differ_for_everybody(kind):
    seen = [lab(np.clip(np.array(BLINDNESS[kind]) @ linear(name), 0, 1)) for name in COLORS[:6]]
    # A distance of 2.3 can just be noticed.
    assert min(np.linalg.norm(a - b) for a, b in combinations(seen, 2)) > 10


def test_the_first_two_classes_differ_without_color_vision():
    assert contrast(*COLORS[:2]) > 2


def test_letters_are_legible_on_the_background():
    assert contrast(INK, PAPER) > 7
    assert contrast(DARK_GRAY, PAPER) > 4.5
    assert all(contrast(name, PAPER) > 2 for name in COLORS[:6])


def test_the_report_has_the_same_colors_and_its_letters_are_legible():
    css = resources.files("bayespoint.evaluation.report").joinpath("style.css").read_text("utf-8")
    light, dark = (
        dict(re.findall(r"--(\w+): (#\w+);", block))
        for block in re.findall(r":root \{(.*?)\}", css, re.DOTALL)[:2]
    )
    assert [light[name].upper() for name in ("ours", "other")] == [COLORS[0], DARK_VERMILION]
    assert [dark[name].upper() for name in ("ours", "other")] == [COLORS[5], COLORS[1]]
    assert [light[name].upper() for name in ("ink", "soft")] == [INK, DARK_GRAY]
    for page in (light, dark):
        for ground in ("paper", "raised"):
            for letters in ("ink", "soft", "ours", "other"):
                assert contrast(page[letters], page[ground]) > 4.5
