from pandas._libs.parsers import STR_NA_VALUES

from bayespoint.io.tables.missing_values import MISSING_WORDS, NOT_A_VALUE_WORDS


def test_the_words_of_pandas_of_databases_and_of_spreadsheets():
    words = (*MISSING_WORDS, *NOT_A_VALUE_WORDS)
    assert len(set(words)) == len(words)
    assert {*STR_NA_VALUES, "?", "\\N", "#DIV/0!"} <= set(MISSING_WORDS)


def test_signs_that_can_be_categories_are_missing_only_among_numbers():
    assert {"-", ".", "none"} <= set(NOT_A_VALUE_WORDS)
    assert not {"-", "+", "no", "0"} & set(MISSING_WORDS)
