"""One path from a task to an answer: solvers declare their needs."""

import numpy as np
import pytest
from sklearn.base import clone

from bayespoint import BayesPointClassifier, solvers
from bayespoint.fitting import dispatch
from bayespoint.fitting.solver_choice import SOLVERS
from bayespoint.fitting.task import needs_of

X = np.random.default_rng(0).standard_normal((60, 2))
Y = (X[:, 0] > 0).astype(int)


@pytest.mark.parametrize("name", SOLVERS)
def test_every_solver_says_what_it_needs(name):
    solver = SOLVERS[name]()
    assert solver.needs in dispatch.FIT_FUNCTIONS
    assert isinstance(solver.supports_label_noise, bool)
    assert needs_of(clone(solver)) == solver.needs


class OnlySolve:
    """A user's solver with no method but `solve`."""

    def solve(self, space, rng, **options):
        return solvers.EP().solve(space, rng, **options)


def test_a_solver_of_the_user_gets_version_spaces():
    assert needs_of(OnlySolve()) == "gram"
    model = BayesPointClassifier(solver=OnlySolve(), softness=0.1, random_state=0).fit(X, Y)
    twin = BayesPointClassifier(solver="ep", softness=0.1, random_state=0).fit(X, Y)
    np.testing.assert_array_equal(model.dual_coef_, twin.dual_coef_)


def test_unknown_needs_are_explained():
    solver = OnlySolve()
    solver.needs = "grams"
    with pytest.raises(ValueError, match=r"one of 'gram', .* but OnlySolve has needs='grams'"):
        BayesPointClassifier(solver=solver, softness=0.1).fit(X, Y)


@pytest.mark.parametrize("name", [n for n, s in SOLVERS.items() if not s().supports_label_noise])
def test_label_noise_is_refused_before_any_work(name, monkeypatch):
    monkeypatch.setitem(dispatch.FIT_FUNCTIONS, SOLVERS[name]().needs, None)
    with pytest.raises(ValueError, match=r"label_noise=0.1, but \w+ does not support label noise"):
        BayesPointClassifier(solver=name, softness=0.1, label_noise=0.1).fit(X, Y)


@pytest.mark.parametrize(
    "solver", [solvers.EP(tol=-1.0), solvers.Cells(n_points=-3), solvers.Perceptron(n_members=0)]
)
def test_wrong_parameters_of_a_solver_are_refused_before_any_work(solver, monkeypatch):
    monkeypatch.setitem(dispatch.FIT_FUNCTIONS, solver.needs, None)
    with pytest.raises(ValueError, match=f"of {type(solver).__name__} must be"):
        BayesPointClassifier(solver=solver, softness=0.1, gamma=1.0).fit(X, Y)
