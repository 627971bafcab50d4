"""What a model file may hold: types of a short list, no functions, no code."""

from __future__ import annotations

import importlib
import re
from typing import Any

import numpy as np
from scipy import sparse

from .state_checks import CHECKS

# Whose attributes a file may hold, and where they live. A type belongs here if no method of it
# does more with its attributes than arithmetic: calls no function, opens no file.
HOMES = {
    "bayespoint": [
        "AdaptiveMarginSVC",
        "BayesPointClassifier",
        "LinearBayesPointClassifier",
        "LinearMarginSVC",
        "LinearProgramSVC",
        "OnionClassifier",
        "RejectOptionClassifier",
    ],
    "bayespoint.solvers": ["EP", "Billiard", "Cells", "Corners", "Gibbs", "Nystroem", "Perceptron"],
    "sklearn.compose": ["ColumnTransformer"],
    "sklearn.frozen": ["FrozenEstimator"],
    "sklearn.impute": ["MissingIndicator", "SimpleImputer"],
    "sklearn.model_selection": ["KFold", "StratifiedKFold"],
    "sklearn.pipeline": ["Pipeline"],
    "sklearn.preprocessing": [
        "MaxAbsScaler",
        "MinMaxScaler",
        "Normalizer",
        "OneHotEncoder",
        "RobustScaler",
        "StandardScaler",
    ],
}
HOME = {name: home for home, names in HOMES.items() for name in names}

# What parameters like OneHotEncoder's dtype may be, and numbers that are not Python's own.
_NUMBERS = "bool_ int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64"
CLASSES: dict[str, type] = {
    **{f"numpy.{name}": getattr(np, name) for name in (*_NUMBERS.split(), "str_", "object_")},
    **{kind.__name__: kind for kind in (bool, int, float, str, object)},
}
CLASS_NAMES = {kind: name for name, kind in CLASSES.items()}

SPARSE: dict[str, Any] = {
    kind.__name__: kind
    for kind in (sparse.csr_array, sparse.csr_matrix, sparse.csc_array, sparse.csc_matrix)
}

DTYPE = re.compile(r"[<>|][biuf](1|2|4|8)|[<>]U[1-9][0-9]{0,8}")
OBJECTS = "|O"
MAX_DEPTH = 100  # of lists in lists; a pipeline in a pipeline is four


def find_type(name: str) -> type | None:
    """Return the type of that name on the list."""
    return getattr(importlib.import_module(HOME[name]), name, None) if name in HOME else None


def check_object(value: Any) -> None:
    """Refuse what would make an object do more than arithmetic, or arithmetic elsewhere."""
    if getattr(value, "memory", None) is not None:
        raise ValueError("its memory should be None: a cache is a folder of pickles")
    check = CHECKS.get(type(value).__name__)
    if check is not None:
        check(value)
