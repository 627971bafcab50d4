"""Data with known answers, and the data of the papers."""

from .digits import load_handwritten
from .tables import (
    DATA_VARIABLE,
    PAPER_DATA,
    TwoGaussians,
    fetch_arrays,
    load_paper_data,
    make_orthant,
    make_teacher,
    make_wedge,
)

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
