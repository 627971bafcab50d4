"""How good a classifier is on rows that it has not seen."""

from .intervals import Share, exact_interval, share
from .measure import MAX_CURVE_POINTS as MOST_POINTS  # its old name
from .measure import evaluate, evaluate_probabilities
from .model_parts import has_reject_option
from .results import Acceptance, Evaluation, Promise, Reliability
from .targets import is_missing

__all__ = [
    "MOST_POINTS",
    "Acceptance",
    "Evaluation",
    "Promise",
    "Reliability",
    "Share",
    "evaluate",
    "evaluate_probabilities",
    "exact_interval",
    "has_reject_option",
    "is_missing",
    "share",
]
