import sys

from typer.testing import CliRunner

import bayespoint
from bayespoint.cli.app import app


def test_version_and_help():
    assert bayespoint.__version__ in CliRunner().invoke(app, ["--version"]).output
    result = CliRunner().invoke(app, ["--help"])
    assert result.exit_code == 0
    assert "demo" in result.output


def test_wrong_usage_is_exit_code_2():
    assert CliRunner().invoke(app, ["pinball"]).exit_code == 2
    assert CliRunner().invoke(app, ["demo", "--splits", "0"]).exit_code == 2


def test_a_missing_package_is_named(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for name in [name for name in sys.modules if name.startswith("matplotlib.")]:
        monkeypatch.setitem(sys.modules, name, None)
    run = ["papers", "run", "figure_12", "--quick", "--output", str(tmp_path)]
    result = CliRunner().invoke(app, run)
    assert result.exit_code == 1
    assert 'pip install "bayespoint[plot]"' in result.output
