import importlib
import inspect

import pytest

from bayespoint.io.models.foreign_types import (
    TRUSTED_TYPES,
    TYPES_OF_LOADER,
    library_names,
    untrusted_types,
)
from foreign_helpers import node


def test_no_function_and_no_type_with_functions_is_trusted():
    """Some of these take a function as a parameter, but no function is on the list."""
    for module, names in TRUSTED_TYPES.items():
        for name in names.split():
            kind = getattr(importlib.import_module(module), name, None)
            assert kind is None or inspect.isclass(kind), name
    every = " ".join(TRUSTED_TYPES.values()).split()
    for name in ("TfidfVectorizer", "KDTree", "SVC", "GradientBoostingClassifier"):
        assert name not in every
    assert not any("exec" in name or "eval" in name for names in TYPES_OF_LOADER.values()
                   for name in names)  # fmt: skip


@pytest.mark.parametrize(
    ("loader", "kind", "fine"),
    [
        ("ObjectNode", "sklearn.ensemble._forest.RandomForestClassifier", True),
        ("ObjectNode", "sklearn.ensemble.RandomForestClassifier", True),
        ("ObjectNode", "sklearn.ensembles.RandomForestClassifier", False),
        ("ObjectNode", "evil.sklearn.ensemble.RandomForestClassifier", False),
        ("ListNode", "sklearn.ensemble._forest.RandomForestClassifier", False),
        ("TypeNode", "sklearn.ensemble._forest.RandomForestClassifier", False),
        ("DictNode", "sklearn.utils._bunch.Bunch", True),
        ("LossNode", "sklearn._loss._loss.CyHalfBinomialLoss", True),
        ("LossNode", "sklearn._loss._loss.CyPinballLoss", False),
        ("NdArrayNode", "numpy.ndarray", True),
        ("NdArrayNode", "numpy.memmap", False),
        ("CachedNode", "builtins.anything", True),
        ("ObjectNode", "builtins.list", False),
    ],
)
def test_a_type_is_trusted_for_one_way_of_loading(loader, kind, fine):
    schema = {"content": [node(loader, kind)]}
    assert untrusted_types(schema, []) == (set() if fine else {kind})
    assert untrusted_types(schema, [kind]) == set()


def test_libraries_that_are_noted():
    schema = [node("ObjectNode", "lightgbm.sklearn.LGBMClassifier"), node("x", "numpy.ndarray")]
    assert library_names(schema) == {"lightgbm"}
