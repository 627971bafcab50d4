import subprocess
import sys

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_moons
from sklearn.exceptions import NotFittedError

from bayespoint import BayesPointClassifier
from bayespoint.io.arviz import to_arviz
from bayespoint.solvers import Billiard, Gibbs, Perceptron

# 50 draws are not a multiple of 8 chains, 80 are.
ONE_CHAIN = Billiard(tol=0.2, n_draws=50)
EIGHT_CHAINS = Billiard(tol=0.2, n_draws=80)


def fitted(X, y, **options):
    return BayesPointClassifier(softness=0.1, random_state=0, **options).fit(X, y)


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return X[::3], np.array(["setosa", "versicolor", "virginica"])[y[::3]]


def test_two_classes():
    X, y = make_moons(40, noise=0.2, random_state=0)
    model = fitted(X, y + 10, solver=ONE_CHAIN)
    posterior = to_arviz(model, X[:7]).posterior
    assert dict(posterior.sizes) == {
        "chain": 1,
        "draw": 50,
        "output": 1,
        "support": 40,
        "point": 7,
    }
    assert posterior.coef.dims == ("chain", "draw", "output", "support")
    assert posterior.decision.dims == ("chain", "draw", "output", "point")
    assert posterior.output.values.tolist() == [11]
    np.testing.assert_array_equal(posterior.coef[0, :, 0], model.draw_coef_[0])
    np.testing.assert_array_equal(posterior.decision[0, :, 0], model.sample_decision(X[:7]))


@pytest.mark.parametrize("solver", [EIGHT_CHAINS, Gibbs(tol=0.2, n_draws=80)])
def test_chains_are_kept(solver):
    X, y = make_moons(40, noise=0.2, random_state=0)
    model = fitted(X, y, solver=solver)
    posterior = to_arviz(model, X[:5]).posterior
    assert dict(posterior.sizes)["chain"] == 8
    assert dict(posterior.sizes)["draw"] == 10
    np.testing.assert_array_equal(posterior.coef[2, 3, 0], model.draw_coef_[0, 2 * 10 + 3])
    np.testing.assert_array_equal(posterior.decision[2, 3, 0], model.sample_decision(X[:5])[23])


@pytest.mark.parametrize("solver", [ONE_CHAIN, Perceptron(n_members=10)])
def test_three_classes(iris, solver):
    X, y = iris
    model = fitted(X, y, solver=solver)
    posterior = to_arviz(model, X).posterior
    assert posterior.output.values.tolist() == ["setosa", "versicolor", "virginica"]
    np.testing.assert_array_equal(posterior.support, model.support_)
    decisions = posterior.decision.transpose("chain", "draw", "point", "output")[0]
    np.testing.assert_array_equal(decisions, model.sample_decision(X))
    np.testing.assert_array_equal(posterior.coef.sel(output="virginica")[0], model.draw_coef_[2])


def test_without_points(iris):
    data = to_arviz(fitted(*iris, solver=ONE_CHAIN))
    assert list(data.posterior.data_vars) == ["coef"]


def test_arviz_understands_it(iris):
    X, y = iris
    data = to_arviz(fitted(X, y, solver=ONE_CHAIN), X[:2])
    import arviz  # version 0.23 warns on its first import, which to_arviz made

    summary = arviz.summary(data, var_names=["decision"])
    assert len(summary) == 2 * 3
    assert "decision[setosa, 0]" in summary.index


def test_not_fitted():
    with pytest.raises(NotFittedError):
        to_arviz(BayesPointClassifier())


def test_says_how_to_get_arviz(iris, monkeypatch):
    monkeypatch.setitem(sys.modules, "arviz", None)
    with pytest.raises(ImportError, match=r"bayespoint\[arviz\]"):
        to_arviz(fitted(*iris, solver=ONE_CHAIN))


def test_arviz_is_not_imported_with_the_package():
    code = "import sys, bayespoint.io.arviz; sys.exit('arviz' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
