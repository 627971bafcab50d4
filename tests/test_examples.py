"""The gallery: each example is a lesson that runs without warnings and uses public names only."""

import ast
import importlib
import importlib.util
import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "examples"
EXAMPLES = sorted(FOLDER.rglob("*.py"))
NAMES = [path.relative_to(FOLDER).as_posix() for path in EXAMPLES]
each_example = pytest.mark.parametrize("path", EXAMPLES, ids=NAMES)

MIN_EXAMPLES = 17
MAX_TITLE_LENGTH = 60
# Names of scikit-learn that need a network.
NETWORK = re.compile(r"\b(fetch_\w+|load_handwritten|load_paper_data|urlopen|requests)\b")
ROLE = re.compile(r":(?:class|func|meth|mod):`~?([\w.]+)`")


def parts_of(path):
    """Return the docstring, the text between cells, and the syntax tree of an example."""
    source = path.read_text("utf-8")
    tree = ast.parse(source)
    cells = re.findall(r"^# %%\n((?:#.*\n)+)", source, re.MULTILINE)
    return ast.get_docstring(tree, clean=False), cells, tree


def resolve(name):
    """Return what a dotted name means, as Sphinx does."""
    parts = name.split(".")
    for n in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:n]))
        except ModuleNotFoundError:
            continue
        for part in parts[n:]:
            found = getattr(found, part)
        return found
    raise ModuleNotFoundError(name)


def test_there_are_enough_examples():
    assert len(EXAMPLES) >= MIN_EXAMPLES
    assert len({path.name for path in EXAMPLES}) == len(EXAMPLES)


@each_example
def test_an_example_has_a_name_a_title_and_an_introduction(path):
    assert path.name.startswith("plot_")
    docstring = parts_of(path)[0]
    title, line, introduction = docstring.strip().split("\n", 2)
    assert line == "=" * len(title)
    assert len(title) <= MAX_TITLE_LENGTH
    assert len(introduction.split()) >= 25


@each_example
def test_an_example_is_text_and_code_and_ends_with_what_to_try_next(path):
    docstring, cells, _ = parts_of(path)
    assert len(cells) >= 3
    text = " ".join(re.sub(r"^# ?", "", cell, flags=re.MULTILINE) for cell in cells)
    last = re.sub(r"^# ?", "", cells[-1], flags=re.MULTILINE)
    assert last.startswith("Next, ")
    roles = ROLE.findall(docstring + text)
    assert roles
    assert all(resolve(role) is not None for role in roles)


@each_example
def test_an_example_uses_public_names_and_no_network(path):
    tree = parts_of(path)[2]
    source = path.read_text("utf-8")
    compile(source, str(path), "exec")
    for node in ast.walk(tree):
        names = []
        if isinstance(node, ast.ImportFrom):
            names = [*node.module.split("."), *(alias.name for alias in node.names)]
        elif isinstance(node, ast.Import):
            names = [part for alias in node.names for part in alias.name.split(".")]
        elif isinstance(node, ast.Attribute):
            names = [node.attr]
        assert not [name for name in names if name.startswith("_")], ast.unparse(node)
    assert not NETWORK.search(source)
    assert "rcParams" not in source, "the style of all pictures is in bayespoint.displays"
    assert "plt." in source


def test_each_section_has_a_title_and_a_place():
    path = ROOT / "docs" / "_ext" / "gallery_order.py"
    spec = importlib.util.spec_from_file_location("gallery_order", path)
    order = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(order)
    folders = {path.parent.name for path in EXAMPLES}
    assert folders == set(order.SECTIONS)
    assert all((FOLDER / name / "GALLERY_HEADER.rst").is_file() for name in ["", *folders])
    places = [(order.SECTIONS.index(p.parent.name), order.EXAMPLES.index(p.name)) for p in EXAMPLES]
    by_example = [section for section, _ in sorted(places, key=lambda place: place[1])]
    assert len(places) == len(order.EXAMPLES)
    assert by_example == sorted(by_example)


@pytest.mark.slow
@each_example
def test_an_example_runs_without_warnings(path, tmp_path, monkeypatch):
    """Warnings are errors, as everywhere in these tests. Pictures are drawn, not only made."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    from bayespoint.displays import use_style

    monkeypatch.chdir(tmp_path)
    plt.close("all")
    with use_style():
        runpy.run_path(str(path), run_name="__main__")
        figures = [plt.figure(number) for number in plt.get_fignums()]
        assert figures
        for figure in figures:
            figure.draw_without_rendering()
    plt.close("all")
    assert not list(tmp_path.iterdir()), "an example leaves files behind"
