"""Expectation propagation: each training point's likelihood becomes a Gaussian site."""
