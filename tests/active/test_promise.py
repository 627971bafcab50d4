"""The promise holds at every moment, also if a person stops at the first certificate."""

import math

import numpy as np
import pytest
from scipy.special import bdtr
from scipy.stats import binom

from bayespoint.active import promise as promises
from bayespoint.active.answers import UNKNOWN, Answers
from bayespoint.active.promise import Checkpoint, Promise

N_ROWS, MAX_ERROR, RISK = 300, 0.1, 0.05


class Model:
    """A model of the test has probabilities."""

    def predict_proba(self, X):
        raise NotImplementedError


def checkpoint(confidence, learned=()):
    """Return a model that always says class 0."""
    mask = np.zeros(len(confidence), dtype=bool)
    mask[list(learned)] = True
    return Checkpoint(Model(), np.zeros(len(confidence), dtype=int), confidence, mask)


def confident(n=N_ROWS):
    return checkpoint(np.full(n, 0.99), range(20))


def audit_until_it_holds(truth, rng):
    """Return the true error among the rows left when the promise first holds, or None."""
    promise = Promise(rng.permutation(len(truth)), MAX_ERROR, RISK)
    promise.add(confident(len(truth)))
    answers = Answers(len(truth), 0, [0, 1])
    while True:
        found = promise.best(answers)
        if found is not None:
            rest = found.sample.rows[answers.codes[found.sample.rows] < 0]
            return float(np.mean(truth[rest] != 0))
        work = promise.in_work(answers)
        if work is None:
            return None
        row = work.next_row
        answers.tell(row, int(truth[row]), answers.mark(row, True))


def share_broken(n_bad, n_sessions, seed=0):
    rng = np.random.default_rng(seed)
    truth = np.zeros(N_ROWS, dtype=int)
    truth[20 : 20 + n_bad] = 1
    errors = [audit_until_it_holds(truth, rng) for _ in range(n_sessions)]
    return np.mean([e is not None and e > MAX_ERROR for e in errors])


# The rows left must be wrong more often than MAX_ERROR whatever was audited: just above it.
N_BAD = math.floor(MAX_ERROR * (N_ROWS - 20)) + 1
N_SESSIONS = 300
# A share above this is broken too often: exceeded with probability 0.001 if the risk is kept.
LIMIT = binom.ppf(0.999, N_SESSIONS, RISK) / N_SESSIONS


@pytest.mark.parametrize("n_bad", [N_BAD, 2 * N_BAD])
def test_a_person_who_stops_at_the_first_certificate_is_not_fooled(n_bad):
    assert share_broken(n_bad, N_SESSIONS) <= LIMIT


def test_a_one_shot_bound_is_broken_more_often(monkeypatch):
    def one_shot(n_wrong, n_drawn, size, n_tested, max_error):
        # The sample has a quarter of the risk; give this bound all of it, as one would.
        return -np.log(bdtr(n_wrong, n_drawn, n_tested / size)) + np.log(4)

    monkeypatch.setattr(promises, "log_evidence", one_shot)
    monkeypatch.setattr(Promise, "audits_ahead", lambda self, progress: 1.0)
    assert share_broken(N_BAD, N_SESSIONS) > LIMIT


def test_a_good_model_is_certified_and_its_rest_is_larger_than_the_audits():
    truth = np.zeros(1000, dtype=int)
    truth[::100] = 1
    promise = Promise(np.random.default_rng(0).permutation(1000), MAX_ERROR, RISK)
    promise.add(confident(1000))
    answers = Answers(1000, 0, [0, 1])
    while promise.best(answers) is None:
        row = promise.in_work(answers).next_row
        answers.tell(row, int(truth[row]), answers.mark(row, True))
    found = promise.best(answers)
    assert found.n_audited < 100
    assert promise.bound(found, answers) <= MAX_ERROR
    assert found.n_rest > 800


def audited(labels):
    """Return the evidence after audits with these labels, in order."""
    promise = Promise(np.arange(N_ROWS), MAX_ERROR, RISK)
    promise.add(confident())
    answers = Answers(N_ROWS, 0, [0, 1])
    for row, label in enumerate(labels, start=20):
        if label == "skip":
            answers.skip(row)
        elif label is not None:
            answers.tell(row, label, answers.mark(row, True))
    return promise.follow(promise.samples[0], answers)


def test_unknown_and_skipped_rows_count_as_wrong():
    right, wrong = audited([0] * 30), audited([0] * 29 + [1])
    unknown, skipped = audited([0] * 29 + [UNKNOWN]), audited([0] * 29 + ["skip"])
    assert right.n_wrong == 0
    assert wrong.n_wrong == unknown.n_wrong == skipped.n_wrong == 1
    assert skipped.n_rest == wrong.n_rest + 1
    assert wrong.evidence == unknown.evidence >= skipped.evidence


def test_audits_count_up_to_the_first_row_without_an_answer():
    found = audited([0] * 10 + [None] + [0] * 10)
    assert found.n_audited == 10
    assert found.next_row == 30


def test_rows_that_the_model_learned_from_are_never_audited():
    promise = Promise(np.arange(N_ROWS)[::-1], MAX_ERROR, RISK)
    promise.add(confident())
    assert set(range(20)).isdisjoint(promise.samples[0].rows)


def test_the_risks_of_all_tests_add_up_to_at_most_the_risk():
    promise = Promise(np.arange(5000), MAX_ERROR, RISK)
    confidence = np.linspace(1, 0.85, 5000)
    for n_learned in (20, 30, 40, 80, 160, 320, 640, 1280):
        promise.add(checkpoint(confidence, range(n_learned)))
    assert len({id(s.checkpoint) for s in promise.samples}) == 7  # 30 is less than twice 20
    assert sum(s.risk for s in promise.samples) <= RISK


def test_a_model_that_is_not_sure_is_not_tested():
    promise = Promise(np.arange(N_ROWS), MAX_ERROR, RISK)
    promise.add(checkpoint(np.full(N_ROWS, 0.7), range(20)))
    promise.add(checkpoint(np.full(N_ROWS, 0.99), range(5)))
    assert not promise.samples
    assert promise.in_work(Answers(N_ROWS, 0)) is None


def test_bounds_hold_together_over_time():
    rng = np.random.default_rng(1)
    truth = (rng.uniform(size=N_ROWS) < 0.08).astype(int)
    promise = Promise(rng.permutation(N_ROWS), MAX_ERROR, RISK)
    promise.add(confident())
    answers, sample = Answers(N_ROWS, 0, [0, 1]), promise.samples[0]
    for row in sample.rows[:-1]:
        answers.tell(int(row), int(truth[row]), answers.mark(int(row), True))
        progress = promise.follow(sample, answers)
        rest = sample.rows[answers.codes[sample.rows] < 0]
        assert progress.n_rest == len(rest)
        assert np.mean(truth[rest]) <= promise.bound(progress, answers)
