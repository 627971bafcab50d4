import pytest
from typer.main import get_command
from typer.testing import CliRunner

from bayespoint.cli.app import app

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
