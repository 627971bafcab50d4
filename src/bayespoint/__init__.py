"""Bayes point machines: classify by the mean of all consistent hypotheses."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from ._runtime.aliases import add_aliases

if TYPE_CHECKING:
    from . import active as active
    from . import bounds as bounds
    from . import datasets as datasets
    from . import distributed as distributed
    from . import evaluation as evaluation
    from . import solvers as solvers
    from .classifiers.adaptive_margin import AdaptiveMarginSVC as AdaptiveMarginSVC
    from .classifiers.bayes_point import BayesPointClassifier as BayesPointClassifier
    from .classifiers.linear import LinearBayesPointClassifier as LinearBayesPointClassifier
    from .classifiers.linear_margin import LinearMarginSVC as LinearMarginSVC
    from .classifiers.linear_program import LinearProgramSVC as LinearProgramSVC
    from .classifiers.onion import OnionClassifier as OnionClassifier
    from .classifiers.reject.certificate import Certificate as Certificate
    from .classifiers.reject.curve import rejection_curve as rejection_curve
    from .classifiers.reject.option import RejectOptionClassifier as RejectOptionClassifier
    from .evaluation import displays as displays
    from .evaluation.displays import DecisionConfidenceDisplay as DecisionConfidenceDisplay
    from .evaluation.displays import RejectionCurveDisplay as RejectionCurveDisplay
    from .evaluation.displays import TrajectoryDisplay as TrajectoryDisplay
    from .evaluation.displays import VersionSpaceDisplay as VersionSpaceDisplay
    from .evaluation.report import write_report as write_report
    from .io.arviz import to_arviz as to_arviz
    from .io.models.model_file import load as load
    from .io.models.model_file import save as save
    from .io.onnx import to_onnx as to_onnx
    from .io.tables import chunks as chunks

__version__ = "0.1.0"

# The module that defines each public name. It is imported when the name is first used.
_HOME = {
    "AdaptiveMarginSVC": "classifiers.adaptive_margin",
    "BayesPointClassifier": "classifiers.bayes_point",
    "Certificate": "classifiers.reject.certificate",
    "DecisionConfidenceDisplay": "evaluation.displays",
    "LinearBayesPointClassifier": "classifiers.linear",
    "LinearMarginSVC": "classifiers.linear_margin",
    "LinearProgramSVC": "classifiers.linear_program",
    "OnionClassifier": "classifiers.onion",
    "RejectOptionClassifier": "classifiers.reject.option",
    "RejectionCurveDisplay": "evaluation.displays",
    "TrajectoryDisplay": "evaluation.displays",
    "VersionSpaceDisplay": "evaluation.displays",
    "load": "io.models.model_file",
    "rejection_curve": "classifiers.reject.curve",
    "save": "io.models.model_file",
    "to_arviz": "io.arviz",
    "to_onnx": "io.onnx",
    "write_report": "evaluation.report",
}
# Public modules that are attributes of the package without an import of their own.
_MODULES = {
    "active": "active",
    "bounds": "bounds",
    "chunks": "io.tables.chunks",
    "datasets": "datasets",
    "diagnostics": "evaluation.diagnostics",
    "digits": "datasets.digits",
    "displays": "evaluation.displays",
    "distributed": "distributed",
    "evaluation": "evaluation",
    "model_file": "io.models.model_file",
    "solvers": "solvers",
}

__all__ = [
    "AdaptiveMarginSVC",
    "BayesPointClassifier",
    "Certificate",
    "DecisionConfidenceDisplay",
    "LinearBayesPointClassifier",
    "LinearMarginSVC",
    "LinearProgramSVC",
    "OnionClassifier",
    "RejectOptionClassifier",
    "RejectionCurveDisplay",
    "TrajectoryDisplay",
    "VersionSpaceDisplay",
    "__version__",
    "active",
    "bounds",
    "load",
    "rejection_curve",
    "save",
    "solvers",
    "to_arviz",
    "to_onnx",
    "write_report",
]


def __getattr__(name: str):
    if name in _MODULES:
        return importlib.import_module(f".{_MODULES[name]}", __name__)
    if name in _HOME:
        return getattr(importlib.import_module(f".{_HOME[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted({*__all__, *_MODULES})


# `from bayespoint.chunks import read_chunks` works, although it lives in io/tables.
add_aliases(__name__, {name: home for name, home in _MODULES.items() if name != home})
