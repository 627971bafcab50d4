"""From the parts of a page to a file."""

from __future__ import annotations

import base64
import hashlib
import json
from importlib import resources
from string import Template

from ... import __version__
from ..._runtime.atomic import in_place_of
from .markup import Markup, join


def assemble(title: str, body: Markup, points: list[list]) -> str:
    """Put the page together."""
    folder = resources.files(__package__)
    style = folder.joinpath("style.css").read_text(encoding="utf-8")
    script = folder.joinpath("slider.js").read_text(encoding="utf-8")
    # Nothing in it may end the element.
    data = json.dumps(points, separators=(",", ":")).replace("<", "\\u003c")
    return Template(folder.joinpath("template.html").read_text(encoding="utf-8")).substitute(
        title=join(title),
        version=__version__,
        body=body,
        style=style,
        script=script,
        data=data,
        style_hash=_hash(style),
        script_hash=_hash(script),
    )


def _hash(source: str) -> str:
    """Return what a Content-Security-Policy calls a script or a style."""
    return "sha256-" + base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()


def write(path, page: str) -> None:
    """Write a file such that it is there as a whole, or not at all."""
    with in_place_of(path) as file:
        # What cannot be encoded (half of a surrogate pair) becomes a question mark.
        file.write(page.encode("utf-8", errors="replace"))
