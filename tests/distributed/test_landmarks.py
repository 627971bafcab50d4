import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning

from bayespoint import BayesPointClassifier, solvers
from bayespoint.distributed import feature_portion as tasks
from bayespoint.distributed import fit
from bayespoint.distributed.landmarks import Portions
from cluster_helpers import (
    OneProcess,
    assert_same_machine,
    chunks,
    delayed_parts,
    kill_a_worker,
)

FIXED = {"kernel": "rbf", "gamma": 0.3, "softness": 0.2, "random_state": 0}


def machine(**parameters):
    return BayesPointClassifier(solver=solvers.Nystroem(30), **{**FIXED, **parameters})


@pytest.fixture
def here(monkeypatch):
    """Return a cluster in this process."""
    monkeypatch.setattr(tasks, "here", lambda: "one")
    return OneProcess()


@pytest.fixture
def three_classes():
    X, y = make_classification(
        150, 4, n_informative=4, n_redundant=0, n_classes=3, flip_y=0.1, random_state=0
    )
    return np.vstack([X, X[:9]]), np.r_[y, y[:9]]  # with equal rows


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"kernel": "auto", "gamma": "auto", "softness": "auto"},  # standardized, all chosen
        {"kernel": "linear"},
        {"kernel": "linear", "fit_intercept": False},
        {"kernel": "poly", "gamma": "scale", "degree": 2},
        {"kernel": "laplacian", "gamma": "scale", "normalize": True},
        {"softness": 0.0},
    ],
    ids=str,
)
def test_the_answer_of_one_machine(here, three_classes, parameters):
    X, y = three_classes
    if parameters.get("fit_intercept") is False:
        X[3] = 0.0  # at the origin
    given = machine(**parameters)
    if "fit_intercept" in parameters:
        with pytest.warns(UserWarning, match="1 training points lie at the origin"):
            alone = machine(**parameters).fit(X, y)
        with pytest.warns(UserWarning, match="1 training points lie at the origin"):
            model = fit(given, *chunks(X, y), client=here)
    else:
        alone = machine(**parameters).fit(X, y)
        model = fit(given, *chunks(X, y), client=here)
    assert model is given
    assert_same_machine(model, alone)
    np.testing.assert_allclose(model.predict_proba(X), alone.predict_proba(X), atol=1e-9)


def test_a_real_cluster(client, three_classes):
    X, y = three_classes[0], three_classes[1] == 1
    assert_same_machine(fit(machine(), *chunks(X, y)), machine().fit(X, y))


@pytest.mark.slow
@pytest.mark.parametrize("moment", [1, 3, 8])
def test_a_killed_worker_changes_nothing(doomed_client, three_classes, moment, monkeypatch):
    X, y = three_classes
    sweep, n_sweeps, repeated = Portions.sweep, 0, []
    run = Portions._run

    def deadly_sweep(self, *given):
        nonlocal n_sweeps
        n_sweeps += 1
        if n_sweeps == moment:
            kill_a_worker(doomed_client)
        return sweep(self, *given)

    def counted_run(self, which, task, *given):
        repeated.append(task is tasks.forget)
        return run(self, which, task, *given)

    monkeypatch.setattr(Portions, "sweep", deadly_sweep)
    monkeypatch.setattr(Portions, "_run", counted_run)
    model = fit(machine(), *chunks(X, y))
    assert any(repeated) or moment == 1  # then there is nothing to repeat
    assert_same_machine(model, machine().fit(X, y))


def test_the_order_of_rows_and_partitions_does_not_matter(here, three_classes):
    X, y = three_classes
    order = np.random.default_rng(0).permutation(len(y))
    model = fit(machine(), *chunks(X, y, 2), client=here)
    other = fit(machine(), *chunks(X[order], y[order], 7), client=OneProcess(2))
    np.testing.assert_allclose(model.dual_coef_, other.dual_coef_, atol=1e-9)
    np.testing.assert_array_equal(X[model.support_], X[order][other.support_])


