"""More than two classes: the largest score <w_c, x> + noise wins."""
