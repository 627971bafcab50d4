import pytest

from bayespoint import AdaptiveMarginSVC, BayesPointClassifier
from bayespoint.distributed import fit
from cluster_helpers import OneProcess, chunks


def test_classifiers_that_cannot_use_a_cluster(data):
    with pytest.raises(TypeError, match="or a BayesPointClassifier, but is"):
        fit(AdaptiveMarginSVC(), *chunks(*data), client=OneProcess())


@pytest.mark.parametrize("solver", ["ep", "billiard", "regression"])
def test_solvers_that_cannot_use_a_cluster(data, solver):
    with pytest.raises(ValueError, match=r'works with solver="mosaic", "nystroem", "cells" or'):
        fit(BayesPointClassifier(solver=solver), *chunks(*data), client=OneProcess())


def test_a_matrix_has_no_points(data):
    model = BayesPointClassifier("precomputed", solver="nystroem")
    with pytest.raises(ValueError, match='but it has kernel="precomputed"'):
        fit(model, *chunks(*data), client=OneProcess())


def test_parameters_are_checked(data):
    with pytest.raises(ValueError, match="softness"):
        fit(BayesPointClassifier(softness=-1), *chunks(*data), client=OneProcess())
    model = BayesPointClassifier("rbf", solver="nystroem", label_noise=0.1, softness=0.1)
    with pytest.raises(ValueError, match="does not support label noise"):
        fit(model, *chunks(*data), client=OneProcess())
