"""Kept pictures are large enough for a page on a screen with many pixels."""

from pathlib import Path

import pytest
from PIL import Image

DOCS = Path(__file__).parents[1] / "docs"
MIN_WIDTH = 1200
# The screen of a phone.
NARROW = {"label_phone"}


@pytest.mark.parametrize("folder", ["papers", "pictures"])
def test_kept_pictures_fill_a_page(folder):
    narrow = {}
    for path in (DOCS / folder).glob("*.png"):
        with Image.open(path) as picture:
            if picture.width < MIN_WIDTH and path.stem not in NARROW:
                narrow[path.name] = picture.width
    assert not narrow
