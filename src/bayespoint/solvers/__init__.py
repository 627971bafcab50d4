"""Solvers: from a version space, or rows of a Gram matrix, to a posterior."""

from .billiard import Billiard
from .corners import Corners
from .ep import EP
from .gibbs import Gibbs
from .perceptron import Perceptron
from .posterior import Posterior

__all__ = ["EP", "Billiard", "Corners", "Gibbs", "Perceptron", "Posterior"]
