"""Draw the pictures of the pages: `python docs/make_pictures.py docs/abstaining.md`.

It runs the Python blocks of a page one after the other. Where a picture follows a block, the
`display` that the block made is written to that file, so a picture shows what its code draws.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

PARTS = re.compile(r"```python\n(?P<code>.*?)```|!\[[^\]]*\]\((?P<picture>[^)]+\.png)\)", re.DOTALL)


def draw_pictures_of(page: Path) -> list[Path]:
    """Run the code of a page, and write its pictures."""
    names: dict = {}
    written = []
    for part in PARTS.finditer(page.read_text("utf-8")):
        if part["code"]:
            names.pop("display", None)
            exec(compile(part["code"], str(page), "exec"), names)
        elif "display" in names:
            written.append(page.parent / part["picture"])
            names.pop("display").figure_.savefig(written[-1])
    return written


if __name__ == "__main__":
    for name in sys.argv[1:]:
        draw_pictures_of(Path(name))
