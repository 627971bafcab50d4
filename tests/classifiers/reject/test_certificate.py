import json

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.datasets import make_moons
from sklearn.naive_bayes import GaussianNB

from bayespoint import RejectOptionClassifier
from bayespoint.classifiers.reject import certificate as module
from bayespoint.classifiers.reject.certificate import MULTIPLES, ROWS_PER_BET, Certificate


def update(certificate, wrong, **more):
    return certificate.update(np.zeros(len(wrong)), np.asarray(wrong, dtype=float), **more)


def obvious(wrong, max_error):
    """Compute the evidence with a loop over answers, bets and errors, giving up no bet."""
    owned, most = [], 1.0
    for i, is_wrong in enumerate(wrong):
        if i % ROWS_PER_BET == 0:
            k = len(owned) + 1
            owned.append([1 / (k * (k + 1)) / len(MULTIPLES)] * len(MULTIPLES))
        for bet in owned:
            for j, multiple in enumerate(MULTIPLES):
                error = min(multiple * max_error, (1 + max_error) / 2)
                bet[j] *= error / max_error if is_wrong else (1 - error) / (1 - max_error)
        most = max(most, np.sum(owned) + 1 / (len(owned) + 1))
    return most


@pytest.mark.parametrize("max_error", [0.05, 0.6])
@pytest.mark.parametrize("sizes", [(450,), (1, 99, 100, 130, 120)])
def test_agrees_with_the_obvious_loop_in_any_parts(rng, max_error, sizes):
    wrong = rng.random(450) < 1.4 * max_error
    certificate = Certificate(max_error)
    for part in np.split(wrong, np.cumsum(sizes)[:-1]):
        update(certificate, part)
    (found,) = certificate.watched()
    assert (found.n_answers, found.n_wrong) == (450, wrong.sum())
    assert found.evidence == pytest.approx(obvious(wrong, max_error))


def alarms(rng, error, n_runs=200, n_answers=2000):
    """Return how many of the runs end with an alarm."""
    return sum(
        not update(Certificate(0.1), rng.random(n_answers) < error).holds for _ in range(n_runs)
    )


def test_false_alarms_are_rare_and_a_doubled_error_is_noticed(rng, monkeypatch):
    assert alarms(rng, 0.1) <= binom.ppf(0.999, 200, 0.05)
    assert alarms(rng, 0.2, n_runs=20) == 20
    # Odds that are not fair raise too many: the test can fail.
    monkeypatch.setattr(module.np, "log1p", lambda x: 0.9 * np.log(1 + x))
    assert alarms(rng, 0.1, n_runs=50) > binom.ppf(0.999, 50, 0.05)


def test_a_change_after_a_long_good_time_is_noticed(rng):
    certificate = update(Certificate(0.1), rng.random(30_000) < 0.05)
    assert certificate.holds
    assert not update(certificate, rng.random(1500) < 0.2).holds
    assert not update(certificate, np.zeros(5000)).holds  # it does not take this back


def test_refused_rows_do_not_count():
    certificate = Certificate(0.1, reject_label=-1)
    certificate.update([0, 1, 1], [0, -1, 0])
    (found,) = certificate.watched()
    assert (found.n_answers, found.n_wrong) == (2, 1)


def test_each_group_is_watched(rng):
    certificate, group = Certificate(0.1, groups=["n", "s"]), np.tile(["n", "s"], 1000)
    wrong = rng.random(2000) < np.where(group == "s", 0.3, 0.02)
    update(certificate, wrong, groups=group)
    assert [found.holds for found in certificate.watched()] == [True, False]
    assert not certificate.holds
    with pytest.raises(ValueError, match="pass the groups"):
        update(certificate, wrong)
    with pytest.raises(ValueError, match="2000 entries, but has 3"):
        update(certificate, wrong, groups=group[:3])


def test_it_can_be_stored(rng):
    wrong = rng.random(700) < 0.1
    whole = update(Certificate(0.1, groups=["a"]), wrong, groups=["a"] * 700)
    half = update(Certificate(0.1, groups=["a"]), wrong[:330], groups=["a"] * 330)
    half = Certificate.from_dict(json.loads(json.dumps(half.to_dict())))
    assert update(half, wrong[330:], groups=["a"] * 370).watched() == whole.watched()
    with pytest.raises(ValueError, match="does not fit"):
        Certificate.from_dict(half.to_dict() | {"groups": None, "bets": []})


