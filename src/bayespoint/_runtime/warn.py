"""Make warnings point to the user's line."""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path

import joblib
import sklearn

# Code between the user's line and the place that warns: this package, joblib, scikit-learn.
_INNER_FOLDERS = tuple(
    str(folder) + os.sep
    for folder in (
        Path(__file__).parent.parent,
        Path(joblib.__file__).parent,
        Path(sklearn.__file__).parent,
    )
)


def warn(message: str | Warning, category: type[Warning] = UserWarning) -> None:
    """Warn at the user's line: the last one outside this package, joblib and scikit-learn."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_INNER_FOLDERS):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
