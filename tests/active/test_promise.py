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
# A person gives up after so many.
MOST_AUDITS = 200


class Model:
    """A model of the test has probabilities."""

    def predict_proba(self, X):
        raise NotImplementedError


def checkpoint(confidence, learned=(), n_choices=0):
    """Return a model that always says class 0."""
    mask = np.zeros(len(confidence), dtype=bool)
    mask[list(learned)] = True
    return Checkpoint(Model(), np.zeros(len(confidence), dtype=int), confidence, mask, n_choices)


def confident(n=N_ROWS):
    return checkpoint(np.full(n, 0.99), range(20))


def promise_about(*checkpoints, seed=0):
    """Return a promise that tests checkpoints, and no answers."""
    n_rows = len(checkpoints[0].codes)
    promise, answers = Promise(n_rows, seed, MAX_ERROR, RISK), Answers(n_rows, 0, [0, 1])
    for found in checkpoints:
        promise.add(found, answers)
    return promise, answers


def audit_until_it_holds(truth, rng):
    """Return the true error among the rows left when the promise first holds, or None."""
    promise, answers = promise_about(confident(len(truth)), seed=int(rng.integers(2**31)))
    for _ in range(MOST_AUDITS):
        found = promise.best(answers)
        if found is not None:
            rest = found.sample.rows[answers.codes[found.sample.rows] < 0]
            return float(np.mean(truth[rest] != 0))
        work = promise.in_work(answers)
        if work is None:
            return None
        row = work.next_row
        answers.tell(row, int(truth[row]), answers.mark(row, True))
    return None


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
        # The sample has a fifth of the risk; give this bound all of it, as one would.
        return -np.log(bdtr(n_wrong, n_drawn, n_tested / size)) + np.log(5)

    ours = share_broken(N_BAD, 100)
    monkeypatch.setattr(promises, "log_evidence", one_shot)
    monkeypatch.setattr(Promise, "audits_ahead", lambda self, progress: 1.0)
    # test_anytime.py has the exact probabilities.
    assert share_broken(N_BAD, 100) > RISK >= ours


def test_a_good_model_is_certified_and_its_rest_is_larger_than_the_audits():
    truth = np.zeros(1000, dtype=int)
    truth[::100] = 1
    promise, answers = promise_about(confident(1000))
    while promise.best(answers) is None:
        row = promise.in_work(answers).next_row
        answers.tell(row, int(truth[row]), answers.mark(row, True))
    found = promise.best(answers)
    assert found.n_audited < 100
    assert promise.bound(found, answers) <= MAX_ERROR
    assert found.n_rest > 800


def audited(labels):
    """Return the evidence after audits with these labels, in order."""
    promise, answers = promise_about(confident())
    for row, label in zip(promise.samples[0].rows.tolist(), labels, strict=False):
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
    assert found.next_row == found.sample.rows[10]


def test_rows_that_the_model_learned_from_are_never_audited():
    promise, _ = promise_about(confident())
    assert set(range(20)).isdisjoint(promise.samples[0].rows)


def test_the_risks_of_all_tests_add_up_to_at_most_the_risk():
    confidence = np.linspace(1, 0.85, 5000)
    sizes = (20, 30, 40, 80, 160, 320, 640, 1280)
    promise, _ = promise_about(*(checkpoint(confidence, range(n)) for n in sizes))
    assert len({id(s.checkpoint) for s in promise.samples}) == 7  # 30 is less than twice 20
    assert sum(s.risk for s in promise.samples) <= RISK
    # Each new order may be tried after the outcome of the others is known, so each has its share.
    chosen = (checkpoint(confidence, range(n), i) for i, n in enumerate(sizes[2:]))
    promise, _ = promise_about(*chosen)
    assert sum(s.risk for s in promise.samples) <= RISK
    most = [max(s.risk for s in promise.samples if s.checkpoint.n_choices == i) for i in range(6)]
    assert sum(4 * risk for risk in most) <= RISK  # as if all tests of an order came true


def test_a_model_that_is_not_sure_is_not_tested():
    unsure = checkpoint(np.full(N_ROWS, 0.7), range(20))
    promise, answers = promise_about(unsure, checkpoint(np.full(N_ROWS, 0.99), range(5)))
    assert not promise.samples
    assert promise.in_work(answers) is None


