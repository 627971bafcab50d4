"""Tables and figures of the papers as experiments: python -m bayespoint.papers.NAME."""
