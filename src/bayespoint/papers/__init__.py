"""The tables and figures of the papers as experiments; `bayespoint papers list` names them."""
