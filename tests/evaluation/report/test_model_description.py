"""The kind of a model, also inside wrappers."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler
from sklearn.utils import Bunch

from bayespoint import BayesPointClassifier, LinearBayesPointClassifier
from bayespoint.evaluation.report.model_description import describe_model, largest_r_hat
from bayespoint.solvers import Cells, LargestBall, Mosaic


def test_looks_into_searches_and_pipelines(iris):
    X, y, _, _ = iris
    model = make_pipeline(MaxAbsScaler(), LinearBayesPointClassifier())
    search = GridSearchCV(model, {"linearbayespointclassifier__noise_variance": [1.0]}).fit(X, y)
    assert describe_model(search).startswith("a linear Bayes point machine, ")
    forest = RandomForestClassifier(n_estimators=2).fit(X, y)
    assert describe_model(forest) == "a RandomForestClassifier"


def test_custom_kernel(iris):
    X, y, _, _ = iris
    model = BayesPointClassifier(lambda a, b: a @ b.T, softness=1.0).fit(X.to_numpy(), y)
    assert describe_model(model).startswith("a Bayes point machine, a custom kernel, by ")


@pytest.mark.parametrize(
    ("diagnostics", "r_hat"),
    [({"r_hat": np.array([1.0, 1.2])}, 1.2), ({"r_hat": np.array([np.nan])}, None), ({}, None)],
)
def test_the_worst_output_counts(diagnostics, r_hat):
    assert largest_r_hat(Bunch(**diagnostics)) == r_hat


@pytest.mark.parametrize(
    ("solver", "name"),
    [
        (Mosaic(10, 20), "label regression in cells that landmarks join"),
        (Cells(20), "expectation propagation in cells"),
        ("regression", "label regression"),
        ("corners", "the corners of version space"),
        (LargestBall(), "the largest margin"),
    ],
)
def test_solvers_are_told_apart(solver, name, rng):
    X = rng.normal(size=(60, 2))
    model = BayesPointClassifier("rbf", gamma=1.0, softness=1.0, solver=solver)
    model.fit(X, (X[:, 0] > 0).astype(int))
    assert f"by {name} (" in describe_model(model)