def test_sparse_rows(here, three_classes):
    X, y = three_classes
    X = np.where(np.abs(X) > 0.7, X, 0.0)
    alone = machine(gamma="scale").fit(sparse.csr_array(X), y)
    parts = [sparse.csr_array(part) for part in np.array_split(X, 3)]
    labels = delayed_parts(np.array_split(y, 3))
    assert_same_machine(
        fit(machine(gamma="scale"), delayed_parts(parts), labels, client=here), alone
    )


@pytest.mark.parametrize("class_weight", [None, "balanced", {0: 2.0, 1: 1.0, 2: 0.5}], ids=str)
def test_weights(here, three_classes, class_weight):
    X, y = three_classes
    weight = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    given = {"class_weight": class_weight, "softness": "auto"}
    alone = machine(**given).fit(X, y, sample_weight=weight)
    assert_same_machine(fit(machine(**given), *chunks(X, y), weight, client=here), alone)


def test_a_hard_boundary_ignores_weights_and_says_so(here, data):
    X, y = data[0][:40], data[1][:40]
    weight = np.r_[np.ones(20), np.full(20, 2.0)]
    hard = machine(softness=0.0)
    with pytest.warns(UserWarning, match="Weights of the training points differ"):
        model = fit(hard, *chunks(X, y), weight, client=here)
    assert_same_machine(model, machine(softness=0.0).fit(X, y))


def test_single_precision_has_the_same_blocks(here):
    X, y = make_classification(5000, 4, flip_y=0.1, random_state=0)
    given = {"standardize": True, "gamma": "scale"}
    model = fit(machine(**given), *chunks(X, y), client=here)
    assert_same_machine(model, machine(**given).fit(X, y))


def test_all_workers_are_lost_at_any_time(here, three_classes):
    """Every task is a moment at which everything can be lost; try some of them."""
    X, y = three_classes
    alone = machine().fit(X, y)
    n_tasks = 0

    def count(task):
        nonlocal n_tasks
        n_tasks += 1

    here.before_task = count
    fit(machine(), *chunks(X, y), client=here)
    n_lost = 0
    for moment in np.linspace(1, n_tasks, 12).astype(int):
        cluster, left = OneProcess(), int(moment)

        def lose(task, cluster=cluster):
            nonlocal left, n_lost
            left -= 1
            if left == 0:
                cluster.lose()
            n_lost += task is tasks.forget

        cluster.before_task = lose
        assert_same_machine(fit(machine(), *chunks(X, y), client=cluster), alone)
    assert n_lost  # some portions had to repeat their sweeps


def test_rows_are_not_brought_together(here):
    X, y = make_classification(20_000, 10, random_state=0)
    fit(machine(), *chunks(X, y, 8), client=here)
    # The largest message has 2000 rows, for medians of columns, with four numbers beside each.
    assert here.n_bytes_gathered < 2000 * (10 + 4) * 8 + 2000
    assert here.n_bytes_gathered < X.nbytes / 7


def test_little_memory_computes_features_anew(here, three_classes):
    X, y = three_classes
    small = machine(cache_size=6.0)
    alone = machine().fit(X, y)
    assert_same_machine(fit(small, *chunks(X, y), client=here), alone)
    with pytest.raises(ValueError, match=r"cache_size, which is for each worker, is 0\.5"):
        fit(machine(cache_size=0.5), *chunks(X, y), client=here)


def test_too_little_time(here, three_classes):
    X, y = three_classes
    with pytest.warns(ConvergenceWarning, match="max_time"):
        fit(machine(max_time=1e-9, softness=0.01), *chunks(X, y), client=here)


def test_results_of_single_rows_stay_on_workers(here, three_classes):
    model = fit(machine(), *chunks(*three_classes), client=here)
    assert not hasattr(model, "loo_proba_")
    assert "hits" not in model.diagnostics_
    with pytest.raises(ValueError, match="on a cluster"):
        model.hardest_examples()
