"""The types that a model file may hold: a short list, with no functions and no code."""

from __future__ import annotations

import importlib
import re
from typing import Any

import numpy as np
from scipy import sparse

from .state_checks import CHECKS

# Types whose attributes a file may hold, by the module that exports them. A type belongs here
# only if its methods do arithmetic with the attributes: they call no function and open no file.
TYPES_OF_MODULE = {
    "bayespoint": [
        "AdaptiveMarginSVC",
        "BayesPointClassifier",
        "LinearBayesPointClassifier",
        "LinearMarginSVC",
        "LinearProgramSVC",
        "OnionClassifier",
        "RejectOptionClassifier",
    ],
    "bayespoint.classifiers._learned_rows": ["LearnedRows"],
    "bayespoint.geometry.columns": ["Columns"],
    "bayespoint.geometry.mixture": ["Mixture", "Views"],
    "bayespoint.solvers": [
        "EP",
        "Billiard",
        "Cells",
        "Corners",
        "Gibbs",
        "LargestBall",
        "Mosaic",
        "Nystroem",
        "Perceptron",
        "Regression",
    ],
    "sklearn.compose": ["ColumnTransformer"],
    "sklearn.feature_extraction.text": ["TfidfTransformer", "TfidfVectorizer"],
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
MODULE_OF_TYPE = {name: module for module, names in TYPES_OF_MODULE.items() for name in names}

# Classes that a parameter may be, such as OneHotEncoder's dtype, and types of NumPy's scalars.
_NUMBERS = "bool_ int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64"
CLASSES: dict[str, type] = {
    **{f"numpy.{name}": getattr(np, name) for name in (*_NUMBERS.split(), "str_", "object_")},
    **{kind.__name__: kind for kind in (bool, int, float, str, object)},
}
CLASS_NAMES = {kind: name for name, kind in CLASSES.items()}

SPARSE_TYPES: dict[str, Any] = {
    kind.__name__: kind
    for kind in (sparse.csr_array, sparse.csr_matrix, sparse.csc_array, sparse.csc_matrix)
}

ARRAY_DTYPE = re.compile(r"[<>|][biuf](1|2|4|8)|[<>]U[1-9][0-9]{0,8}")
OBJECT_DTYPE = "|O"
# 32-bit numbers in the state of the Mersenne Twister.
TWISTER_WORDS = 624
# Levels of nested lists. A pipeline in a pipeline needs four.
MAX_DEPTH = 100


def find_type(name: str) -> type | None:
    """Return the type of this name, or None if the list has no such type."""
    if name not in MODULE_OF_TYPE:
        return None
    return getattr(importlib.import_module(MODULE_OF_TYPE[name]), name, None)


def check_object(value: Any) -> None:
    """Refuse attributes that make an object open a file or read beyond its arrays."""
    if getattr(value, "memory", None) is not None:
        raise ValueError("its memory should be None: a cache is a folder of pickles")
    check = CHECKS.get(type(value).__name__)
    if check is not None:
        check(value)
