"""Errors that can be promised: the smallest of the list that does not refuse everything."""

import numpy as np
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression

from bayespoint import RejectOptionClassifier
from bayespoint.cli.promises import MAX_ERRORS_SHOWN, coverage_at, smallest_promise


def test_the_smallest_promise_answers_and_smaller_ones_do_not():
    X, y = make_classification(2000, 5, flip_y=0.1, class_sep=2, random_state=0)
    found = RejectOptionClassifier(LogisticRegression(), reject_rate=0.1, random_state=0).fit(X, y)
    max_error, coverage = smallest_promise(found)
    assert coverage == coverage_at(found, max_error) > 0
    assert max_error > min(MAX_ERRORS_SHOWN)
    assert all(coverage_at(found, other) == 0 for other in MAX_ERRORS_SHOWN if other < max_error)


def test_labels_at_random_have_no_promise():
    X, y = np.random.default_rng(0).normal(size=(400, 3)), np.arange(400) % 2
    machine = RejectOptionClassifier(LogisticRegression(), reject_rate=0.1, random_state=0)
    assert smallest_promise(machine.fit(X, y)) is None
