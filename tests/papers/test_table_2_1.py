import numpy as np
import pytest
from sklearn.utils import Bunch

from bayespoint.datasets.paper_data import PAPER_DATA
from bayespoint.papers import figure_2_8, raetsch
from bayespoint.papers.experiment import Plan
from bayespoint.papers.network import Network
from bayespoint.papers.raetsch import (
    TRAIN_SIZES,
    choose_sigma,
    count_errors,
    load_benchmark,
    machine,
)


@pytest.fixture
def folder(tmp_path, rng, monkeypatch):
    X = rng.standard_normal((90, 2))
    # With so much noise solutions are unique.
    y = np.where(X[:, 0] * X[:, 1] + 0.7 * rng.standard_normal(90) > 0, 1, -1)
    published = np.stack([rng.permutation(90) for _ in range(2)])
    random = np.stack([rng.permutation(90)[:50] for _ in range(6)])
    (tmp_path / "raetsch").mkdir()
    for name in ("banana", "heart"):
        monkeypatch.setitem(PAPER_DATA, name, PAPER_DATA[name]._replace(shape=X.shape))
        np.savez(
            tmp_path / "raetsch" / f"{name}.npz",
            X=X,
            y=y,
            train_idx=published[:, :50],
            test_idx=published[:, 50:],
            gen_train_idx=random,
        )
    return tmp_path


def test_published_splits_come_first(folder):
    data = load_benchmark("banana", str(folder), 5)
    assert (len(data.splits), data.n_published) == (5, 2)
    for train, test in data.splits:
        assert np.array_equal(np.sort(np.concatenate([train, test])), np.arange(90))
    assert load_benchmark("banana", str(folder), 1).n_published == 1


def test_missing_data_are_named(folder):
    with pytest.raises(FileNotFoundError, match=r"raetsch/titanic\.npz"):
        load_benchmark("titanic", str(folder), 5)


@pytest.mark.parametrize("name", TRAIN_SIZES)
def test_splits_of_data_from_openml_are_random_and_of_the_published_size(name, monkeypatch, rng):
    monkeypatch.delenv("BAYESPOINT_DATA", raising=False)
    n_samples, n_features = PAPER_DATA[name].shape
    n_positive = PAPER_DATA[name].n_positive or n_samples // 3
    data = Bunch(
        data=rng.standard_normal((n_samples, n_features)),
        target=np.array(["a"] * (n_samples - n_positive) + ["b"] * n_positive, dtype=object),
    )
    monkeypatch.setattr("sklearn.datasets.fetch_openml", lambda **_: data)
    found = load_benchmark(name, None, 3, seed=1)
    assert (len(found.splits), found.n_published) == (3, 0)
    for train, test in found.splits:
        assert len(train) == TRAIN_SIZES[name]
        assert np.array_equal(np.sort(np.concatenate([train, test])), np.arange(n_samples))
    again, other = load_benchmark(name, None, 3, seed=1), load_benchmark(name, None, 3, seed=2)
    assert np.array_equal(found.splits[2][0], again.splits[2][0])
    assert not np.array_equal(found.splits[2][0], other.splits[2][0])


def test_width_is_the_median_of_the_best(folder, monkeypatch):
    data = load_benchmark("banana", str(folder), 8)
    best = iter([1.0, 4.0, 2.0, 2.0, 4.0])
    current = {}

    def pretend(model, X, y, train, test):
        sigma = np.sqrt(1 / (2 * model.gamma))
        if current.get("X") is not X:
            current.update(X=X, best=next(best))
        return (0 if np.isclose(sigma, current["best"]) else 5), False

    monkeypatch.setattr(raetsch, "count_errors", pretend)
    assert choose_sigma(data, (1.0, 2.0, 4.0), Plan()) == 2.0


def test_errors_agree_with_a_fit_by_hand(folder):
    data = load_benchmark("banana", str(folder), 3)
    train, test = data.splits[0]
    model = machine(0.7)
    wrong, imprecise = count_errors(model, data.X, data.y, train, test)
    assert wrong == np.sum(model.predict(data.X[test]) != data.y[test])
    assert not imprecise
    assert np.isclose(model.gamma, 1 / (2 * 0.7**2))
    # A kernel so narrow that coefficients would have to be huge.
    assert count_errors(machine(0.05), data.X, data.y, train, test)[1]


def test_figure_agrees_with_separate_fits(folder):
    data = load_benchmark("banana", str(folder), 2)
    train, test = data.splits[1]
    errors = figure_2_8.follow_path(data, train, test, 0.7)
    for adaptivity in (1.0, 1.5, 2.0):
        model = machine(0.7, adaptivity).fit(data.X[train], data.y[train])
        expected = 100 * np.mean(model.predict(data.X[test]) != data.y[test])
        assert errors[figure_2_8.ADAPTIVITIES.index(adaptivity)] == expected


def test_network_is_a_weighted_least_squares_fit(rng):
    X = rng.standard_normal((200, 2))
    y = np.where(X.prod(axis=1) > 0, 1, -1)  # no hyperplane tells these apart
    weight = rng.integers(1, 4, 200) / 400
    model = Network(random_state=0).fit(X, y, weight)
    distances = ((X[:, None] - model.centers_) ** 2).sum(axis=-1)
    features = np.column_stack([np.exp(-distances / 2), np.ones(len(X))])
    root = np.sqrt(weight)
    coef = np.linalg.lstsq(features * root[:, None], root * y, rcond=None)[0]
    np.testing.assert_allclose(features @ model.coef_, features @ coef, atol=0.02)
    assert np.mean(model.predict(X) == y) > 0.85


def test_network_takes_fewer_different_points_than_centers():
    X = np.repeat([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]], 5, axis=0)
    y = np.repeat(["a", "b", "b"], 5)
    model = Network(random_state=0).fit(X, y, np.full(15, 1 / 15))
    assert (model.predict(X) == y).all()
