"""Answers of classifiers with and without a reject option."""

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bayespoint import DecisionConfidenceDisplay, RejectionCurveDisplay, RejectOptionClassifier
from bayespoint.evaluation.displays.answers import collect_answers
from display_helpers import drawn


def test_rejected_rows_are_answered_too(moons, rejecting):
    X, _ = moons
    answers = collect_answers(rejecting, X)
    np.testing.assert_array_equal(answers.labels, rejecting.estimator_.predict(X))
    np.testing.assert_array_equal(answers.confidence, rejecting.confidence(X))
    assert answers.classifier is rejecting.estimator_
    assert answers.threshold == rejecting.threshold_
    assert np.isnan(answers.max_error)
    assert collect_answers(rejecting.estimator_, X)[3:] == (None, None)


@pytest.mark.parametrize("display", [DecisionConfidenceDisplay, RejectionCurveDisplay])
def test_rejecting_inside_is_refused(moons, display):
    rejecting = RejectOptionClassifier(GaussianNB(), reject_rate=0.3)
    inside = make_pipeline(StandardScaler(), rejecting).fit(*moons)
    with pytest.raises(ValueError, match=r"Pipeline predicts labels that .* wrap everything in it"):
        display.from_estimator(inside, *moons)
    outside = RejectOptionClassifier(make_pipeline(StandardScaler(), GaussianNB()))
    drawn(display.from_estimator(outside.fit(*moons), *moons))
