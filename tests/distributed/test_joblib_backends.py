"""Kernel machines on any joblib backend."""

import joblib
import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from bayespoint import BayesPointClassifier, solvers
from bayespoint.geometry.row_store import RowStore
from bayespoint.solvers.rounds import Step

pytest.importorskip("distributed")

SOLVERS = [
    solvers.Billiard(tol=0.1, n_chains=4),
    solvers.Gibbs(tol=0.2, n_chains=4),
    solvers.Perceptron(n_members=5),
]


def kernel_machine(solver):
    parameters = {"gamma": 0.5, "softness": 0.3, "label_noise": 0.0, "random_state": 0}
    return BayesPointClassifier(solver=solver, **parameters)


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda solver: type(solver).__name__)
@pytest.mark.parametrize("backend", ["dask", "loky"])
def test_chains_and_members_on_a_backend(client, data, solver, backend, monkeypatch):
    X, y = data[0][:60], data[1][:60]
    alone = kernel_machine(solver).fit(X, y)
    # Make the work impossible in this process.
    monkeypatch.delattr(Step, "__call__")
    monkeypatch.delattr(RowStore, "fetch")
    with pytest.raises((AttributeError, TypeError)):
        kernel_machine(solver).fit(X, y)
    with joblib.parallel_config(backend, n_jobs=2):
        other = kernel_machine(solver).fit(X, y)
    np.testing.assert_array_equal(other.dual_coef_, alone.dual_coef_)
    np.testing.assert_array_equal(other.draw_coef_, alone.draw_coef_)
    np.testing.assert_array_equal(other.predict_proba(X), alone.predict_proba(X))


def test_max_time_also_stops_remote_chains(client, data):
    X, y = data
    solver = solvers.Billiard(tol=1e-6, n_bounces=10**12)
    model = kernel_machine(solver).set_params(max_time=1.0)
    with joblib.parallel_config("dask"), pytest.warns(ConvergenceWarning):
        model.fit(X, y)
    assert model.diagnostics_["stop"] == "max_time"
