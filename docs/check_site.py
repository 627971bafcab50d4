"""Check a built site: links inside it, their anchors, and that pages load nothing from outside.

    python docs/check_site.py FOLDER

It prints what is wrong, one line each, and ends with exit code 1 if anything is.
"""

# ruff: noqa: T201

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# What a browser loads on its own; links that people click may point outside.
LOADED = {
    ("script", "src"),
    ("link", "href"),
    ("img", "src"),
    ("img", "srcset"),
    ("source", "src"),
    ("source", "srcset"),
    ("video", "src"),
    ("audio", "src"),
    ("iframe", "src"),
    ("embed", "src"),
    ("object", "data"),
    ("image", "href"),
    ("use", "href"),
}
# Links that browsers only follow if someone asks.
NOT_LOADED = {"canonical", "author", "license", "next", "prev", "index", "search"}
STYLE_URL = re.compile(r"""url\(\s*["']?([^"')]+)|@import\s+["']([^"']+)""")


class Page(HTMLParser):
    """What a page refers to, and the anchors that others can refer to."""

    def __init__(self, text):
        super().__init__()
        self.anchors, self.links, self.loaded = {""}, set(), set()
        self._in_style = False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        """Collect the references of a tag."""
        attrs = {name: value or "" for name, value in attrs}
        self.anchors |= {attrs[name] for name in ("id", "name") if name in attrs}
        self._in_style = tag == "style"
        if tag == "a" and "href" in attrs:
            self.links.add(attrs["href"])
        for name, value in attrs.items():
            if (tag, name) in LOADED and attrs.get("rel") not in NOT_LOADED:
                parts = value.split(",") if name == "srcset" else [value]
                self.loaded |= {part.split()[0] for part in parts if part.split()}
            if name == "style":
                self.loaded |= urls_of_style(value)

    def handle_data(self, data):
        """Collect what a style sheet within the page loads."""
        if self._in_style:
            self.loaded |= urls_of_style(data)


def urls_of_style(text):
    """Return what a style sheet loads."""
    return {first or second for first, second in STYLE_URL.findall(text)}


def is_outside(url):
    """Tell whether an address is on another machine."""
    parts = urlsplit(url)
    return bool(parts.netloc) or parts.scheme in {"http", "https", "ftp"}


def problems_of_link(url, file, folder, pages):
    """Yield what is wrong with a link inside the site."""
    parts = urlsplit(url)
    target = (file.parent / unquote(parts.path)).resolve() if parts.path else file
    if not target.is_relative_to(folder):
        yield f"leaves the site: {url}"
    elif not target.is_file():
        yield f"broken link: {url}"
    elif target in pages and unquote(parts.fragment) not in pages[target].anchors:
        yield f"missing anchor: {url}"


def problems(folder):
    """Yield (file, message) for all that is wrong with a site."""
    folder = Path(folder).resolve()
    files = [f for f in sorted(folder.rglob("*.html")) if "_static" not in f.parts]
    pages = {file: Page(file.read_text("utf-8")) for file in files}
    if not pages:
        yield folder, "There are no pages. Build them first: python -m sphinx docs FOLDER"
    references = [(file, page.links | page.loaded, page.loaded) for file, page in pages.items()]
    for file in sorted(folder.rglob("*.css")):
        urls = urls_of_style(file.read_text("utf-8"))
        references.append((file, urls, urls))
    for file, urls, loaded in references:
        for url in sorted(urls):
            if is_outside(url):
                if url in loaded:
                    yield file, f"loads from outside: {url}"
            elif urlsplit(url).scheme not in {"data", "mailto", "javascript", "blob"}:
                for message in problems_of_link(url, file, folder, pages):
                    yield file, message


def main(folder):
    """Print all problems, and return how many there are."""
    found = list(problems(folder))
    for file, message in found:
        print(f"{file}: {message}")
    print(f"{len(found)} problems in {folder}")
    return len(found)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(bool(main(sys.argv[1])))
