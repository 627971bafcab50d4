"""Types of other libraries that a model file may hold, by the way skops loads them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

# Types of scikit-learn that are trusted, by module; private modules of it count too. They open no
# files and call no attribute that is not a type on this page, and what their compiled code assumes
# about attributes is checked (foreign_checks.py) or checked by NumPy.
TRUSTED_TYPES = {
    "sklearn.calibration": "CalibratedClassifierCV _CalibratedClassifier _SigmoidCalibration",
    "sklearn.compose": "ColumnTransformer _RemainderColsList",
    "sklearn.decomposition": "PCA TruncatedSVD",
    "sklearn.discriminant_analysis": "LinearDiscriminantAnalysis QuadraticDiscriminantAnalysis",
    "sklearn.dummy": "DummyClassifier",
    "sklearn.ensemble": "AdaBoostClassifier BaggingClassifier ExtraTreesClassifier "
    "HistGradientBoostingClassifier RandomForestClassifier StackingClassifier VotingClassifier "
    "TreePredictor _BinMapper",
    "sklearn.frozen": "FrozenEstimator",
    "sklearn.gaussian_process": "GaussianProcessClassifier _BinaryGaussianProcessClassifierLaplace "
    "CompoundKernel ConstantKernel DotProduct Exponentiation Matern Product RBF RationalQuadratic "
    "Sum WhiteKernel",
    "sklearn.impute": "MissingIndicator SimpleImputer",
    "sklearn.isotonic": "IsotonicRegression",
    "sklearn.linear_model": "LogisticRegression LogisticRegressionCV PassiveAggressiveClassifier "
    "Perceptron RidgeClassifier SGDClassifier",
    "sklearn.model_selection": "KFold StratifiedKFold",
    "sklearn.multiclass": "OneVsOneClassifier OneVsRestClassifier _ConstantPredictor",
    "sklearn.naive_bayes": "BernoulliNB CategoricalNB ComplementNB GaussianNB MultinomialNB",
    "sklearn.neighbors": "NearestCentroid",
    "sklearn.neural_network": "AdamOptimizer MLPClassifier SGDOptimizer",
    "sklearn.pipeline": "FeatureUnion Pipeline",
    "sklearn.preprocessing": "FunctionTransformer KBinsDiscretizer LabelBinarizer LabelEncoder "
    "MaxAbsScaler MinMaxScaler Normalizer OneHotEncoder OrdinalEncoder PolynomialFeatures "
    "PowerTransformer QuantileTransformer RobustScaler StandardScaler",
    "sklearn.svm": "LinearSVC",
    "sklearn.tree": "DecisionTreeClassifier DecisionTreeRegressor ExtraTreeClassifier",
    "sklearn._loss": "CyHalfBinomialLoss CyHalfMultinomialLoss HalfBinomialLoss "
    "HalfMultinomialLoss Interval LogitLink MultinomialLogit",
}
_NUMBERS = "bool bool_ int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64"
_NUMPY = {f"numpy.{name}" for name in f"{_NUMBERS} str_ object_".split()}
_PLAIN = {f"builtins.{name}" for name in ["NoneType", "bool", "float", "int", "str", "object"]}
# Words in the pool of a random seed: NumPy takes 4.
MAX_POOL_WORDS = 64
BIT_GENERATORS = {"MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64"}
# What a node that skops loads may be. A list must be a list: skops would call any other type.
TYPES_OF_LOADER = {
    "DictNode": {"builtins.dict", "collections.OrderedDict"},
    "ListNode": {"builtins.list"},
    "SetNode": {"builtins.set", "builtins.frozenset"},
    "TupleNode": {"builtins.tuple"},
    "SliceNode": {"builtins.slice"},
    "JsonNode": _PLAIN,
    "TypeNode": _PLAIN | _NUMPY,
    "DTypeNode": _NUMPY | {"numpy.dtype"},
    "NdArrayNode": _NUMPY | {"numpy.ndarray"},
    "RandomStateNode": {"numpy.random.mtrand.RandomState"},
    "RandomGeneratorNode": {"numpy.random._generator.Generator"},
    "TreeNode": {"sklearn.tree._tree.Tree"},
}
# Names of types in modules that changed between versions of scikit-learn, scipy and numpy.
PREFIXES_OF_LOADER = {
    "DictNode": ("sklearn.utils.", {"Bunch"}),
    "DTypeNode": ("numpy.dtypes.", None),
    "LossNode": ("sklearn.", {"Hinge", "Log", "ModifiedHuber", "SquaredHinge", "SquaredLoss"}),
    "SparseMatrixNode": (
        "scipy.sparse.",
        {"csr_matrix", "csr_array", "csc_matrix", "csc_array"},
    ),
}


def untrusted_types(schema: Any, trusted: Iterable[str]) -> set[str]:
    """Return the names of all types that a schema of skops would load, and nobody trusts."""
    _check_numbers(schema)
    known = set(trusted)
    found = {_name(node) for node in nodes_of(schema) if not _is_safe(node, _name(node))}
    return found - known


def all_types(schema: Any) -> set[str]:
    """Return the names of all types that a schema has."""
    return {_name(node) for node in nodes_of(schema)}


def library_names(schema: Any) -> set[str]:
    """Return the packages whose types a schema has, besides NumPy, SciPy and scikit-learn."""
    roots = {str(node["__module__"]).partition(".")[0] for node in nodes_of(schema)}
    return roots - {"builtins", "collections", "numpy", "scipy", "sklearn"}


def _name(node: dict) -> str:
    return f"{node['__module__']}.{node['__class__']}"


def nodes_of(schema: Any) -> Iterator[dict]:
    """Yield every node; raise if something looks like one and is not."""
    waiting = [schema]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            if {"__loader__", "__class__", "__module__"} & value.keys():
                names = [value.get(k) for k in ("__loader__", "__class__", "__module__")]
                if not all(isinstance(name, str) for name in names):
                    raise ValueError("its skops part has a node without a type")
                yield value
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value


def _is_safe(node: dict, name: str) -> bool:
    """Tell whether skops may load a node without anybody's trust."""
    loader, kind = node["__loader__"], node["__class__"]
    if loader == "CachedNode":  # names another node, which is judged itself
        return True
    if loader == "RandomGeneratorNode" and _bit_generator(node) not in BIT_GENERATORS:
        raise ValueError("the name of its random number generator is impossible")
    if name in TYPES_OF_LOADER.get(loader, ()):
        return True
    prefix, kinds = PREFIXES_OF_LOADER.get(loader, (None, None))
    if prefix is not None and name.startswith(prefix) and (kinds is None or kind in kinds):
        return True
    if loader == "LossNode" and not kind.startswith("Cy"):
        return False
    return loader in ("ObjectNode", "LossNode") and any(
        name.startswith(f"{module}.") and kind in kinds.split()
        for module, kinds in TRUSTED_TYPES.items()
    )


def _check_numbers(schema: Any) -> None:
    """Check the pools of random seeds, whose mixing takes the square of their size."""
    contents: dict[Any, Any] = {}
    for node in nodes_of(schema):
        # skops reads a node once, and takes it again wherever its id comes.
        name, is_number = node.get("__id__"), node["__loader__"] == "JsonNode"
        if name is not None and node["__loader__"] != "CachedNode":
            content = node.get("content") if is_number else None
            if contents.setdefault(name, content) != content:
                raise ValueError("its skops part has two values of one name")
        inner = node.get("content")
        pool = inner.get("pool_size") if isinstance(inner, dict) else None
        if pool is not None and not (
            pool["__loader__"] == "JsonNode" and 0 < int(pool["content"]) <= MAX_POOL_WORDS
        ):
            raise ValueError("the pool of its random number generator is impossible")


def _bit_generator(node: dict) -> Any:
    """Return the name of a generator, which skops looks up and calls."""
    return json.loads(node["content"]["bit_generator"]["content"]["bit_generator"]["content"])
