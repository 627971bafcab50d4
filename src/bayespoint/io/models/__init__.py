"""Model files that run no code."""
