import sys

import pytest

from bayespoint import cli


def test_without_extra_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "typer", None)
    with pytest.raises(SystemExit, match=r'pip install "bayespoint\[cli\]"'):
        cli.main()


def test_runs_the_command(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["bayespoint", "--version"])
    with pytest.raises(SystemExit) as end:
        cli.main()
    assert not end.value.code
    assert "bayespoint" in capsys.readouterr().out
