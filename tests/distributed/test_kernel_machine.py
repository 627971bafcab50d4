import pickle

import numpy as np
import pytest

import bayespoint
from bayespoint import BayesPointClassifier, solvers
from bayespoint.distributed import feature_portion as tasks
from bayespoint.distributed import fit
from cluster_helpers import OneProcess, chunks


@pytest.fixture(autouse=True)
def _without_a_worker(monkeypatch):
    monkeypatch.setattr(tasks, "here", lambda: "one")


def machine(**parameters):
    return BayesPointClassifier(solver=solvers.Nystroem(20), random_state=0, **parameters)


def test_the_model_needs_no_cluster_afterwards(data, tmp_path):
    X, y = data
    model = machine(gamma=0.3, softness=0.1).fit(X, y)
    assert hasattr(model, "loo_proba_")
    alone = model.predict_proba(X)
    fit(model, *chunks(X, y), client=OneProcess())
    assert not hasattr(model, "loo_proba_")  # of the earlier fit
    bayespoint.save(model, tmp_path / "model")
    for copy in (pickle.loads(pickle.dumps(model)), bayespoint.load(tmp_path / "model")):
        np.testing.assert_allclose(copy.predict_proba(X), alone, atol=1e-9)


def test_what_was_chosen_is_reported(data, capsys):
    model = fit(machine(verbose=1, gamma=0.3), *chunks(*data), client=OneProcess())
    assert "softness=" in capsys.readouterr().err
    assert len(model.candidates_.score) > 3
    fixed = fit(machine(gamma=0.3, softness=0.1), *chunks(*data), client=OneProcess())
    assert len(fixed.candidates_.score) == 0


def test_names_of_features(data):
    pd, dd = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    X, y = data
    frame = pd.DataFrame(X, columns=list("abcd"))
    parts = dd.from_pandas(frame, npartitions=3), dd.from_pandas(pd.Series(y), npartitions=3)
    model = fit(machine(gamma=0.3, softness=0.1), *parts, client=OneProcess())
    assert list(model.feature_names_in_) == list("abcd")
    expected = machine(gamma=0.3, softness=0.1).fit(frame, y).predict_proba(frame)
    np.testing.assert_allclose(model.predict_proba(frame), expected, atol=1e-9)
    fit(model, *chunks(X, y), client=OneProcess())
    assert not hasattr(model, "feature_names_in_")


@pytest.mark.parametrize(
    "parameters", [{}, {"softness": 0.0}, {"label_noise": 0.1}, {"cache_size": 1}], ids=str
)
def test_few_rows_and_hard_boundaries_need_one_machine(data, parameters):
    with pytest.raises(ValueError, match=r'solver="auto" works with more than 10000 distinct'):
        fit(BayesPointClassifier(**parameters), *chunks(*data), client=OneProcess())


@pytest.mark.parametrize("parameters", [{"kernel": "rbf"}, {"gamma": 0.1}], ids=str)
def test_other_machines_need_a_solver_that_divides_the_points(data, parameters):
    with pytest.raises(ValueError, match=r'works with solver="mosaic", "nystroem"'):
        fit(BayesPointClassifier(**parameters), *chunks(*data), client=OneProcess())