def test_of_a_reject_option():
    X, y = make_moons(3000, noise=0.3, random_state=0)
    model = RejectOptionClassifier(
        GaussianNB(), max_error=0.15, groups="prediction", calibration_size=0.5, random_state=0
    ).fit(X[:2000], y[:2000])
    answers = model.predict(X[2000:])
    certificate = model.certificate().update(y[2000:], answers, groups=answers)
    assert certificate.holds
    assert sum(found.n_answers for found in certificate.watched()) == np.sum(answers != -1)
    with pytest.raises(ValueError, match="no promise to watch"):
        model.at().certificate()


def test_of_a_group_that_is_refused_there_are_no_answers_to_watch():
    X, y = make_moons(3000, noise=0.3, random_state=0)
    X = np.c_[X, np.where(np.arange(3000) < 60, 2, np.arange(3000) % 2)]
    option = RejectOptionClassifier(
        GaussianNB(), max_error=0.2, groups=2, calibration_size=0.5, random_state=0
    )
    with pytest.warns(UserWarning, match="'2'"):
        model = option.fit(X, y)
    certificate = model.certificate()
    assert certificate.groups == [0.0, 1.0]
    certificate.update(y, model.predict(X), groups=X[:, 2])
    with pytest.raises(ValueError, match="nothing is promised for its group '2'"):
        certificate.update(y[:5], y[:5], groups=X[:5, 2])


WRONG_ROWS = {
    "lengths": ([0, 1], [0], "but have 2 and 1"),
    "two columns": ([[0, 1], [1, 0]], [0, 1], "1d array"),
    "kinds": (["0", "1"], [0, 1], "numbers and the other texts"),
    "unknown number": ([0, np.nan], [0, 1], "y_true has no class in row 1"),
    "unknown text": (np.array([None, "a"], dtype=object), ["a", "a"], "y_true has no class"),
    "no answer": ([0, 1], [0, np.nan], "answers has no class in row 1"),
    "wrong order": ([0, -1], [0, 1], "True classes come first"),
}


@pytest.mark.parametrize("case", WRONG_ROWS)
def test_rows_that_cannot_be_judged(case):
    *rows, message = WRONG_ROWS[case]
    certificate = Certificate(0.1, reject_label=-1)
    with pytest.raises(ValueError, match=message):
        certificate.update(*rows)
    assert certificate.watched()[0].n_answers == 0


def test_groups_may_be_of_another_type_and_of_refused_rows():
    certificate = Certificate(0.1, reject_label=-1, groups=[2.0, 10.0])
    certificate.update([0, 1, 1, 1], [0, 1, 0, -1], groups=["10", "2", "10", "else"])
    assert [tuple(found[:3]) for found in certificate.watched()] == [(2.0, 1, 0), (10.0, 2, 1)]
    with pytest.raises(ValueError, match=r"2 entries, but has \(2, 1\)"):
        certificate.update([0, 1], [0, 1], groups=[[2.0], [2.0]])


def test_evidence_stays_a_number():
    certificate = update(Certificate(0.05), np.ones(1000))
    assert 1e300 < certificate.watched()[0].evidence < np.inf


def test_what_is_stored_is_strict_json_and_earlier_bets_are_read(rng):
    fresh = json.dumps(Certificate(0.1).to_dict(), allow_nan=False)
    assert Certificate.from_dict(json.loads(fresh)).watched() == Certificate(0.1).watched()
    whole = update(Certificate(0.1), rng.random(300) < 0.1)
    content = whole.to_dict()
    # Earlier versions stored the bets one by one.
    parts = np.log(np.array([0.2, 0.5, 0.3]))[:, None] + content["bets"][0]["worth"]
    content["bets"][0]["worth"] = parts.tolist()
    old = Certificate.from_dict(content)
    np.testing.assert_allclose(old._bets[0].worth, whole._bets[0].worth)


@pytest.mark.parametrize("parameters", [{"max_error": 0}, {"confidence_level": 1}])
def test_shares_out_of_bounds(parameters):
    with pytest.raises(ValueError, match="between 0 and 1"):
        Certificate(**{"max_error": 0.1} | parameters)
