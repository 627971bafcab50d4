"""Rows that trained a model are left out, unless they are equal by chance."""

import numpy as np
import pytest

from bayespoint.evaluation.baselines import Baseline
from bayespoint.evaluation.fingerprints import Fingerprints
from bayespoint.evaluation.intervals import share
from bayespoint.evaluation.record import TrainingRecord


def record_of(trained, held_out):
    known = Fingerprints.empty().add(trained=trained)
    by_chance = share(known.look(held_out).trained.sum(), len(held_out), 0.95)
    ours = Baseline("this model", "somehow", share(3, 20, 0.95), 0.5)
    return TrainingRecord(known.add(held_out=held_out), by_chance, [ours], "No time.")


@pytest.fixture
def rows(rng):
    X = rng.normal(size=(100, 3))
    return X, np.arange(100), record_of(X[:80], X[80:])


def test_only_rows_that_are_new_are_judged(rows):
    X, y, record = rows
    judged = record.to_judge(X, y)
    assert judged.y.tolist() == list(range(80, 100))
    np.testing.assert_array_equal(judged.X, X[80:])
    assert (judged.seen.n_seen, judged.seen.n_held_out, judged.seen.judged) == (80, 20, "unseen")


def test_all_rows_on_request(rows):
    X, y, record = rows
    judged = record.to_judge(X, y, include_seen=True)
    assert len(judged.y) == 100
    assert judged.seen.requested
    assert not judged.seen.only_new


def test_nothing_is_left(rows):
    X, y, record = rows
    with pytest.raises(ValueError, match="All 80 rows were used to train"):
        record.to_judge(X[:80], y[:80])


def test_new_rows_are_all_judged(rows, rng):
    _, y, record = rows
    judged = record.to_judge(rng.normal(size=(100, 3)), y)
    assert len(judged.y) == 100
    assert judged.seen.n_seen == judged.seen.n_held_out == 0


def test_coincidences_of_few_distinct_rows_are_judged(rng):
    """Of eight possible rows all were seen: that says nothing about new rows."""
    draw = lambda n: rng.integers(0, 2, (n, 3))  # noqa: E731
    record = record_of(draw(400), draw(100))
    judged = record.to_judge(draw(50), np.arange(50))
    assert len(judged.y) == 50
    assert judged.seen.are_coincidences


def test_training_rows_among_coincidences_are_noticed(rng):
    trained = rng.integers(0, 30, (300, 2))  # 900 possible rows: about a quarter are coincidences
    record = record_of(trained, rng.integers(0, 30, (100, 2)))
    assert 5 < record.by_chance.number < 60
    judged = record.to_judge(np.vstack([trained, rng.integers(0, 30, (100, 2))]), np.arange(400))
    assert judged.seen.judged == "unseen"
    assert (judged.y >= 300).all()
    new = record.to_judge(rng.integers(0, 30, (100, 2)), np.arange(100))
    assert new.seen.are_coincidences


def test_a_sample_of_fingerprints_judges_what_it_can_check(rng, monkeypatch):
    monkeypatch.setattr("bayespoint.evaluation.fingerprints.MAX_KEPT", 50)
    X, new = rng.normal(size=(2, 400, 2))
    record = record_of(X, new[:20])
    judged = record.to_judge(np.vstack([X, new]), np.arange(800))
    assert (judged.y >= 400).all()
    assert judged.seen.n_judged == judged.seen.n_checked - judged.seen.n_seen < 200


def test_to_and_from_a_file(rows):
    X, y, record = rows
    again = TrainingRecord.from_dict(record.to_dict())
    assert again.baselines == record.baselines
    assert (again.by_chance, again.reason) == (record.by_chance, "No time.")
    assert again.to_judge(X, y).seen == record.to_judge(X, y).seen
    assert TrainingRecord.from_dict(None) is None
