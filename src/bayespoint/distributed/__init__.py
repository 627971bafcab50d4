"""Fits and predictions on a Dask cluster."""

from .dispatch import fit
from .predictions import accept, decision_function, predict, predict_proba

__all__ = ["accept", "decision_function", "fit", "predict", "predict_proba"]
