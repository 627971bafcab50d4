"""The lead of the best class over the second."""

import numpy as np

from bayespoint import active


def test_margin_is_the_smallest_lead(iris):
    model, X = iris
    probability = np.sort(model.predict_proba(X), axis=1)
    assert active.query(model, X)[0] == np.argmin(probability[:, -1] - probability[:, -2])
