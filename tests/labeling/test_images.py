import base64
import os
import sys

import pytest

from bayespoint.labeling.images import ImageError, read_image
from labeling_helpers import PIXEL


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "pool" / "pictures").mkdir(parents=True)
    (tmp_path / "pool" / "pictures" / "a.png").write_bytes(PIXEL)
    (tmp_path / "pool" / "notes.txt").write_text("secret")
    (tmp_path / "pool" / "page.svg").write_text("<svg/>")
    (tmp_path / "secret.png").write_bytes(PIXEL)
    return tmp_path / "pool"


def test_files_below_the_folder(folder):
    image = read_image("pictures/a.png", folder)
    assert (image.content, image.media_type) == (PIXEL, "image/png")
    assert read_image(str(folder / "pictures" / "a.png"), folder).content == PIXEL
    assert read_image("pictures/../pictures/a.png ", folder).content == PIXEL


@pytest.mark.parametrize(
    ("cell", "reason"),
    [
        ("../secret.png", "not below"),
        ("pictures/../../secret.png", "not below"),
        ("/etc/passwd", "not below"),
        ("notes.txt", "should be one of"),
        ("page.svg", "should be one of"),
        ("pictures", "should be one of"),
        ("none.png", "no picture"),
        ("a\0.png", "cannot be read"),
        ("http://example.org/a.png", "stays offline"),
        ("file:///etc/passwd", "stays offline"),
        ("data:image/svg+xml;base64,PHN2Zy8+", "not shown"),
        ("data:text/html;base64,PHN2Zy8+", "stays offline"),
        ("data:image/png;base64,###", "damaged"),
        ("x" * 5000 + ".png", "cannot be read"),
    ],
)
def test_everything_else_is_refused(folder, cell, reason):
    with pytest.raises(ImageError, match=reason):
        read_image(cell, folder)


@pytest.mark.skipif(sys.platform == "win32", reason="links")
def test_links_do_not_lead_out(folder):
    os.symlink(folder.parent / "secret.png", folder / "link.png")
    with pytest.raises(ImageError, match="not below"):
        read_image("link.png", folder)


def test_pictures_in_cells(folder):
    cell = "data:image/png;base64," + base64.b64encode(PIXEL).decode()
    assert read_image(cell, folder).content == PIXEL
