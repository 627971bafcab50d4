"""Solvers: from a version space, Gram rows or features to a posterior."""

from .billiard import Billiard
from .cells import Cells
from .corners import Corners
from .ep import EP
from .gibbs import Gibbs
from .largest_ball import LargestBall
from .mosaic import Mosaic
from .nystroem import Nystroem
from .perceptron import Perceptron
from .posterior import Posterior
from .regression import Regression

__all__ = [
    "EP",
    "Billiard",
    "Cells",
    "Corners",
    "Gibbs",
    "LargestBall",
    "Mosaic",
    "Nystroem",
    "Perceptron",
    "Posterior",
    "Regression",
]
