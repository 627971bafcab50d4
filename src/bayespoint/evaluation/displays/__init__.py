"""Displays of classifiers in scikit-learn's style; they need matplotlib."""

from .decision_confidence import DecisionConfidenceDisplay
from .rejection_curve import RejectionCurveDisplay
from .trajectory import TrajectoryDisplay
from .version_space import VersionSpaceDisplay

__all__ = [
    "DecisionConfidenceDisplay",
    "RejectionCurveDisplay",
    "TrajectoryDisplay",
    "VersionSpaceDisplay",
]
