"""Fits on a Dask cluster."""

from .linear import fit

__all__ = ["fit"]
