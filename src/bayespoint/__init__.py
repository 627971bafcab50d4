"""Bayes point machines: classify by the mean of all consistent hypotheses."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from . import bounds as bounds
    from . import solvers as solvers
    from .classifier import BayesPointClassifier as BayesPointClassifier
    from .displays import DecisionConfidenceDisplay as DecisionConfidenceDisplay
    from .displays import RejectionCurveDisplay as RejectionCurveDisplay
    from .displays import TrajectoryDisplay as TrajectoryDisplay
    from .displays import VersionSpaceDisplay as VersionSpaceDisplay
    from .export import to_arviz as to_arviz
    from .hyperplane import LinearMarginSVC as LinearMarginSVC
    from .linear import LinearBayesPointClassifier as LinearBayesPointClassifier
    from .margin import AdaptiveMarginSVC as AdaptiveMarginSVC
    from .margin import LinearProgramSVC as LinearProgramSVC
    from .model_file import load as load
    from .model_file import save as save
    from .onion import OnionClassifier as OnionClassifier
    from .onnx_export import to_onnx as to_onnx
    from .reject import RejectOptionClassifier as RejectOptionClassifier
    from .reject import rejection_curve as rejection_curve
    from .report import write_report as write_report

__version__ = "0.1.0"

# Where each public name lives; it is imported when it is first used.
_HOME = {
    "AdaptiveMarginSVC": "margin",
    "BayesPointClassifier": "classifier",
    "DecisionConfidenceDisplay": "displays",
    "LinearBayesPointClassifier": "linear",
    "LinearMarginSVC": "hyperplane",
    "LinearProgramSVC": "margin",
    "OnionClassifier": "onion",
    "RejectOptionClassifier": "reject",
    "RejectionCurveDisplay": "displays",
    "TrajectoryDisplay": "displays",
    "VersionSpaceDisplay": "displays",
    "bounds": "",
    "load": "model_file",
    "rejection_curve": "reject",
    "save": "model_file",
    "solvers": "",
    "to_arviz": "export",
    "to_onnx": "onnx_export",
    "write_report": "report",
}

__all__ = [
    "AdaptiveMarginSVC",
    "BayesPointClassifier",
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
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = _HOME[name]
    module = importlib.import_module(f".{home or name}", __name__)
    return getattr(module, name) if home else module


def __dir__():
    return sorted(__all__)
