"""Questions and answers, with any classifier, and what a session ends with."""

import secrets

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import ExtraTreeClassifier

from bayespoint import active
from bayespoint.active.answers import Answers
from bayespoint.active.promise import Promise
from bayespoint.active.questions import RANDOM_ROWS, ROWS_UNTIL_ASKED_AGAIN
from session_helpers import label


def test_the_promise_comes_and_is_true(certified, blobs):
    certificate, found = certified.certificate(), certified.predict()
    assert certificate.holds
    assert certificate.error_bound <= 0.1
    assert found.answered.sum() == certificate.n_answered
    assert np.mean(found.label[found.answered] != blobs[1][found.answered]) <= 0.1
    assert "At most 10 % of these answers are wrong" in certificate.message
    assert certificate.n_audited >= 20


def test_no_row_is_asked_twice_and_all_are_asked(blobs):
    X, y = blobs[0][:40], blobs[1][:40]
    session = active.Session(GaussianNB(), X, max_error=0.2, random_state=0)
    label(session, y, 40)
    assert session.ask() is None
    assert len(session.labels) == 40
    assert session.certificate().n_answered == 0


@pytest.mark.parametrize("max_error", [None, 0.1])
def test_replay_restores_the_session(blobs, max_error):
    X, y = blobs
    first = active.Session(GaussianNB(), X, max_error=max_error, random_state=3)
    label(first, y, 30)
    first.undo()
    first.skip(first.ask())
    first.tell(first.ask(), active.UNKNOWN)
    label(first, y, 12)
    second = active.Session(GaussianNB(), X, max_error=max_error, random_state=3)
    second.replay(first.actions)
    assert second.labels == first.labels
    assert second.certificate() == first.certificate()
    assert second.ask() == first.ask()
    assert np.array_equal(second.predict().label, first.predict().label)


def test_undo_asks_again_and_can_be_repeated(blobs):
    X, y = blobs
    session = active.Session(GaussianNB(), X, max_error=0.1, random_state=0)
    rows = []
    for _ in range(30):
        rows.append(session.ask())
        session.tell(rows[-1], str(y[rows[-1]]))
    for row in rows[:10:-1]:
        assert session.undo() == row
        assert session.ask() == row
    assert len(session.labels) == 11


def test_an_undone_audit_stays_an_audit(blobs):
    X, y = blobs
    session = label(active.Session(GaussianNB(), X, max_error=0.1, random_state=0), y, 40)
    while not session._asked or not session._asked.audit:
        label(session, y, 1)
        session.ask()
    row, training = session.ask(), list(session._answers.training)
    session.tell(row, "a")
    label(session, y, 3)
    for _ in range(4):
        undone = session.undo()
    assert undone == row
    session.tell(row, "b")
    assert session._answers.training == training


def test_skipped_rows_come_back(blobs):
    X, y = blobs[0][:25], blobs[1][:25]
    session = active.Session(GaussianNB(), X, random_state=0)
    skipped = session.ask()
    session.skip(skipped)
    label(session, y, ROWS_UNTIL_ASKED_AGAIN)
    assert session.ask() == skipped


def rows_learned(session, y, n):
    """Answer until models have so many rows to learn from, and return these."""
    while len(session._answers.training) < n:
        label(session, y, 1)
    return session._answers.training[:n]


def test_what_is_learned_does_not_depend_on_audits(blobs, monkeypatch):
    X, y = blobs

    def learned(seed_of_audits):
        session = active.Session(GaussianNB(), X, max_error=0.5, random_state=0)
        promise = Promise(len(X), seed_of_audits, 0.5, 1e-9)
        session._promise = session._questions._promise = promise
        return rows_learned(session, y, 60), len(session.labels) > 70

    assert learned(1) == learned(2) == learned(3)
    assert learned(1)[1]  # there are audits
    # A session that learns from audits is found out.
    monkeypatch.setattr(Answers, "mark", lambda *_: secrets.token_hex(4))
    assert learned(1) != learned(2)


