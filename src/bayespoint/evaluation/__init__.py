"""How good a classifier is on rows that it has not seen."""

from .evaluation import (
    Acceptance,
    Evaluation,
    Promise,
    Reliability,
    Share,
    evaluate,
    evaluate_probabilities,
    exact_interval,
)

__all__ = [
    "Acceptance",
    "Evaluation",
    "Promise",
    "Reliability",
    "Share",
    "evaluate",
    "evaluate_probabilities",
    "exact_interval",
]
