"""Solvers: each takes a version space and returns a posterior."""

from .billiard import Billiard
from .posterior import Posterior

__all__ = ["Billiard", "Posterior"]
