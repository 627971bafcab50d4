import numpy as np
import pytest

from bayespoint.papers import figure_2_8, raetsch
from bayespoint.papers.experiment import Plan
from bayespoint.papers.raetsch import choose_sigma, count_errors, load_benchmark, machine


@pytest.fixture
def folder(tmp_path, rng):
    X = rng.standard_normal((90, 2))
    # With so much noise solutions are unique.
    y = np.where(X[:, 0] * X[:, 1] + 0.7 * rng.standard_normal(90) > 0, 1, -1)
    published = np.stack([rng.permutation(90) for _ in range(2)])
    random = np.stack([rng.permutation(90)[:50] for _ in range(6)])
    (tmp_path / "raetsch").mkdir()
    for name in ("banana", "heart"):
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


def test_missing_data_are_named(folder, monkeypatch):
    monkeypatch.delenv("BAYESPOINT_DATA", raising=False)
    with pytest.raises(FileNotFoundError, match="--data or BAYESPOINT_DATA"):
        load_benchmark("banana", None, 5)
    with pytest.raises(FileNotFoundError, match=r"raetsch/titanic\.npz"):
        load_benchmark("titanic", str(folder), 5)


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
