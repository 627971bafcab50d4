"""The readings of 000's section 4.3 in benchmarks/usps_readings.py: what they compute."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))

import usps_readings

from papers_stand_ins import load_small_digits
from perceptron_problems import slow_perceptron


@pytest.fixture
def few_perceptrons(monkeypatch):
    monkeypatch.setattr(usps_readings, "N_CLASSES", 3)
    monkeypatch.setattr(usps_readings, "N_MEMBERS", 2)


def slow_errors(gram, to_test, y, y_test, orders):
    """Return test errors in percent with algorithm 1 as printed: unit members, and raw ones."""
    unit, raw = np.zeros((2, len(y_test), 3))
    for c in range(3):
        signs = np.where(y == c, 1, -1)
        for k in range(2):
            alpha = signs * slow_perceptron(gram, signs, orders[c, k])
            raw[:, c] += to_test @ alpha
            unit[:, c] += to_test @ alpha / np.sqrt(alpha @ gram @ alpha)
    return [100 * np.mean(outputs.argmax(axis=1) != y_test) for outputs in (unit, raw)]


@pytest.mark.parametrize("same_orders", [False, True])
def test_errors_agree_with_algorithm_1(same_orders, few_perceptrons):
    data = load_small_digits("usps")
    train, test = data.y_train < 3, data.y_test < 3
    X, y = data.X_train[train][:60], data.y_train[train][:60]
    X_test, y_test = data.X_test[test], data.y_test[test]
    gram, to_test = ((Z @ X.T + 1) ** 5 / 1e6 for Z in (X, X_test))
    rng = np.random.default_rng(4)
    same = [rng.permutation(60) for _ in range(2)]
    orders = {
        (c, k): same[k] if same_orders else rng.permutation(60) for c in range(3) for k in range(2)
    }
    found = usps_readings.errors(gram, to_test, y, y_test, 4, same_orders)
    expected = slow_errors(gram, to_test, y, y_test, orders)
    assert [found["unit"], found["raw"]] == expected
    assert min(expected) > 0  # there is something to find


def test_a_line_of_the_table(capsys):
    usps_readings.report("as read", [4.6, 4.8, 5.0, 5.2])
    numbers = capsys.readouterr().out.removeprefix("as read").split()
    # The deviation of a single run from the mean of four is sqrt(5 / 4) deviations.
    deviation = np.std([4.6, 4.8, 5.0, 5.2], ddof=1)
    above = (4.9 - 4.73) / np.hypot(np.sqrt(5 / 4) * deviation, 0.01 / np.sqrt(12))
    assert numbers == ["4.900", f"{deviation:.3f}", f"{above:+.2f}", "25.0", "%"]
