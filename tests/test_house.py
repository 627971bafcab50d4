"""The tree keeps the house rules: rooms, lengths, a test file for each module."""

import ast
from pathlib import Path

import bayespoint

PACKAGE = Path(bayespoint.__file__).parent
TESTS = Path(__file__).parent
MODULES = {path.relative_to(PACKAGE).as_posix(): path for path in sorted(PACKAGE.rglob("*.py"))}

MAX_ROOMS = 15
MAX_FILE_LINES = 400
MAX_FUNCTION_LINES = 60


def functions_of(module):
    tree = ast.parse(MODULES[module].read_text("utf-8"))
    return [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]


def has_test_file(module):
    """Return whether a/b.py has a/test_b.py; for a folder, the file may also be beside it."""
    path = TESTS / module
    if path.name != "__init__.py":
        return (path.parent / f"test_{path.stem.strip('_')}.py").exists()
    folder = MODULES[module].parent
    places = [path.parent, path.parent.parent]
    return any((place / f"test_{folder.name}.py").exists() for place in places)


def test_at_most_fifteen_rooms():
    rooms = [path.name for path in PACKAGE.iterdir() if (path / "__init__.py").exists()]
    files = {path.name for path in PACKAGE.iterdir() if path.is_file()}
    assert len(rooms) <= MAX_ROOMS, rooms
    assert files <= {"__init__.py", "__main__.py", "py.typed"}


def test_files_are_short():
    lines = {name: len(path.read_text("utf-8").splitlines()) for name, path in MODULES.items()}
    long = {name: n for name, n in lines.items() if n > MAX_FILE_LINES}
    assert not long


def length_of(function):
    """Return the number of lines, without the example of the docstring."""
    _, heading, example = (ast.get_docstring(function) or "").partition("\nExamples\n------")
    return function.end_lineno - function.lineno + 1 - len((heading + example).splitlines())


def test_functions_are_short():
    """Compiled loops are exempt, because a call can cost speed there."""
    long = {
        (module, function.name): lines
        for module in MODULES
        if not module.startswith("_jit/")
        for function in functions_of(module)
        if (lines := length_of(function)) > MAX_FUNCTION_LINES
    }
    assert not long


def test_every_module_with_functions_has_a_test_file():
    missing = {module for module in MODULES if functions_of(module) and not has_test_file(module)}
    assert not missing
