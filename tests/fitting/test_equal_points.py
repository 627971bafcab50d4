"""Equal rows are one point: neither their order nor their number changes an answer."""

import numpy as np
import pytest

from bayespoint import BayesPointClassifier
from bayespoint.fitting import automatic_kernel, equal_points, solver_choice, training_points
from bayespoint.fitting.equal_points import merge_points, total_weight
from bayespoint.fitting.parameters import Settings
from bayespoint.fitting.solver_choice import Request, gain_of_cells
from bayespoint.fitting.task import TrainingSet
from bayespoint.geometry.equal_rows import merge_equal_rows
from bayespoint.geometry.kernels import Kernel
from bayespoint.solvers import Cells, Mosaic, Nystroem, Perceptron

SOLVERS = [Nystroem(12), Cells(20), Mosaic(12, 20), Perceptron(4)]


def table(rng, m=60):
    X = rng.normal(size=(m, 3))
    return X, (X[:, 0] + 0.7 * rng.normal(size=m) > 0).astype(int)


def classifier(solver, **parameters):
    given = {"kernel": "rbf", "gamma": 0.5, "softness": 0.3, "random_state": 0}
    return BayesPointClassifier(solver=solver, **{**given, **parameters})


def training_set(X, y, weight=None):
    return TrainingSet(X, y, 2.0 * y[None] - 1, "rbf", None, weight)


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda solver: type(solver).__name__)
@pytest.mark.parametrize("gamma", [0.5, "auto"])
def test_order_and_number_of_equal_rows_do_not_matter(solver, gamma, rng):
    X, y = table(rng)
    times = rng.integers(1, 4, len(y))
    rows = rng.permutation(np.repeat(np.arange(len(y)), times))
    weighted = classifier(solver, gamma=gamma).fit(X, y, sample_weight=times)
    repeated = classifier(solver, gamma=gamma).fit(X[rows], y[rows])
    new = rng.normal(size=(50, 3))
    np.testing.assert_allclose(repeated.predict_proba(new), weighted.predict_proba(new), atol=1e-9)
    hits, of_sets = repeated.diagnostics_.hits, weighted.diagnostics_.hits
    np.testing.assert_allclose(hits, of_sets[:, rows], rtol=1e-6, atol=1e-12)
    if hasattr(weighted, "loo_proba_"):
        np.testing.assert_allclose(repeated.loo_proba_, weighted.loo_proba_[rows], atol=1e-9)
        assert repeated.log_evidence_ == pytest.approx(weighted.log_evidence_, rel=1e-9)


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda solver: type(solver).__name__)
def test_without_merging_they_matter(solver, rng, monkeypatch):
    monkeypatch.setattr(equal_points, "MERGING", ())
    X, y = table(rng)
    rows = rng.permutation(np.repeat(np.arange(len(y)), rng.integers(1, 4, len(y))))
    one = classifier(solver).fit(X, y, sample_weight=np.bincount(rows))
    other = classifier(solver).fit(X[rows], y[rows])
    assert np.abs(one.predict_proba(X) - other.predict_proba(X)).max() > 1e-6


@pytest.mark.parametrize("solver", [Nystroem(12), Perceptron(4)])
def test_a_large_weight_moves_the_boundary(solver, rng):
    X, y = table(rng, 200)
    light, heavy = (classifier(solver, class_weight={0: 1.0, 1: w}).fit(X, y) for w in (1.0, 30.0))
    assert np.mean(heavy.predict(X)) > np.mean(light.predict(X))


def test_hard_perceptrons_ask_only_whether_a_weight_is_positive(rng):
    X, y = table(rng)
    y = (X[:, 0] > 0).astype(int)
    weight = rng.integers(0, 3, len(y))
    with pytest.warns(UserWarning, match=r"a hard boundary \(softness=0\) ignores"):
        model = classifier(Perceptron(4), softness=0.0).fit(X, y, sample_weight=weight)
    same = classifier(Perceptron(4), softness=0.0).fit(X[weight > 0], y[weight > 0])
    np.testing.assert_array_equal(model.predict_proba(X), same.predict_proba(X))


