from pandas._libs.parsers import STR_NA_VALUES

from bayespoint.io.tables.missing_values import MISSING_WORDS


def test_the_words_of_pandas_and_a_question_mark():
    assert len(set(MISSING_WORDS)) == len(MISSING_WORDS)
    assert set(MISSING_WORDS) == {*STR_NA_VALUES, "?"}
