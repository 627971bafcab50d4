import numpy as np
import pytest

from bayespoint.papers.figure_9 import RATES, errors_of, machine
from papers_stand_ins import load_small_digits


def test_errors_agree_with_rejecting_by_hand():
    data = load_small_digits("usps")
    errors = errors_of(data, seed=0, jobs=1)
    outputs = machine(0, 1).fit(data.X_train, data.y_train).decision_function(data.X_test)
    wrong = outputs.argmax(axis=1) != data.y_test
    surest = np.argsort(-outputs.max(axis=1))
    # A rejection rate is reached with the next larger number of whole points.
    kept = [len(wrong) - int(np.ceil(rate * len(wrong) - 1e-9)) for rate in RATES]
    assert errors == pytest.approx([100 * np.mean(wrong[surest[:n]]) for n in kept])
