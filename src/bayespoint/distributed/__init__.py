"""Fits on a Dask cluster."""

from .dispatch import fit

__all__ = ["fit"]
