"""The label of rejected rows, and the dtype that holds it beside the classes."""

import numpy as np
import pytest
from sklearn.datasets import make_moons
from sklearn.naive_bayes import GaussianNB

from bayespoint import RejectOptionClassifier
from bayespoint.classifiers.reject.labels import choose_reject_label, mark_rejected


@pytest.fixture(scope="module")
def moons():
    return make_moons(600, noise=0.35, random_state=0)


def wrap(**parameters):
    return RejectOptionClassifier(GaussianNB(), random_state=0, **parameters)


@pytest.mark.parametrize(
    ("classes", "label", "expected", "kind"),
    [
        ([0, 1], "auto", -1, "i"),
        ([-1, 1], "auto", -2, "i"),
        ([0.0, 1.0], "auto", -1, "f"),
        (np.array([3, 200], dtype=np.uint8), "auto", -1, "i"),
        ([False, True], "auto", -1, "i"),
        (["no", "yes"], "auto", "reject", "U"),
        (["no", "yes"], "ask a colleague", "ask a colleague", "U"),
        (["no", "yes"], None, None, "O"),
        (["no", "yes"], -1, -1, "O"),
        ([0, 1], 99, 99, "i"),
        ([0, 1], "?", "?", "O"),
        ([False, True], None, None, "O"),
    ],
)
def test_labels(moons, classes, label, expected, kind):
    X, y = moons[0], np.asarray(classes)[moons[1]]
    model = wrap(reject_rate=0.2, reject_label=label).fit(X, y)
    labels, accepted = model.predict(X), model.accept(X)
    assert labels.dtype.kind == kind
    assert set(labels[~accepted].tolist()) == {expected}
    np.testing.assert_array_equal(labels[accepted], model.estimator_.predict(X)[accepted])
    assert model.at().predict(X).dtype == model.estimator_.predict(X).dtype


def test_label_that_is_not_a_number(moons):
    labels = wrap(reject_rate=0.2, reject_label=np.nan).fit(*moons).predict(moons[0])
    assert np.isnan(labels).any()
    assert set(labels[~np.isnan(labels)]) == {0.0, 1.0}


@pytest.mark.parametrize(
    ("classes", "label"), [([0, 1], 1), (["a", "reject"], "auto"), ([False, True], 0)]
)
def test_label_that_is_a_class(moons, classes, label):
    with pytest.raises(ValueError, match=r"is a class.*Choose a reject_label"):
        wrap(reject_label=label).fit(moons[0], np.asarray(classes)[moons[1]])


def test_marking_leaves_the_predictions_alone():
    labels = np.array(["no", "yes", "no"])
    marked = mark_rejected(labels, np.array([False, True, False]), "ask somebody")
    assert marked.tolist() == ["no", "ask somebody", "no"]  # the text is not cut
    assert labels.tolist() == ["no", "yes", "no"]


def test_the_automatic_label_is_below_all_numbers():
    assert choose_reject_label("auto", [0, 5]) == -1
    assert choose_reject_label("auto", [-1, 0, 5]) == -2
    assert choose_reject_label("auto", [-7, -1]) == -8