def test_repeated_rows_need_no_warning_on_a_hard_boundary(rng):
    X, y = table(rng)
    y = (X[:, 0] > 0).astype(int)
    once = classifier(Perceptron(4), softness=0.0).fit(X, y)  # a warning would be an error
    twice = classifier(Perceptron(4), softness=0.0).fit(np.r_[X, X[:9]], np.r_[y, y[:9]])
    np.testing.assert_array_equal(once.predict_proba(X), twice.predict_proba(X))
    assert twice.support_.max() < len(X)


def test_equal_rows_with_different_labels_stay_apart():
    X, y = np.ones((4, 2)), np.array([0, 1, 0, 1])
    request = Request("nystroem", Settings(1.0, True, 0.1, 0.0), 2000)
    data = merge_points(training_set(X, y), request)
    assert data.points.tolist() == [0, 1]
    assert data.weight.tolist() == [2, 2, 0, 0]


@pytest.mark.parametrize(
    ("solver", "merges"), [("ep", False), ("auto", False), ("cells", True), ("perceptron", True)]
)
def test_small_tables_are_merged_only_where_it_matters(solver, merges, rng):
    request = Request(solver, Settings(1.0, True, 0.1, 0.0), 2000)
    assert (merge_points(training_set(*table(rng)), request).sets is not None) == merges


def test_large_tables_are_merged_before_the_solver_is_chosen(rng):
    X = rng.integers(0, 2, (2500, 4)).astype(float)
    y = (X[:, 0] > rng.random(2500) * 1.2).astype(int)
    model = BayesPointClassifier(random_state=0).fit(X, y)
    assert len(model.support_) == len(np.unique(np.column_stack([X, y]), axis=0)) <= 32
    assert "n_cells" not in model.diagnostics_  # so few points need no mosaic
    left_out = model.loo_proba_[np.arange(2500), y]
    assert np.isfinite(left_out).all()
    assert model.score(X, y) > 0.75


def test_total_weight():
    sets = merge_equal_rows(np.array([[1.0], [2.0], [1.0]]), np.zeros(3, int), np.ones(3))
    assert total_weight(None, None) is None
    assert total_weight(sets, None).tolist() == [2, 1, 0]
    assert total_weight(sets, np.array([0.5, 2.0, 3.0])).tolist() == [3.5, 2, 0]


def test_equal_weights_are_no_reason_to_warn(rng):
    X, y = table(rng)
    y = (X[:, 0] > 0).astype(int)
    X, y = np.r_[X, X[:9]], np.r_[y, y[:9]]
    once = classifier(Perceptron(4), softness=0.0).fit(X, y)
    twice = classifier(Perceptron(4), softness=0.0).fit(X, y, sample_weight=np.full(len(y), 2.0))
    np.testing.assert_array_equal(once.predict_proba(X), twice.predict_proba(X))


def test_few_different_rows_with_noisy_labels_have_honest_probabilities(rng):
    """Held-out perceptrons must not know just the opposite label of the same row."""
    X = rng.integers(0, 2, (3000, 4)).astype(float)
    y = (rng.random(3000) < 0.1 + 0.8 * X[:, 0]).astype(int)
    model = classifier(Perceptron(8)).fit(X[:1500], y[:1500])
    probability = model.predict_proba(X[1500:])[np.arange(1500), y[1500:]]
    # The best possible is the entropy, with a standard error of less than 0.02. Knowing
    # nothing is log(2): at most a quarter of the difference is lost.
    entropy = -(0.9 * np.log(0.9) + 0.1 * np.log(0.1))
    assert -np.log(probability).mean() < entropy + 0.25 * (np.log(2) - entropy)


