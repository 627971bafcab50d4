"""From training data and a solver to the coefficients of a classifier."""
