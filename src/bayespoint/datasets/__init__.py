"""Data with known answers, and the data of the papers."""

from .digits import load_handwritten
from .known_answers import make_orthant, make_teacher, make_wedge
from .paper_data import PAPER_DATA, load_paper_data
from .sources import DATA_VARIABLE, fetch_arrays
from .two_gaussians import TwoGaussians

__all__ = [
    "DATA_VARIABLE",
    "PAPER_DATA",
    "TwoGaussians",
    "fetch_arrays",
    "load_handwritten",
    "load_paper_data",
    "make_orthant",
    "make_teacher",
    "make_wedge",
]
