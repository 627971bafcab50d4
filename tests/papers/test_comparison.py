import pytest

from bayespoint.papers.comparison import critical_difference


@pytest.mark.parametrize(("n_classifiers", "q"), [(2, 1.960), (6, 2.850), (10, 3.164)])
def test_critical_difference_agrees_with_the_printed_table(n_classifiers, q):
    """Demšar (2006), table 5a: q at the level 0.05, printed with three digits."""
    unit = (n_classifiers * (n_classifiers + 1) / (6 * 7)) ** 0.5
    assert critical_difference(n_classifiers, 7) / unit == pytest.approx(q, abs=6e-4)
