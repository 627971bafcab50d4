"""The grid search for label regression: closed-form scores against a loop."""

import numpy as np
from sklearn.datasets import make_moons

from bayespoint import BayesPointClassifier
from bayespoint.fitting.power_link import (
    class_outputs,
    fit_power_link,
    known_outcomes,
    log_likelihood,
)


def test_the_score_is_that_of_rows_left_out_one_by_one():
    X, y = make_moons(50, noise=0.3, random_state=0)
    model = BayesPointClassifier("rbf", solver="regression", gamma=1.0, softness="auto")
    tried = model.fit(X, y).candidates_
    unit = (np.exp(-np.sum((X[:, None] - X[None]) ** 2, axis=2)) + 1) / 2
    known = known_outcomes(y, 2, np.ones(50))
    for softness, score in zip(tried.softness, tried.score, strict=True):
        outputs = np.empty((50, 1))
        for i in range(50):
            rest = np.delete(np.arange(50), i)
            noisy = unit[np.ix_(rest, rest)] + softness * np.eye(49)
            outputs[i] = unit[i, rest] @ np.linalg.solve(noisy, y[rest] - 0.5)
        expected = log_likelihood(class_outputs(outputs), fit_power_link(outputs, known), known)[0]
        np.testing.assert_allclose(score, expected, rtol=1e-8)
    assert model.softness_ == tried.softness[np.argmax(tried.score)]
