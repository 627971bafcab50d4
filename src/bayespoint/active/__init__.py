"""Ask for the labels that matter most, and say when there are enough."""

from .answers import UNKNOWN, Action
from .outcome import Predictions
from .promise import Certificate
from .query import query
from .session import Session
from .summary import Summary

__all__ = ["UNKNOWN", "Action", "Certificate", "Predictions", "Session", "Summary", "query"]