def test_bounds_hold_together_over_time():
    rng = np.random.default_rng(1)
    truth = (rng.uniform(size=N_ROWS) < 0.08).astype(int)
    promise, answers = promise_about(confident())
    sample = promise.samples[0]
    for row in sample.rows[:-1]:
        answers.tell(int(row), int(truth[row]), answers.mark(int(row), True))
        progress = promise.follow(sample, answers)
        rest = sample.rows[answers.codes[sample.rows] < 0]
        assert progress.n_rest == len(rest)
        assert np.mean(truth[rest]) <= promise.bound(progress, answers)


def test_what_a_person_chose_to_learn_is_tested_on_rows_that_nobody_has_seen():
    promise, answers = promise_about(confident())
    seen = promise.samples[0].rows[:30].tolist()
    for row in seen:
        answers.tell(row, 0, answers.mark(row, True))
    promise.add(checkpoint(np.full(N_ROWS, 0.99), range(40), n_choices=1), answers)
    new = promise.samples[1].rows
    assert set(seen).isdisjoint(new)
    assert set(new) == set(range(40, N_ROWS)) - set(seen)
    before = [row for row in promise.samples[0].rows.tolist() if row in set(new.tolist())]
    assert new.tolist() != before  # another order
    # Models that learn more rows share these audits.
    audited = new[:5].tolist()
    for row in audited:
        answers.tell(row, 0, answers.mark(row, True))
    promise.add(checkpoint(np.full(N_ROWS, 0.99), range(80), n_choices=1), answers)
    assert [r for r in promise.samples[2].rows if r in audited] == [r for r in audited if r >= 80]


def test_before_the_first_test_nobody_knows_audits():
    promise, answers = promise_about(checkpoint(np.full(N_ROWS, 0.99), range(40), n_choices=3))
    other, _ = promise_about(checkpoint(np.full(N_ROWS, 0.99), range(40)))
    assert promise.samples[0].rows.tolist() == other.samples[0].rows.tolist()
    assert promise.samples[0].risk == other.samples[0].risk
    promise.add(checkpoint(np.full(N_ROWS, 0.99), range(80), n_choices=4), answers)
    assert promise.samples[1].rows.tolist() != [r for r in promise.samples[0].rows if r >= 80]


def test_equal_confidences_stay_together_however_they_are_rounded():
    confidence = np.repeat([0.999, 0.99, 0.6], N_ROWS // 3)
    confidence = confidence + 1e-12 * np.random.default_rng(0).uniform(-1, 1, N_ROWS)
    promise, _ = promise_about(checkpoint(confidence, range(20)))
    for sample in promise.samples:
        gap = np.abs(confidence - sample.threshold).min()
        assert gap > 5e-10  # hundreds of times the rounding


def fools_the_promise(seed, n_choices):
    """Return whether a promise breaks if the model is taught what was audited, and nothing else."""
    truth = np.zeros(N_ROWS, dtype=int)
    truth[20::5] = 1  # twice as many as may be wrong
    promise, answers = promise_about(confident(), seed=seed)

    def audit(sample, n):
        for row in sample.rows[:n].tolist():
            answers.tell(row, int(truth[row]), answers.mark(row, True))

    audit(promise.samples[0], 80)
    codes = np.where(answers.codes >= 0, truth, 0)  # right about rows that are like audited ones
    taught = checkpoint(np.full(N_ROWS, 0.99), range(40), n_choices)._replace(codes=codes)
    promise.add(taught, answers)
    audit(promise.samples[1], 80)
    found = promise.best(answers)
    if found is None:
        return False
    rest = found.sample.rows[answers.codes[found.sample.rows] < 0]
    return np.mean(truth[rest] != codes[rest]) > MAX_ERROR


def test_a_person_who_teaches_what_was_audited_cannot_break_the_promise():
    assert not any(fools_the_promise(seed, 1) for seed in range(20))
    # In the order that the person has seen, it breaks each time.
    assert all(fools_the_promise(seed, 0) for seed in range(20))
