"""What a session ends with."""

import numpy as np

from bayespoint import BayesPointClassifier, active, load, save
from session_helpers import label


def test_predictions_say_where_they_come_from(certified, blobs):
    found = certified.predict()
    persons = found.source == "person"
    assert persons.sum() == len(certified.labels)
    assert np.all(found.label[persons] == blobs[1][persons])
    assert np.all(found.source[found.answered] == "model")
    assert set(found.source) <= {"person", "model", "refused"}


def test_the_reject_option_answers_as_promised_and_can_be_saved(certified, blobs, tmp_path):
    X, _ = blobs
    option = certified.reject_option()
    found = certified.predict()
    answers = option.predict(X)
    assert np.all(answers[found.answered] == found.label[found.answered])
    assert option.certified_error_ == 0.1
    assert active.Session(None, X).reject_option() is None


def test_our_own_model_can_be_saved(blobs, tmp_path):
    X, y = blobs
    session = active.Session(BayesPointClassifier(), X, max_error=0.2, random_state=0)
    label(session, y, 110)
    option = session.reject_option()
    assert option is not None
    save(option, tmp_path / "model.bayespoint")
    again = load(tmp_path / "model.bayespoint")
    assert np.array_equal(again.predict(X), option.predict(X))
