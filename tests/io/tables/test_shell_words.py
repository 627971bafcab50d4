import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayespoint.io.tables.shell_words import shell_word


@pytest.mark.parametrize("name", ["age", "Schlüssel", "pixel_0_0", "a.b-c", "date=%d.%m.%Y"])
def test_names_that_are_words_stay(name):
    assert shell_word(name) == name


def test_quotes_that_windows_knows_too():
    assert shell_word("lead time") == '"lead time"'
    assert shell_word("l'âge") == '"l\'âge"'
    assert shell_word("cost ($)") == "'cost ($)'"


@given(st.text(min_size=1).filter(lambda name: "\0" not in name))
def test_a_shell_reads_one_word(name):
    assert shlex.split(shell_word(name)) == [name]
