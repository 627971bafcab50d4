"""Public names, in every way to import them."""

import subprocess
import sys

import pytest

import bayespoint

PUBLIC_MODULES = [
    "bounds",
    "chunks",
    "datasets",
    "diagnostics",
    "digits",
    "displays",
    "distributed",
    "evaluation",
    "model_file",
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
        code += f"assert bayespoint.{name}.__doc__\n"
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
    public = getattr(module, "__all__", [n for n in vars(module) if not n.startswith("_")])
    assert public
    assert all(found[name] is getattr(module, name) for name in public)
