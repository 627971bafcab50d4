"""Markdown files: short lines, links and file names that exist."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "bayespoint"
MAX_LINE = 120
FOLDERS = ("", "docs", "docs/notes", "tests", "benchmarks", ".github", ".github/ISSUE_TEMPLATE")
PAGES = {
    path.relative_to(ROOT).as_posix(): path.read_text("utf-8")
    for folder in FOLDERS
    for path in sorted((ROOT / folder).glob("*.md"))
}


def prose(text):
    """Yield numbers and text of the lines outside of code blocks."""
    code = False
    for number, line in enumerate(text.splitlines(), 1):
        fence = line.lstrip().startswith("```")
        code ^= fence
        if not code and not fence:
            yield number, line


def is_long(line):
    """Return whether a line is too long, except in tables, long links and pictures."""
    without_links = re.sub(r"\]\([^)]*\)|<?https?://\S+", "]", line)
    return len(without_links) > MAX_LINE and not line.lstrip().startswith(("|", "!["))


def anchors(text):
    """Return the names of the headings of a page, as GitHub makes them."""
    titles = [line.lstrip("# ") for _, line in prose(text) if line.startswith("#")]
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


def test_pages_are_found():
    assert {"README.md", "docs/architecture.md", "docs/notes/onion.md"} <= set(PAGES)


@pytest.mark.parametrize("page", PAGES)
def test_lines_are_short(page):
    long = [number for number, line in prose(PAGES[page]) if is_long(line)]
    assert not long, f"{page}: lines {long} have more than {MAX_LINE} characters"


@pytest.mark.parametrize("page", PAGES)
def test_links_point_to_files(page):
    links = [
        link
        for _, line in prose(PAGES[page])
        for link in re.findall(r"\]\(([^)\s]+)\)", line)
        if not re.match(r"https?:|mailto:", link)
    ]
    for link in links:
        name, _, anchor = link.partition("#")
        path = (ROOT / page).parent / name if name else ROOT / page
        assert path.exists(), f"{page} links to {link}"
        if anchor and path.suffix == ".md":
            assert anchor in anchors(path.read_text("utf-8")), f"{page} links to {link}"


@pytest.mark.parametrize("page", PAGES)
def test_named_files_exist(page):
    """File names such as `fitting/task.py` exist, from the root of the project or the package."""
    rooms = [path.name for path in [*PACKAGE.iterdir(), *ROOT.iterdir()] if path.is_dir()]
    for name in re.findall(r"(?<![\w./])\w+/[\w./]*\w\.py\b", PAGES[page]):
        if name.partition("/")[0] in rooms and "NAME" not in name and "/a/" not in name:
            assert (ROOT / name).exists() or (PACKAGE / name).exists(), name


def test_the_map_has_all_rooms():
    rooms = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert (
        set(re.findall(r"^\| `([a-z_]+)` \|", PAGES["docs/architecture.md"], re.MULTILINE)) == rooms
    )


def test_the_map_has_the_layers_that_are_checked():
    contract = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
    layers = [layer.replace("bayespoint.", "") for layer in contract["contracts"][0]["layers"]]
    assert "```\n" + "\n".join(layers) + "\n```" in PAGES["docs/architecture.md"]


def test_the_map_has_all_notes():
    notes = {page.removeprefix("docs/") for page in PAGES if page.startswith("docs/notes/")}
    assert set(re.findall(r"\((notes/\w+\.md)\)", PAGES["docs/architecture.md"])) == notes
