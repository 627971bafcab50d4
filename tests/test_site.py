"""The site: every public name has a page and an example, and the checker finds what is broken."""

import doctest
import importlib
import importlib.util
import inspect
import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.utils import Bunch

import bayespoint
from bayespoint.datasets.digits import SHAPES

ROOT = Path(__file__).parents[1]
API = (ROOT / "docs" / "api.md").read_text("utf-8")
# Modules whose names are those of other modules; the page says so.
ALIASES = {"displays": "bayespoint.evaluation.displays", "digits": "bayespoint.datasets"}

# Their examples need a network or a folder with data: they run with stand-ins, in this file.
WITH_STAND_INS = ["bayespoint.datasets.fetch_arrays", "bayespoint.datasets.load_handwritten"]


def public_names():
    """Return the full names of everything that is public, without modules."""
    names = []
    for module in ["bayespoint", *(f"bayespoint.{name}" for name in bayespoint._MODULES)]:
        content = importlib.import_module(module)
        listed = getattr(content, "__all__", ["load_handwritten"])
        assert module == "bayespoint.digits" or hasattr(content, "__all__"), module
        names += [
            f"{module}.{name}"
            for name in listed
            if not inspect.ismodule(getattr(content, name)) and name != "__version__"
        ]
    return names


def names_on_the_page():
    """Return the full names in the lists of docs/api.md."""
    module, names = "", set()
    for line in API.splitlines():
        if found := re.match(r"\.\. currentmodule:: (\S+)", line):
            module = found[1]
        elif found := re.fullmatch(r" {3}([\w.]+)", line):
            names.add(f"{module}.{found[1]}")
    return names


def lookup(name):
    module, _, attribute = name.rpartition(".")
    return getattr(importlib.import_module(module), attribute)


