"""Every table and figure of the papers as an experiment: bayespoint papers list."""
