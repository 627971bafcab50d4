import subprocess
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


def test_ctrl_c_before_a_verb_has_begun():
    code = (
        "from bayespoint.cli import app, main\n"
        "def press(): raise KeyboardInterrupt\n"
        "app.app = press\n"
        "main()"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ended.returncode == 130
    assert ended.stderr == "bayespoint: interrupted; nothing is kept\n"
