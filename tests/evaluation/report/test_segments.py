"""Segments: found where they are planted, and rarely where nothing is to be found."""

import numpy as np
import pytest
from scipy import stats

from bayespoint.evaluation.measure import evaluate_probabilities
from bayespoint.evaluation.report.columns import Table
from bayespoint.evaluation.report.segments import _p_values, find_segments

pd = pytest.importorskip("pandas")


def evaluation_with(wrong):
    """Return an evaluation with errors in given rows, of a model that is always 80 % sure."""
    probability = np.tile([0.8, 0.2], (len(wrong), 1))
    return evaluate_probabilities(np.asarray(wrong).astype(int), probability, [0, 1])


def test_finds_a_category_a_range_of_numbers_and_missing_values():
    rng = np.random.default_rng(0)
    n = 2000
    frame = pd.DataFrame(
        {
            "town": rng.choice(["Ulm", "Bonn", "Kiel"], n),
            "age": rng.normal(size=n),
            "code": rng.integers(0, 3, n),
            "gap": np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n)),
            "noise": rng.normal(size=n),
        }
    )
    hard = (frame["town"] == "Bonn") | (frame["age"] > 0.68) | frame["gap"].isna()
    found, n_looks = find_segments(
        Table(frame), evaluation_with(rng.random(n) < np.where(hard, 0.4, 0.1))
    )
    by_column = {segment.column: segment for segment in found}
    assert set(by_column) == {0, 1, 3}
    assert by_column[0].values == "= Bonn"
    assert by_column[1].values.startswith("over 0.")
    assert by_column[3].values == "missing"
    # 3 towns, 4 quarters, 3 codes, 4 quarters and missing, 4 quarters
    assert n_looks == 3 + 4 + 3 + 5 + 4
    for segment in found:
        assert segment.error.value > segment.elsewhere.value
        assert segment.error.total + segment.elsewhere.total == n
        assert segment.expected == pytest.approx(0.2)


def test_the_tests_are_exact():
    wrong = np.arange(50) < 17
    for n_rows, n_wrong in ((20, 12), (20, 2), (25, 8)):
        table = [[n_wrong, n_rows - n_wrong], [17 - n_wrong, 33 - n_rows + n_wrong]]
        tails = [stats.fisher_exact(table, side).pvalue for side in ("less", "greater")]
        found = _p_values(np.array([n_rows]), np.array([n_wrong]), wrong)
        assert found[0] == pytest.approx(min(1, 2 * min(tails)), rel=1e-9)


def test_few_false_alarms():
    rng = np.random.default_rng(1)
    n_tries = 100
    alarms = 0
    for _ in range(n_tries):
        cells = Table(rng.normal(size=(300, 10)))
        alarms += bool(find_segments(cells, evaluation_with(rng.random(300) < 0.2)).found)
    # At most 5 % of the tries; four standard errors.
    assert alarms <= 5 + 4 * np.sqrt(n_tries * 0.05 * 0.95)


@pytest.mark.parametrize("values", [np.full(60, np.nan), np.full(60, np.inf), np.arange(60.0)])
def test_odd_columns(values):
    cells = Table(np.column_stack([values, np.where(np.arange(60) < 30, -np.inf, values)]))
    segments = find_segments(cells, evaluation_with(np.arange(60) < 30))
    assert all(segment.p_value < 0.05 for segment in segments.found)
    assert find_segments(cells, evaluation_with(np.zeros(60, dtype=bool))).found == []


def test_nothing_to_look_at():
    assert find_segments(Table(np.zeros((10, 2))), evaluation_with(np.arange(10) < 5)) == ([], 0)
