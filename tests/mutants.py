"""Compiled loops that are broken on purpose: tests of a law must notice."""

import hashlib
import importlib.util
import inspect
import os
import sys
import tempfile
from pathlib import Path
from types import ModuleType


def changed_source(module: ModuleType, before: str, after: str) -> str:
    """Return the source of a module with one passage replaced."""
    source = inspect.getsource(module)
    assert source.count(before) == 1, f"{before!r} should occur once in {module.__name__}"
    return source.replace(before, after)


def mutant(module: ModuleType, before: str, after: str) -> ModuleType:
    """Return a copy of a compiled module with one passage replaced.

    The copy is a file of its own, so numba caches its loops like the correct ones.
    """
    source = changed_source(module, before, after)
    digest = hashlib.sha256(source.encode()).hexdigest()[:16]
    folder = Path(os.environ.get("NUMBA_CACHE_DIR") or tempfile.gettempdir()) / "mutants"
    folder.mkdir(exist_ok=True)
    # Write the file in one step, because another process may write the same file.
    path = folder / f"{module.__name__.rpartition('.')[2]}_{digest}.py"
    draft = path.with_suffix(f".{os.getpid()}")
    draft.write_text(source, "utf-8")
    draft.replace(path)
    spec = importlib.util.spec_from_file_location(f"{module.__package__}.{path.stem}", path)
    copy = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = copy  # numba looks here for the module of a cached loop
    spec.loader.exec_module(copy)
    return copy


def interpreted(module: ModuleType, before: str = "", after: str = "") -> ModuleType:
    """Return a compiled module as plain Python, optionally with one passage replaced."""
    source = changed_source(module, before, after) if before else inspect.getsource(module)
    copy = ModuleType("interpreted")
    copy.__package__ = module.__package__
    copy.njit = lambda **options: lambda function: function
    exec(source.replace("from .compiler import njit", ""), copy.__dict__)
    return copy
