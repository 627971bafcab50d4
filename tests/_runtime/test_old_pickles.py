import copy
import pickle
import warnings

import numpy as np
import pytest
from sklearn.exceptions import InconsistentVersionWarning

import bayespoint
from bayespoint import solvers
from bayespoint._runtime import old_pickles
from bayespoint._runtime.old_pickles import VERSION_KEY

X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array(["a", "a", "b", "b"])
ESTIMATORS = [
    bayespoint.AdaptiveMarginSVC("linear"),
    bayespoint.BayesPointClassifier("rbf", gamma=1.0, softness=0.1, solver=solvers.EP()),
    bayespoint.LinearBayesPointClassifier(),
    bayespoint.LinearMarginSVC(),
    bayespoint.LinearProgramSVC("linear"),
    bayespoint.OnionClassifier("linear"),
    bayespoint.RejectOptionClassifier(bayespoint.LinearBayesPointClassifier()),
    solvers.Billiard(),
]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_a_pickle_without_the_newest_parameter(estimator, monkeypatch):
    newest = list(estimator.get_params(deep=False))[-1]
    expected = getattr(estimator, newest)
    old = copy.copy(estimator)
    delattr(old, newest)
    content = pickle.dumps(old)
    message = f"a {type(old).__name__} was written by .* their defaults: {newest}"
    with pytest.warns(InconsistentVersionWarning, match=message):
        loaded = pickle.loads(content)
    assert getattr(loaded, newest) == expected
    assert repr(loaded) == repr(estimator)
    assert VERSION_KEY not in vars(loaded)


def test_a_pickle_of_this_version_is_silent():
    model = bayespoint.LinearBayesPointClassifier().fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        same = pickle.loads(pickle.dumps(model))
        copy.deepcopy(model)
    assert (same.predict_proba(X) == model.predict_proba(X)).all()


def test_a_pickle_of_another_version(monkeypatch):
    content = pickle.dumps(bayespoint.LinearBayesPointClassifier().fit(X, y))
    monkeypatch.setattr(old_pickles, "_this_version", lambda: "9.0")
    message = f"written by bayespoint {bayespoint.__version__}, but this is 9.0. Compare some"
    with pytest.warns(InconsistentVersionWarning, match=message) as found:
        assert list(pickle.loads(content).predict(X)) == list(y)
    assert found[0].filename == __file__


def test_a_pickle_that_names_no_version(monkeypatch):
    """As all versions wrote them before this one."""
    model = bayespoint.LinearMarginSVC()
    monkeypatch.delattr(old_pickles.OldPickles, "__getstate__")
    content = pickle.dumps(model)
    with pytest.warns(InconsistentVersionWarning, match="by an earlier version of bayespoint"):
        pickle.loads(content)