@pytest.mark.parametrize("estimator", [GaussianNB(), None])
def test_rows_told_while_a_question_is_open_are_replayed_the_same(blobs, estimator):
    X, y = blobs

    def session():
        return active.Session(estimator, X, max_error=0.2, random_state=1)

    first = session()
    first.ask()
    for row in range(24):  # as a search on the page does
        first.tell(row, str(y[row]))
    label(first, y, 20)
    for row in range(100, 130):  # as a merge does, without a question
        first.tell(row, str(y[row]))
    label(first, y, 10)
    second = session()
    second.replay(first.actions)
    assert second.ask() == first.ask()
    assert second.certificate() == first.certificate()
    tested = [s.checkpoint.learned.tolist() for s in first._promise.samples]
    assert [s.checkpoint.learned.tolist() for s in second._promise.samples] == tested


def test_the_same_answers_give_the_same_session_with_a_random_classifier(blobs):
    X, y = blobs
    estimator = make_pipeline(StandardScaler(), ExtraTreeClassifier())
    first, second = (active.Session(estimator, X, random_state=0) for _ in range(2))
    label(first, y, 25)
    second.replay(first.actions)
    assert second.ask() == first.ask()
    assert estimator[-1].random_state is None


def test_only_the_question_can_be_skipped(blobs):
    session = active.Session(None, blobs[0], random_state=0)
    with pytest.raises(ValueError, match="not asked about"):
        session.skip((session.ask() + 1) % 300)


def test_a_skipped_audit_does_not_count_as_audited(blobs):
    X, y = blobs
    session = active.Session(GaussianNB(), X, max_error=0.2, random_state=0)
    skipped = None
    for _ in range(160):
        row = session.ask()
        if skipped is None and session._asked.audit:
            skipped = row
        if row == skipped:
            session.skip(row)
        else:
            session.tell(row, str(y[row]))
        if session.certificate().holds:
            break
    certified = session._certified()
    seen = certified.sample.rows[: certified.n_seen].tolist()
    assert skipped in seen
    assert session.certificate().n_audited == len(seen) - 1
    assert len(session.reject_option().calibration_correct_) == len(seen) - 1


def test_a_class_far_from_all_boundaries_is_found():
    X, y = load_iris(return_X_y=True)
    # The first rows of this session have two of the three classes.
    session = active.Session(None, X, random_state=0)
    first = session._questions.random_order[:RANDOM_ROWS]
    assert len({int(y[row]) for row in first}) == 2
    for _ in range(40):
        row = session.ask()
        session.tell(row, int(y[row]))
    assert len(session.classes) == 3


def test_corrections_change_the_model(blobs):
    X, y = blobs
    session = label(active.Session(GaussianNB(), X, random_state=0), y, 20)
    row = next(iter(session.labels))
    session.tell(row, "d")
    assert session.classes[-1] == "d"
    session.ask()
    assert "d" in session.model.classes_


def test_labels_that_are_there_already_are_learned(blobs):
    X, y = blobs
    known = {row: str(y[row]) for row in range(12)}
    session = active.Session(GaussianNB(), X, labels=known, random_state=0)
    assert session.ask() not in known
    assert session.model is not None
    assert session.actions == []


@pytest.mark.parametrize("estimator", [LogisticRegression(), LinearSVC(), None])
def test_any_classifier(estimator, blobs):
    X, y = blobs
    session = label(active.Session(estimator, X, max_error=0.1, random_state=0), y, 45)
    found = session.predict()
    assert np.mean(found.label == y) > 0.9
    session.summary()


def test_a_table_with_text_and_missing_values(blobs):
    X, y = blobs
    table = pd.DataFrame(X, columns=["u", "v"])
    table["kind"] = np.where(X[:, 0] > 3, "far", "near")
    table.loc[::7, "v"] = np.nan
    session = label(active.Session(None, table, random_state=0), y, 25)
    assert np.mean(session.predict().label == y) > 0.8


def test_before_the_first_answer(blobs):
    session = active.Session(None, blobs[0], max_error=0.1)
    assert not session.certificate().holds
    assert session.summary().estimated_error is None
    assert session.model is None
    assert set(session.predict().source) == {"refused"}
    assert len(session.upcoming(3)) == 3
    assert not session.work()


def test_clear_errors(blobs):
    X, _ = blobs
    with pytest.raises(ValueError, match="X_pool should be a table"):
        active.Session(None, [])
    with pytest.raises(ValueError, match="max_error should be between"):
        active.Session(None, X, max_error=5)
    session = active.Session(None, X)
    with pytest.raises(ValueError, match="row should be between 0 and 299"):
        session.tell(300, "a")
    with pytest.raises(ValueError, match="no answer to take back"):
        session.undo()
