import sys

import pytest
from typer.testing import CliRunner

import bayespoint
from bayespoint import cli
from bayespoint.cli.app import app


def test_version_and_help():
    assert bayespoint.__version__ in CliRunner().invoke(app, ["--version"]).output
    result = CliRunner().invoke(app, ["--help"])
    assert result.exit_code == 0
    assert "demo" in result.output


def test_wrong_usage_is_exit_code_2():
    assert CliRunner().invoke(app, ["pinball"]).exit_code == 2
    assert CliRunner().invoke(app, ["demo", "--splits", "0"]).exit_code == 2


def test_help_has_sections():
    text = CliRunner().invoke(app, ["train", "--help"]).output
    for title in ("Arguments:", "Options:", "Refusing to answer:", "The file:"):
        assert title in text


def test_demo_shows_both_classifiers():
    result = CliRunner().invoke(app, ["demo", "--splits", "2"], env={"COLUMNS": "120"})
    assert result.exit_code == 0, result.output
    for word in ["iris", "digits", "Bayes point", "SVC", "log loss", "rejected"]:
        assert word in result.output


def test_without_extra_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "typer", None)
    with pytest.raises(SystemExit, match=r'pip install "bayespoint\[cli\]"'):
        cli.main()
