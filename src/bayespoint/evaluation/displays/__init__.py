"""Displays of classifiers in scikit-learn's manner, and their look; they need matplotlib."""

from .decision_confidence import DecisionConfidenceDisplay
from .rejection_curve import RejectionCurveDisplay
from .style import use_style
from .trajectory import TrajectoryDisplay
from .version_space import VersionSpaceDisplay

__all__ = [
    "DecisionConfidenceDisplay",
    "RejectionCurveDisplay",
    "TrajectoryDisplay",
    "VersionSpaceDisplay",
    "use_style",
]
