import sys

import numpy as np
import pytest
from PIL import Image

from bayespoint.papers.picture import N_COLORS, canvas, classes, curve, need_matplotlib, write


def draw():
    figure, ax = canvas()
    curve(ax, [0, 1], [1, 2], 0, "ours", error=[0.1, 0.2])
    classes(ax, np.array([[0.0, 1.0], [1.0, 2.0]]), np.array([-1, 1]))
    return figure


def test_pictures_have_few_colors_and_the_width_of_a_page(tmp_path):
    write(draw, tmp_path / "p.png")
    with Image.open(tmp_path / "p.png") as picture:
        assert picture.size == (1200, 540)  # 8 by 3.6 inches with 150 dots
        assert len(picture.getcolors()) <= N_COLORS


def test_missing_matplotlib_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match=r"pip install \"bayespoint\[plot\]\""):
        need_matplotlib()
