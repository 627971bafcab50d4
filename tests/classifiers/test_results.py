"""What a fit stores: attributes that only some solvers give come and go."""

from sklearn.datasets import make_moons

from bayespoint import BayesPointClassifier
from bayespoint.classifiers._results import OPTIONAL_ATTRIBUTES

GIVEN_BY = {
    "regression": {"relevance_", "loo_proba_", "log_evidence_", "link_power_", "link_floor_"},
    "ep": {"relevance_", "n_iter_", "loo_proba_", "log_evidence_"},
    "billiard": {"relevance_"},
    "cells": {"n_iter_", "loo_proba_", "log_evidence_", "cell_centers_"},
}


def test_attributes_of_another_solver_do_not_stay():
    X, y = make_moons(60, noise=0.2, random_state=0)
    model = BayesPointClassifier(random_state=0)
    for solver in [*GIVEN_BY, *list(GIVEN_BY)[::-1]]:
        model.set_params(solver=solver).fit(X, y)
        found = {name for name in OPTIONAL_ATTRIBUTES if hasattr(model, name)}
        assert found == GIVEN_BY[solver] | {"_known_points"}  # which all keep for novelty
