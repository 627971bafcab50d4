"""A module under two names is one module."""

import importlib
import importlib.util
import subprocess
import sys
from unittest import mock

import pytest

import bayespoint
import bayespoint.chunks
import bayespoint.displays
from bayespoint._runtime.aliases import AliasFinder

ALIASES = {name: home for name, home in bayespoint._MODULES.items() if name != home}


@pytest.mark.parametrize("name", ALIASES)
def test_both_names_are_the_same_module(name):
    pytest.importorskip("matplotlib")
    alias = importlib.import_module(f"bayespoint.{name}")
    home = importlib.import_module(f"bayespoint.{ALIASES[name]}")
    assert alias is home is getattr(bayespoint, name) is sys.modules[f"bayespoint.{name}"]
    assert alias.__name__ == home.__spec__.name == f"bayespoint.{ALIASES[name]}"
    assert importlib.util.find_spec(f"bayespoint.{name}") is not None


def test_submodules_of_an_alias_are_not_imported_twice():
    one = importlib.import_module("bayespoint.displays.trajectory")
    two = importlib.import_module("bayespoint.evaluation.displays.trajectory")
    assert one is two


def test_what_is_patched_under_one_name_is_patched_under_the_other():
    with mock.patch("bayespoint.chunks.read_chunks", 5):
        assert importlib.import_module("bayespoint.io.tables.chunks").read_chunks == 5


def test_an_alias_can_be_reloaded():
    assert importlib.reload(bayespoint.chunks) is bayespoint.chunks


def test_a_bare_import_loads_nothing_of_them():
    code = (
        "import sys, bayespoint; sys.exit(any(m.startswith('bayespoint.io') for m in sys.modules))"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_name_that_does_not_exist_is_the_usual_error():
    with pytest.raises(ModuleNotFoundError, match=r"bayespoint\.chunk'"):
        importlib.import_module("bayespoint.chunk")
    with pytest.raises(ModuleNotFoundError, match="nowhere"):
        importlib.import_module("bayespoint.displays.nowhere")


def test_other_modules_are_left_to_python():
    finder = AliasFinder({"a.b": "a.c.d"})
    assert finder.find_spec("a.bc") is None
    assert finder.find_spec("a.b.x").origin == "a.c.d.x"
