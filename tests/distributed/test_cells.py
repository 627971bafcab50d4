import signal
from functools import partial

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning

from bayespoint import BayesPointClassifier, solvers
from bayespoint._runtime import interrupt
from bayespoint.distributed import cells as tasks
from bayespoint.distributed import fit
from bayespoint.distributed.row_parts import Part, RowParts
from bayespoint.fitting import cells_fit
from bayespoint.fitting.solver_choice import neighborhoods
from bayespoint.fitting.task import TrainingSet
from bayespoint.geometry.equal_rows import merge_equal_rows
from bayespoint.solvers.cells import Divided
from cluster_helpers import OneProcess, assert_same_machine, chunks, kill_a_worker

FIXED = {"kernel": "rbf", "gamma": 0.3, "softness": 0.2, "random_state": 0}


def machine(**parameters):
    return BayesPointClassifier(solver=solvers.Cells(40), **{**FIXED, **parameters})


@pytest.fixture
def three_classes():
    X, y = make_classification(
        200, 4, n_informative=4, n_redundant=0, n_classes=3, flip_y=0.1, random_state=0
    )
    return np.vstack([X, X[:9]]), np.r_[y, y[:9]]  # with equal rows


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        pytest.param(
            {"kernel": "auto", "gamma": "auto", "softness": "auto"}, marks=pytest.mark.slow
        ),
        {"label_noise": 0.1},
    ],
    ids=str,
)
def test_the_answer_of_one_machine(three_classes, parameters):
    X, y = three_classes
    alone = machine(**parameters).fit(X, y)
    model = fit(machine(**parameters), *chunks(X, y), client=OneProcess())
    assert_same_machine(model, alone)
    np.testing.assert_allclose(model.cell_centers_, alone.cell_centers_, rtol=1e-9)
    np.testing.assert_allclose(model.predict_proba(X), alone.predict_proba(X), atol=1e-9)


@pytest.mark.slow
def test_a_killed_worker_changes_nothing(doomed_client, three_classes, monkeypatch):
    X, y = three_classes
    pieces, killed = tasks.ClusterPoints.pieces, []

    def deadly_pieces(self, groups):
        if len(groups) > 1:  # all cells
            kill_a_worker(doomed_client)
            killed.append(True)
        return pieces(self, groups)

    monkeypatch.setattr(tasks.ClusterPoints, "pieces", deadly_pieces)
    model = fit(machine(), *chunks(X, y))
    assert killed
    assert_same_machine(model, machine().fit(X, y))


def test_the_neighborhoods_of_one_machine(rng):
    X = rng.standard_normal((900, 3))
    X = X[merge_equal_rows(X, np.zeros(900, int), np.ones(900)).first]  # in the order of content
    data = TrainingSet(X, np.zeros(900), np.ones((1, 900)), "rbf", None)
    client, nothing = OneProcess(), np.zeros(900)
    cuts = [slice(0, 0), slice(0, 100), slice(100, 850), slice(850, None)]
    parts = [client.submit(Part, X[c], *[nothing[c]] * 4) for c in cuts]
    found = tasks.neighborhoods_of(RowParts(client, parts))
    for group, expected in zip(found, neighborhoods(data), strict=True):
        np.testing.assert_array_equal(group, expected)


def test_weights(three_classes):
    X, y = three_classes
    weight = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    alone = machine(class_weight="balanced").fit(X, y, sample_weight=weight)
    given = machine(class_weight="balanced")
    assert_same_machine(fit(given, *chunks(X, y), weight, client=OneProcess()), alone)


def test_cells_that_are_too_large_are_divided_and_sampled(monkeypatch):
    # Most points are so close to each other that the first clustering leaves large cells.
    rng = np.random.default_rng(0)
    X = np.vstack([rng.standard_normal((300, 2)) * 1e-3, rng.standard_normal((60, 2)) * 10])
    y = rng.integers(0, 2, len(X))
    for module in (tasks, cells_fit):
        monkeypatch.setattr(module, "MAX_CLUSTERED_POINTS", 150)
    calls = []
    means_in = Divided.means_in
    monkeypatch.setattr(
        Divided, "means_in", lambda self, *given: calls.append(given) or means_in(self, *given)
    )
    alone = machine().fit(X, y)
    assert any(len(cells) for cells, _ in calls)
    assert_same_machine(fit(machine(), *chunks(X, y), client=OneProcess()), alone)


def test_all_workers_are_lost_at_any_time(three_classes):
    X, y = three_classes
    alone, n_solved = machine().fit(X, y), 0
    for moment in range(1, 12, 2):
        cluster, left = OneProcess(), moment

        def lose(task, cluster=cluster):
            nonlocal left, n_solved
            if task is tasks.solve_cells:
                left -= 1
                n_solved += 1
                if left == 0:
                    cluster.lose()

        cluster.before_task = lose
        assert_same_machine(fit(machine(), *chunks(X, y), client=cluster), alone)
    assert n_solved


class Slow(OneProcess):
    """A cluster that is done with one group of cells when Ctrl-C is pressed."""

    def __init__(self):
        super().__init__()
        self.ends, self.cancelled = [], []

    def submit(self, task, *arguments, **options):
        result = super().submit(task, *arguments, **options)
        if task is tasks.solve_cells:
            self.ends.append(arguments[-1].end)
            result.done = partial(self.is_done, self.ends[-1], len(self.ends))
        return result

    def is_done(self, end, number):
        if number == 2 and not self.cancelled:
            signal.raise_signal(signal.SIGINT)
        return number == 1 or end == -np.inf

    def cancel(self, futures):
        self.cancelled += futures


def test_ctrl_c_gives_other_cells_the_shortest_run(three_classes, monkeypatch):
    monkeypatch.setattr(interrupt, "_last_press", -100.0)
    X, y = three_classes
    cluster = Slow()
    with pytest.warns(ConvergenceWarning, match=r"stopped early \(interrupted\)"):
        model = fit(machine(), *chunks(X, y), client=cluster)
    n_again = len(cluster.cancelled)
    assert n_again > 1
    assert cluster.ends[: n_again + 1] == [np.inf] * (n_again + 1)  # without a time limit
    assert cluster.ends[n_again + 1 :] == [-np.inf] * n_again
    assert np.mean(model.predict(X) == y) > 0.6  # three classes


def test_memory_of_a_worker(three_classes):
    with pytest.raises(ValueError, match="Cells of up to 80 points"):
        fit(machine(cache_size=0.1), *chunks(*three_classes), client=OneProcess())
