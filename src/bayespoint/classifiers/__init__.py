"""What users fit: one estimator a file."""
