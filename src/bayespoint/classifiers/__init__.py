"""The estimators that users fit, one in each file."""
