"""Warnings that point to the user's line."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import joblib
import sklearn

# Code that stands between the user and the place that warns.
_FILES = (str(Path(__file__).parent), str(joblib.__file__), str(sklearn.__file__))
_BETWEEN = tuple(str(Path(file).parent) for file in _FILES)


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the line, outside this package and scikit-learn, from which it was called."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_BETWEEN):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
