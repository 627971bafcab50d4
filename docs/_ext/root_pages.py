"""Pages of the site whose text is a Markdown file outside of docs/.

On GitHub such a page links to its file. On the site it shows the file, with links that fit.
"""

import os.path
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
FILES = {
    "benchmarks": "benchmarks/README.md",
    "changelog": "CHANGELOG.md",
    "contributing": "CONTRIBUTING.md",
    "security": "SECURITY.md",
    "vision": "VISION.md",
}
PAGES = {
    "README.md": "docs/index.md",
    "docs/notes": "docs/notes.md",
    "docs/papers": "docs/papers.md",
    **{file: f"docs/{page}.md" for page, file in FILES.items()},
}
# Where the text of the file begins, in place of a link to it.
MARKER = "This page of the site is "
LINK = re.compile(r"\]\((?!https?:|mailto:|#)([^)#\s]+)(#[^)\s]*)?\)")


def relink(text, file, page):
    """Rewrite the links of a file so that they are right on a page, both named from the root."""

    def rewrite(link):
        target = os.path.normpath(os.path.join(os.path.dirname(file), link[1]))
        target = PAGES.get(target.replace(os.sep, "/"), target)
        path = os.path.relpath(target, os.path.dirname(page)).replace(os.sep, "/")
        if (ROOT / target).is_dir():
            raise ValueError(f"{file} links to the folder {target}, which has no page")
        return f"]({path}{link[2] or ''})"

    return LINK.sub(rewrite, text)


def show_file(app, docname, content):
    """Give a page the text of its file, and mend links to files that are pages."""
    if app.env.doc2path(docname).suffix != ".md":
        return
    page = f"docs/{docname}.md"
    file = FILES.get(docname)
    content[0] = relink(content[0], page, page)
    if docname in FILES:
        app.env.note_dependency(str(ROOT / file), docname=docname)
        body = (ROOT / file).read_text("utf-8").partition("\n")[2]  # without its title
        content[0] = content[0].partition(MARKER)[0] + relink(body, file, page)


def setup(app):
    """Rewrite pages as they are read."""
    app.connect("source-read", show_file)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
