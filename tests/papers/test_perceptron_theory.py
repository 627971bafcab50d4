import pytest

from bayespoint.papers.perceptron_theory import bayes_error, largest_margin_error


def test_rates_of_many_examples_are_those_of_the_paper():
    """000, sec. 1: 0.44 and 0.50, both rounded to two digits."""
    assert abs(200 * bayes_error(200) - 0.44) < 0.005
    assert abs(200 * largest_margin_error(200) - 0.50) < 0.005


def test_few_examples_teach_little_and_equally():
    for theory in (bayes_error, largest_margin_error):
        assert 0.45 < theory(0.02) < 0.5
    assert bayes_error(0.02) == pytest.approx(largest_margin_error(0.02), abs=1e-3)


@pytest.mark.parametrize("alpha", [0.5, 2.0, 10.0])
def test_nothing_is_better_than_the_bayes_point(alpha):
    assert bayes_error(alpha) < largest_margin_error(alpha)
