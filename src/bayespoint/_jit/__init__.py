"""Compiled inner loops: arrays in, arrays out, nothing else."""

from .cache_folder import find_cache

find_cache()  # before any loop is defined
