"""Classifiers that may refuse to answer."""
