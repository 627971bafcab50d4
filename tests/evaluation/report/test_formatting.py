"""Numbers and names as text."""

import pytest

from bayespoint.evaluation.report.formatting import (
    MAX_TEXT_LENGTH,
    between,
    level,
    number,
    percent,
    text,
)


@pytest.mark.parametrize("value", [0, 1, 0.5, 0.146, 0.0004, 3e-5, 1e-9, 0.99996, 1 - 1e-9])
def test_percentages_are_never_wrong_by_rounding_to_none_or_all(value):
    words = percent(value)
    assert (words == "0%") == (value == 0)
    assert (words == "100%") == (value == 1)
    assert float(words.strip("<>%")) == pytest.approx(100 * value, abs=0.05001)


@pytest.mark.parametrize(
    ("value", "written"),
    [(3, "3"), (1234567, "1,234,567"), (2.0, "2"), (0.123456, "0.1235"), (True, "True"),
     (1e20, "1e+20"), ("a", "a")],
)  # fmt: skip
def test_numbers(value, written):
    assert number(value) == written


def test_levels_intervals_and_long_texts():
    assert [level(0.95), level(0.999)] == ["95%", "99.9%"]
    assert between(0.1, 0.25) == "10.0 to 25.0%"
    assert percent(float("nan")) == "–"
    cut = text("x" * 100)
    assert len(cut) == MAX_TEXT_LENGTH
    assert cut.endswith("x…")
