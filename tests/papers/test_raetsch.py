import numpy as np
import pytest
from sklearn.utils import Bunch

from bayespoint.datasets.paper_data import PAPER_DATA
from bayespoint.papers import raetsch
from bayespoint.papers.experiment import Plan
from bayespoint.papers.raetsch import (
    TRAIN_SIZES,
    choose_sigma,
    count_errors,
    load_benchmark,
    machine,
)


def test_published_splits_come_first(small_benchmark):
    data = load_benchmark("banana", str(small_benchmark), 5)
    assert (len(data.splits), data.n_published) == (5, 2)
    for train, test in data.splits:
        assert np.array_equal(np.sort(np.concatenate([train, test])), np.arange(90))
    assert load_benchmark("banana", str(small_benchmark), 1).n_published == 1


def test_missing_data_are_named(small_benchmark):
    with pytest.raises(FileNotFoundError, match=r"raetsch/titanic\.npz"):
        load_benchmark("titanic", str(small_benchmark), 5)


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


def test_width_is_the_median_of_the_best(small_benchmark, monkeypatch):
    data = load_benchmark("banana", str(small_benchmark), 8)
    best = iter([1.0, 4.0, 2.0, 2.0, 4.0])
    current = {}

    def pretend(model, X, y, train, test):
        sigma = np.sqrt(1 / (2 * model.gamma))
        if current.get("X") is not X:
            current.update(X=X, best=next(best))
        return (0 if np.isclose(sigma, current["best"]) else 5), False

    monkeypatch.setattr(raetsch, "count_errors", pretend)
    assert choose_sigma(data, (1.0, 2.0, 4.0), Plan()) == 2.0


def test_errors_agree_with_a_fit_by_hand(small_benchmark):
    data = load_benchmark("banana", str(small_benchmark), 3)
    train, test = data.splits[0]
    model = machine(0.7)
    wrong, imprecise = count_errors(model, data.X, data.y, train, test)
    assert wrong == np.sum(model.predict(data.X[test]) != data.y[test])
    assert not imprecise
    assert np.isclose(model.gamma, 1 / (2 * 0.7**2))
    # With such a narrow kernel the coefficients would have to be huge.
    assert count_errors(machine(0.05), data.X, data.y, train, test)[1]
