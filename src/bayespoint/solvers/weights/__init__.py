"""Expectation propagation for the weights of linear classifiers."""
