import numpy as np
import pytest

from bayespoint.fitting.choice_rule import Quality, is_due, quality_of

CHOSEN = Quality(100, 2, -0.5, 0.05)


@pytest.mark.parametrize(
    ("now", "due"),
    [
        (Quality(101, 2, -0.5, 0.05), False),
        (Quality(149, 2, -0.5, 0.05), False),
        (Quality(150, 2, -0.5, 0.05), True),  # many more rows
        (Quality(66, 2, -0.5, 0.05), True),  # many fewer
        (Quality(67, 2, -0.5, 0.05), False),
        (Quality(101, 3, -0.5, 0.05), True),  # the first row of a class
        (Quality(120, 2, -0.7, 0.05), True),  # worse by more than two standard errors
        (Quality(120, 2, -0.6, 0.05), False),
        (Quality(114, 2, -5.0, 0.05), False),  # but a choice was made only just now
        (Quality(120, 2, -0.1, 0.05), False),  # better
    ],
)
def test_when_a_choice_is_due(now, due):
    assert is_due(CHOSEN, now) is due


def test_a_few_rows_more_are_too_few():
    assert not is_due(Quality(1, 1, -0.1, np.inf), Quality(4, 1, -0.1, 0.1))
    assert is_due(Quality(1, 1, -0.1, np.inf), Quality(6, 1, -0.1, 0.1))


def test_quality_by_hand():
    loo = np.array([[0.5, 0.5], [0.2, 0.8], [np.nan, np.nan]])
    found = quality_of(loo, np.array([0, 1, 1]))
    logs = np.log([0.5, 0.8])
    assert found == (2, 2, pytest.approx(logs.mean()), pytest.approx(logs.std() / np.sqrt(2)))


def test_one_row_has_no_error():
    assert quality_of(np.array([[0.5, 0.5]]), np.array([0])).std_error == np.inf
