import numpy as np
import pytest

from bayespoint.io.tables.number_doubts import (
    ask_about_numbers,
    find_code,
    find_rare_unit,
    find_unsigned,
)

AGES = [18, 25, 33, 47, 61, 79] * 5


@pytest.mark.parametrize("code", [-9, -99, -999, 999, 99999])
def test_codes_for_missing_values_are_found(code):
    assert find_code(np.array([*AGES, code, code, np.nan])) == (code, 2)


@pytest.mark.parametrize(
    "values",
    [
        AGES,
        [*AGES, -999],  # once: a typing error, or a value
        [*AGES, 99, 99],  # an age
        [*AGES, -1, -1],
        [-1200, *AGES, -999, -999],  # not the smallest
        [-300, -500, *AGES, -999, -999],  # not far away
        [0, 5000, 41310, 99999, 99999],  # a largest value of a wide range
        [0, 99] * 20,
        [np.nan] * 5,
        [],
    ],
)
def test_other_numbers_are_not_codes(values):
    assert find_code(np.array(values, dtype=float)) is None


def test_numbers_without_the_percent_sign_are_found():
    assert find_unsigned(["5 %", "7%", "0", "0,00", "-0.0"], "%") is None
    assert find_unsigned(["5 %", "0,05"], "%") == "0,05"
    assert find_unsigned(["5 €", "7"], "€") is None
    assert find_unsigned(["5", "7"], "") is None


def test_a_unit_that_few_numbers_have_is_found():
    assert find_rare_unit(["67 yrs", "34", "8"], "yrs") == "67 yrs"
    assert find_rare_unit(["67 yrs", "34 yrs", "8"], "yrs") is None
    assert find_rare_unit(["5 %", "34", "8"], "%") is None
    assert find_rare_unit(["67", "34", "8"], "") is None
    (question,) = ask_about_numbers("age", np.array([67.0, 34, 8]), ["67 yrs", "34", "8"], "yrs")
    assert "'67 yrs' among numbers without a unit: all are read in yrs" in question


def test_questions_are_sentences():
    values = np.array([5.0, 0.05, 7, -999, -999])
    code, percent = ask_about_numbers("x", values, ["5 %", "0.05", "7 %", "-999 %"], "%")
    assert code.startswith("column 'x' holds -999 in 2 rows")
    assert "it is read as 0.05 %" in percent
    assert ask_about_numbers("x", np.array([5.0, 7]), ["5 %", "7 %"], "%") == []
