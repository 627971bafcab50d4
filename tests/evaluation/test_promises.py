import numpy as np
import pytest
from sklearn.frozen import FrozenEstimator
from sklearn.naive_bayes import GaussianNB

from bayespoint import RejectOptionClassifier
from bayespoint.evaluation import evaluate
from bayespoint.evaluation.intervals import share
from bayespoint.evaluation.promises import CountGroups, makes_any_promise

SURE = {"groups": 1, "max_error": 0.2}


@pytest.fixture
def fitted(rng):
    """Return a model with a threshold for each of two groups, and rows of three groups."""
    X = np.c_[rng.normal(size=3000), np.arange(3000) % 2]
    y = (X[:, 0] + 0.7 * rng.normal(size=3000) > 0).astype(int)
    frozen = FrozenEstimator(GaussianNB().fit(X[:1000], y[:1000]))
    model = RejectOptionClassifier(frozen, **SURE).fit(X[1000:2000], y[1000:2000])
    X[2000:2007, 1] = 5
    return model, X[2000:], y[2000:]


def test_intervals_of_groups_share_the_risk(fitted):
    model, X, y = fitted
    promise = evaluate(model, X, y).promise
    for group, one in zip(model.groups_, promise.groups, strict=False):
        rows = model.accept(X) & (X[:, 1] == group)
        wrong = rows & (model.at().predict(X) != y)
        assert one.error == share(wrong.sum(), rows.sum(), 1 - 0.05 / 2)
        assert one.threshold == model.group_thresholds_[int(group)]
    assert promise.groups[-1].n_rows == 7
    assert promise.groups[-1].error.total == 0
    assert promise.by == "value of column 1"


def test_counts_part_by_part_are_those_of_the_whole(fitted):
    model, X, _ = fitted
    counted, whole = CountGroups(model), CountGroups(model)
    answers, accepted = model.at().predict(X), model.accept(X)
    whole.add(X, answers, accepted)
    for part in np.array_split(np.arange(len(X)), 7):
        counted.add(X[part], answers[part], accepted[part])
    assert counted.found() == whole.found()
    assert [(one.group, one.n_rows) for one in whole.found()] == [
        ("0", np.sum(X[:, 1] == 0)),
        ("1", np.sum(X[:, 1] == 1)),
        ("(not in training)", 7),
    ]
    assert sum(one.n_answered for one in whole.found()) == accepted.sum()
    plain = CountGroups(model.at())
    plain.add(X, answers, accepted)
    assert plain.found() == []


def test_what_is_a_promise(fitted):
    model, X, y = fitted
    assert makes_any_promise(model)
    assert makes_any_promise(model.at(max_false_positive_rate=0.5))
    assert not makes_any_promise(model.at(reject_rate=0.1))
    assert evaluate(model.at(reject_rate=0.1), X, y).promise.kept == ()
    assert evaluate(model.at(), X, y).promise is None
