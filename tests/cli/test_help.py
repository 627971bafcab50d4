import re

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from bayespoint.cli.app import app
from bayespoint.cli.help import plain

VERBS = sorted(get_command(app).commands)


def test_help_has_sections():
    text = CliRunner().invoke(app, ["train", "--help"]).output
    for title in ("Arguments:", "Options:", "Refusing to answer:", "How to read the file:"):
        assert title in text


@pytest.mark.parametrize("verb", VERBS)
def test_help_fits_a_terminal_of_80_columns(verb):
    result = CliRunner().invoke(app, [verb, "--help"], env={"COLUMNS": "80"})
    assert result.exit_code == 0
    assert max(map(len, result.output.splitlines())) <= 80
    assert "..." not in result.output.partition("Options:")[0].partition("\n")[2]


@pytest.mark.parametrize("verb", VERBS)
def test_help_speaks_to_people(verb):
    """No types of Python, no formulas."""
    text = CliRunner().invoke(app, [verb, "--help"], env={"COLUMNS": "80"}).output
    assert not re.search(r"<str>|list\[|range>|<=x|x>=|default: \(", text)


def test_what_is_hidden_is_not_in_the_usage_line():
    text = CliRunner().invoke(app, ["export", "--help"]).output
    assert "export [OPTIONS] MODEL\n" in text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Share.  [default: 0.2; 0.01<=x<=0.9]", "Share.  [default: 0.2; 0.01 to 0.9]"),
        ("Rows.  [x>=2]", "Rows.  [at least 2]"),
        ("Mark.  [default: (guessed)]", "Mark.  [default: guessed]"),
        ("--keep <list[str]>", "--keep NAME"),
    ],
)
def test_plain(text, expected):
    assert plain(text) == expected
