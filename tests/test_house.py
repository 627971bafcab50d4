"""The tree keeps the house rules: rooms, lengths, a test file for each module, public names."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import bayespoint

PACKAGE = Path(bayespoint.__file__).parent
TESTS = Path(__file__).parent
MODULES = {path.relative_to(PACKAGE).as_posix(): path for path in sorted(PACKAGE.rglob("*.py"))}

MAX_ROOMS = 14
MAX_FILE_LINES = 400
MAX_FUNCTION_LINES = 60

# Folders in which every module is tested by one file, and why.
TESTED_TOGETHER = {}
# To be emptied.
LONG_FILES = {
    "cli/app.py",
    "solvers/billiard.py",
}
LONG_FUNCTIONS = {
    "bounds/capacity.py",
    "bounds/margin_distribution.py",
    "bounds/pac_bayes.py",
    "io/tables/chunks.py",
    "solvers/onion.py",
    "solvers/published.py",
}


def functions_of(module):
    tree = ast.parse(MODULES[module].read_text("utf-8"))
    return [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]


def has_test_file(module):
    """Whether a/b.py has a/test_b.py; the module of a folder may also have it beside the folder."""
    path = TESTS / module
    if path.name != "__init__.py":
        return (path.parent / f"test_{path.stem.strip('_')}.py").exists()
    folder = path.parent
    names = [folder / f"test_{folder.name}.py", folder.parent / f"test_{folder.name}.py"]
    return any(name.exists() for name in names)


def test_at_most_fourteen_rooms():
    rooms = [path.name for path in PACKAGE.iterdir() if (path / "__init__.py").exists()]
    files = {path.name for path in PACKAGE.iterdir() if path.is_file()}
    assert len(rooms) <= MAX_ROOMS, rooms
    assert files <= {"__init__.py", "__main__.py", "py.typed"}


def test_files_are_short():
    lines = {name: len(path.read_text("utf-8").splitlines()) for name, path in MODULES.items()}
    long = {name: n for name, n in lines.items() if n > MAX_FILE_LINES}
    assert set(long) <= LONG_FILES, long


def test_functions_are_short():
    """Outside of compiled loops, where a call can cost speed."""
    long = {
        (module, function.name): lines
        for module in MODULES
        if not module.startswith("_jit/")
        for function in functions_of(module)
        if (lines := function.end_lineno - function.lineno + 1) > MAX_FUNCTION_LINES
    }
    assert {module for module, _ in long} <= LONG_FUNCTIONS, long


def test_every_module_with_functions_has_a_test_file():
    missing = {module for module in MODULES if functions_of(module) and not has_test_file(module)}
    if missing - set(TESTED_TOGETHER):
        pytest.xfail(f"{len(missing)} to go: {sorted(missing)}")


# Public names


PUBLIC_MODULES = [
    "bounds",
    "chunks",
    "datasets",
    "displays",
    "distributed",
    "evaluation",
    "solvers",
]


@pytest.mark.parametrize("name", bayespoint.__all__)
def test_public_names(name):
    assert name in dir(bayespoint)
    names = {}
    exec(f"from bayespoint import {name}", names)
    assert names[name] is getattr(bayespoint, name)


def test_public_modules_are_attributes_after_a_bare_import():
    code = "import bayespoint\n"
    for name in PUBLIC_MODULES:
        code += f"assert bayespoint.{name}.__all__\n"
        code += f"assert {name!r} in dir(bayespoint)\n"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("name", PUBLIC_MODULES)
@pytest.mark.parametrize(
    "statement",
    [
        "import bayespoint.{0} as it",
        "from bayespoint import {0} as it",
        "from bayespoint.{0} import *",
    ],
)
def test_ways_to_import_public_modules(name, statement):
    names = {}
    exec(statement.format(name), names)
    module = getattr(bayespoint, name)
    found = vars(names["it"]) if "it" in names else names
    assert all(found[public] is getattr(module, public) for public in module.__all__)
