"""Reports of the solvers, and whether they indicate a problem."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import Bunch

from bayespoint import (
    BayesPointClassifier,
    LinearBayesPointClassifier,
    LinearProgramSVC,
    solvers,
)
from bayespoint.evaluation.report.diagnosis import diagnose
from report_helpers import Constant


@pytest.mark.parametrize(
    ("solver", "method"),
    [
        ("ep", "expectation propagation"),
        ("billiard", "billiard"),
        ("perceptron", "perceptrons"),
        ("gibbs", "Gibbs sampling"),
        ("corners", "corners"),
        ("nystroem", "expectation propagation"),
        ("cells", "expectation propagation in cells"),
    ],
)
def test_every_solver_is_explained(iris, write, solver, method):
    X, y, X_test, y_test = iris
    model = BayesPointClassifier(gamma=0.1, softness=0.5, solver=solver, random_state=0).fit(X, y)
    _, page = write(model, X_test, y_test)
    assert f"by {'the ' * (solver == 'corners')}{method}" in page.text
    found = {finding.name: finding for finding in diagnose(model)}
    assert found["softness"].value == "0.5"
    assert found["the solver"].fine is True
    if solver in ("billiard", "gibbs"):
        assert found["R-hat"].fine
    assert ("R-hat" in found) == (solver in ("billiard", "gibbs"))
    assert not any(finding.value == "nan" for finding in found.values())
    if solver in ("ep", "nystroem", "cells"):
        assert found["residual"].fine


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_bad_training_is_reported(iris):
    X, y, _, _ = iris
    solver = solvers.Billiard(n_bounces=50)
    model = BayesPointClassifier(gamma=0.1, softness=0.1, solver=solver, random_state=0).fit(X, y)
    found = {finding.name: finding for finding in diagnose(model)}
    assert found["the solver"].fine is False
    assert found["sampling error"].fine is False
    model = LinearBayesPointClassifier(max_iter=1).fit(X, y)
    found = {finding.name: finding for finding in diagnose(make_pipeline(StandardScaler(), model))}
    assert found["iterations"].fine is False


@pytest.mark.parametrize(("r_hat", "fine"), [(1.01, True), (1.3, False)])
def test_chains_that_disagree_are_reported(r_hat, fine):
    model = Constant([], [0, 1])
    model.diagnostics_ = Bunch(
        stop=np.array(["tol", "tol"]), r_hat=np.array([1.0, r_hat]), angle=np.array([0.1, 0.2]),
        mixed=np.array([True, fine]), ess=np.array([100.0, 20.0]), n_bounces=np.array([10, 10]),
    )  # fmt: skip
    found = {finding.name: finding for finding in diagnose(model)}
    assert found["R-hat"].value == f"{r_hat:.3f}"
    assert found["R-hat"].fine is found["sampling error"].fine is fine
    assert found["sampling error"].value == "11°"
    assert found["effective draws"].value == "20"


def test_linear_programs_report_their_gap(iris):
    X, y, _, _ = iris
    found = {finding.name: finding for finding in diagnose(LinearProgramSVC().fit(X, y))}
    assert found["duality gap"].fine


def test_other_classifiers_report_nothing(iris):
    X, y, _, _ = iris
    assert diagnose(RandomForestClassifier(n_estimators=2).fit(X, y)) == []


def test_a_mixture_is_described_instead_of_gamma(iris):
    X, y, *_ = iris
    found = {finding.name: finding for finding in diagnose(BayesPointClassifier().fit(X, y))}
    assert "gamma" not in found
    assert "% laplacian" in found["kernel"].value
    assert found["softness"].meaning.endswith("by left-out rows")


@pytest.mark.parametrize(("n_classes", "judge"), [(2, "evidence"), (3, "left-out rows")])
def test_what_chose_the_parameters_is_named(iris, n_classes, judge):
    X, y, *_ = iris
    model = BayesPointClassifier("rbf").fit(X, np.minimum(y, n_classes - 1))
    found = {finding.name: finding for finding in diagnose(model)}
    assert found["gamma"].meaning.endswith(f"by {judge}")
