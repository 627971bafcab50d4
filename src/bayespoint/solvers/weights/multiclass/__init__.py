"""More than two classes: scores <w_c, x> + noise, of which the largest wins."""