def test_known_rows_tell_nothing_about_each_other_but_much_about_themselves(rng):
    """With many copies one of them is left out: held-out rows would be no better than chance."""
    X = rng.integers(0, 2, (3000, 3)).astype(float)
    cell = (X @ [1, 2, 4]).astype(int)
    probability = np.full((8, 3), 0.1)
    probability[np.arange(8), [0, 1, 2, 0, 2, 1, 1, 0]] = 0.8
    y = np.array([rng.choice(3, p=probability[c]) for c in cell])
    model = classifier(Perceptron(8)).fit(X[:1500], y[:1500])
    right = model.predict_proba(X[1500:])[np.arange(1500), y[1500:]]
    entropy = -(0.8 * np.log(0.8) + 0.2 * np.log(0.1))
    # Of the difference to knowing nothing, log(3), at most a quarter is lost.
    assert -np.log(right).mean() < entropy + 0.25 * (np.log(3) - entropy)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_one_row_of_each_class_many_times_is_certain(n_classes):
    X, y = np.eye(n_classes), np.arange(n_classes)
    model = classifier(Perceptron(4)).fit(np.repeat(X, 500, axis=0), np.repeat(y, 500))
    assert np.diagonal(model.predict_proba(X)).min() > 0.9


@pytest.mark.parametrize("weight", [1e-6, 1e-30, 1e-100])
def test_a_perceptron_point_of_almost_no_weight_is_almost_removed(weight, rng):
    X, new = rng.normal(size=(2, 300, 3))
    y = np.where(np.arange(300) < 150, X[:, 0] > 0, X[:, 0] < 0).astype(int)
    weights = np.where(np.arange(300) < 150, 1.0, weight)  # wrong labels are light
    model = classifier(Perceptron(8)).fit(X, y, sample_weight=weights)
    right = (new[:, 0] > 0).astype(int)
    probability = model.predict_proba(new)[np.arange(300), right]
    assert -np.log(probability).mean() < 0.25 * np.log(2)  # knowing nothing is log(2)


def test_copies_do_not_change_the_precision_of_landmarks(rng, monkeypatch):
    monkeypatch.setattr(training_points, "MAX_POINTS_IN_ONE_BLOCK", 100)
    X, y = table(rng)
    twice = np.tile(np.arange(60), 2)
    weighted = classifier(Nystroem(50)).fit(X, y, sample_weight=np.full(60, 2.0))
    repeated = classifier(Nystroem(50)).fit(X[twice], y[twice])
    np.testing.assert_allclose(repeated.dual_coef_, weighted.dual_coef_, rtol=1e-9, atol=1e-12)


def test_the_gain_of_cells_does_not_depend_on_the_order_of_rows(rng, monkeypatch):
    monkeypatch.setattr(solver_choice, "Nystroem", lambda: Nystroem(8))
    monkeypatch.setattr(solver_choice, "COMPARED_NEIGHBORS", 20)
    X, y = table(rng, 200)
    settings, request = Settings(1.0, True, 0.1, 0.0), Request(Cells(), None, 2000)
    gains = []
    for rows in (np.arange(200), rng.permutation(200)):
        data = merge_points(training_set(X[rows], y[rows]), request)
        data = data._replace(kernel_for=lambda gamma, _: Kernel("rbf", gamma=gamma))
        gains.append(gain_of_cells(data, settings, settings))
    assert gains[0] == pytest.approx(gains[1], rel=1e-9)


def test_a_mixture_is_chosen_with_rows_in_the_order_of_content(rng, monkeypatch):
    monkeypatch.setattr(automatic_kernel, "MAX_MERGED_POINTS", 50)
    X, y = table(rng, 200)
    seen = []
    for rows in (np.arange(200), rng.permutation(200)):
        data = merge_points(training_set(X[rows], y[rows]), Request(Mosaic(), None, 2000))
        seen.append(automatic_kernel._distinct(data))
    np.testing.assert_array_equal(seen[0][0], seen[1][0])
    np.testing.assert_array_equal(seen[0][1], seen[1][1])
    assert 50 <= len(seen[0][0]) <= 52
