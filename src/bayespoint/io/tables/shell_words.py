"""Names of columns as words of a command line, to copy from a message."""

from __future__ import annotations

import re
import shlex

# Every shell takes these as they are; Windows has no single quotes.
_PLAIN = re.compile(r"[\w.,:@%+/=-]+")
_SPECIAL_IN_QUOTES = set('"$`\\!')


def shell_word(name: str) -> str:
    """Return a name in quotes if a shell would take it for more than one word.

    Examples
    --------
    >>> print(shell_word("age"), shell_word("lead time"), shell_word("cost ($)"))
    age "lead time" 'cost ($)'
    """
    if _PLAIN.fullmatch(name):
        return name
    return shlex.quote(name) if _SPECIAL_IN_QUOTES & set(name) else f'"{name}"'
