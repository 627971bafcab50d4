"""Public module names whose code lives deeper in the package."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType


class AliasFinder(MetaPathFinder, Loader):
    """Import modules under a second name: both names give the same module.

    Parameters
    ----------
    homes : dict
        Full names of the modules, by their aliases. Submodules come along.
    """

    def __init__(self, homes: dict[str, str]):
        self.homes = homes

    def find_spec(self, fullname, path=None, target=None) -> ModuleSpec | None:
        """Return how to import an alias; None for all other names."""
        for alias, home in self.homes.items():
            if fullname == alias or fullname.startswith(f"{alias}."):
                return ModuleSpec(fullname, self, origin=home + fullname[len(alias) :])
        return None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return the module itself, imported by its own name if necessary."""
        module = import_module(str(spec.origin))
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Give the module its own spec back; relative imports inside it depend on it."""
        if module.__spec__ is not None and module.__spec__.loader is self:
            module.__spec__ = module.__spec__.loader_state


def add_aliases(package: str, homes: dict[str, str]) -> None:
    """Make `package.alias` another name of `package.home`, without importing it."""
    full = {f"{package}.{alias}": f"{package}.{home}" for alias, home in homes.items()}
    # Before Python's own finders: these would import a submodule of an alias a second time.
    sys.meta_path.insert(0, AliasFinder(full))