def load_script(name):
    spec = importlib.util.spec_from_file_location(
        name.rpartition("/")[2], ROOT / "docs" / f"{name}.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_public_name_is_on_the_page():
    pages = {id(lookup(name)): name for name in names_on_the_page()}
    missing = [name for name in public_names() if id(lookup(name)) not in pages]
    assert not missing


def test_every_name_on_the_page_is_public():
    public = {id(lookup(name)) for name in public_names()}
    assert all(id(lookup(name)) in public for name in names_on_the_page())


@pytest.mark.parametrize(
    "name",
    [n for n in public_names() if inspect.isclass(lookup(n)) or inspect.isroutine(lookup(n))],
)
def test_every_public_name_has_an_example(name):
    text = (inspect.getdoc(lookup(name)) or "").partition("Examples\n--------\n")[2]
    examples = doctest.DocTestParser().get_examples(text)
    assert examples, f"{name} has no example in its docstring"
    runs = [
        example
        for example in examples
        if doctest.SKIP not in example.options and not re.match("import|from", example.source)
    ]
    stands_in = any(lookup(name) is lookup(other) for other in WITH_STAND_INS)
    assert runs or stands_in, f"the example of {name} does not run as a test"


@pytest.mark.parametrize("name", WITH_STAND_INS)
def test_examples_run_with_stand_ins_for_data(name, tmp_path, monkeypatch):
    iris = load_iris()
    answer = Bunch(data=iris.data, target=[f"Iris-{iris.target_names[k]}" for k in iris.target])
    monkeypatch.setattr("sklearn.datasets.fetch_openml", lambda **_: answer)
    n_train, n_test, n_features = SHAPES["usps"]
    (tmp_path / "data").mkdir()
    arrays = {"train": n_train, "test": n_test}
    np.savez_compressed(
        tmp_path / "data" / "usps.npz",
        **{f"X_{part}": np.zeros((n, n_features), np.int16) for part, n in arrays.items()},
        **{f"y_{part}": np.zeros(n, np.int16) for part, n in arrays.items()},
    )
    monkeypatch.chdir(tmp_path)
    test = doctest.DocTestFinder(recurse=False).find(lookup(name), name, globs={})[0]
    for example in test.examples:
        example.options.pop(doctest.SKIP, None)
    assert len(test.examples) == 3
    assert doctest.DocTestRunner().run(test).failed == 0


def test_modules_that_repeat_others_are_named():
    for alias, home in ALIASES.items():
        assert f"`bayespoint.{alias}`" in API
        names = importlib.import_module(f"bayespoint.{alias}")
        for name in getattr(names, "__all__", ["load_handwritten"]):
            assert getattr(names, name) is getattr(importlib.import_module(home), name)


BROKEN = {
    "index.html": '<a href="other.html#here">1</a><a href="gone.html">2</a><a id="top"></a>'
    '<script src="https://example.org/x.js"></script><a href="https://example.org">fine</a>',
    "other.html": '<p id="there"></p><a href="#nowhere">3</a><a href="../outside.html">4</a>'
    '<style>@import "https://example.org/a.css";</style><img srcset="a.png 1x, b.png 2x">',
    "style.css": "body { background: url(//example.org/font.woff) }",
    "a.png": "",
}


def test_the_checker_finds_what_is_broken(tmp_path):
    for name, text in BROKEN.items():
        (tmp_path / name).write_text(text, "utf-8")
    found = {(file.name, message) for file, message in load_script("check_site").problems(tmp_path)}
    assert found == {
        ("index.html", "missing anchor: other.html#here"),
        ("index.html", "broken link: gone.html"),
        ("index.html", "loads from outside: https://example.org/x.js"),
        ("other.html", "missing anchor: #nowhere"),
        ("other.html", "leaves the site: ../outside.html"),
        ("other.html", "loads from outside: https://example.org/a.css"),
        ("other.html", "broken link: b.png"),
        ("style.css", "loads from outside: //example.org/font.woff"),
    }


def test_the_checker_wants_pages(tmp_path):
    assert load_script("check_site").main(tmp_path) == 1


def test_links_of_files_outside_of_docs_fit_their_pages():
    relink = load_script("_ext/root_pages").relink
    for link, file, page, expected in (
        ("docs/onnx.md#a", "CONTRIBUTING.md", "docs/contributing.md", "onnx.md#a"),
        ("VISION.md", "CONTRIBUTING.md", "docs/contributing.md", "vision.md"),
        ("../docs/notes/ep.md", "benchmarks/README.md", "docs/benchmarks.md", "notes/ep.md"),
        ("../README.md", "docs/tables.md", "docs/tables.md", "index.md"),
        ("../../SECURITY.md", "docs/notes/ep.md", "docs/notes/ep.md", "../security.md"),
        ("results/middle.csv", "benchmarks/README.md", "docs/benchmarks.md",
         "../benchmarks/results/middle.csv"),
    ):  # fmt: skip
        assert relink(f"[x]({link})", file, page) == f"[x]({expected})"
    assert relink("[x](https://a.b/c.md)", "README.md", "docs/index.md") == "[x](https://a.b/c.md)"


def test_docstrings_are_plain_text():
    script = load_script("_ext/docstrings")
    lines = ["`gamma_` |x| and gamma_", ">>> a | b", "", "*args : list_", "f * g"]
    script.escape_lines(lines)
    assert lines == [r"`gamma_` \|x\| and gamma\_", ">>> a | b", "", r"*args : list\_", r"f \* g"]


def test_docstrings_link_papers_to_the_glossary():
    script = load_script("_ext/docstrings")
    link = "`000 <../glossary.html#papers>`__"
    assert script.escape("(000, eq. 27) and 000.") == f"({link}, eq. 27) and {link}."
    assert script.escape("000", root="") == "`000 <glossary.html#papers>`__"
    assert script.escape("1,000 or 0.001, `000`") == "1,000 or 0.001, `000`"
    assert "\n## Papers\n" in (ROOT / "docs" / "glossary.md").read_text("utf-8")


def test_fields_of_named_tuples_are_described():
    script = load_script("_ext/docstrings")
    section = script.describe_fields(lookup("bayespoint.diagnostics.Precision"))
    assert section[3] == "angle : float"
    assert "radians" in section[4]
    assert script.is_named_tuple(lookup("bayespoint.diagnostics.Precision"))
    assert not script.is_named_tuple(dict)
