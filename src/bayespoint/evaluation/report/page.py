"""The HTML page: from its parts to a file."""

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
    """Put the page together: body, style, script, and the data of the slider."""
    style, script = _resource("style.css"), _resource("slider.js")
    # Escape "<", so that no text in the data can end the script element.
    data = json.dumps(points, separators=(",", ":")).replace("<", "\\u003c")
    return Template(_resource("template.html")).substitute(
        title=join(title),
        version=__version__,
        body=body,
        style=style,
        script=script,
        data=data,
        style_hash=_policy_hash(style),
        script_hash=_policy_hash(script),
    )


def write(path, page: str) -> None:
    """Write the file completely or not at all."""
    with in_place_of(path) as file:
        # Half of a surrogate pair cannot be encoded and becomes a question mark.
        file.write(page.encode("utf-8", errors="replace"))


def _resource(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def _policy_hash(source: str) -> str:
    """Return the hash by which a Content-Security-Policy allows a script or a style."""
    return "sha256-" + base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()
