import urllib.error
import warnings

import pytest
from typer.testing import CliRunner

from bayespoint.cli.app import app
from bayespoint.papers.registry import EXPERIMENTS


def invoke(*arguments):
    return CliRunner().invoke(app, ["papers", *map(str, arguments)], env={"COLUMNS": "120"})


def test_list_names_all():
    result = invoke("list")
    assert result.exit_code == 0
    assert [line.split()[0] for line in result.output.splitlines()] == list(EXPERIMENTS)


def test_run_and_page(tmp_path):
    folder = tmp_path / "kept"
    result = invoke("run", "figure_12", "--output", folder)
    assert result.exit_code == 0, result.output
    assert "0.11" in result.output
    assert "agrees" in result.output
    result = invoke("run", "figure_18_3", "--quick", "--seed", 3, "--output", folder)
    assert result.exit_code == 0, result.output
    page = tmp_path / "page.md"
    result = invoke("page", "--source", folder, "--output", page)
    assert result.exit_code == 0, result.output
    text = page.read_text()
    assert (
        "![the angle between hypotheses and its linear approximation](kept/figure_12.png)" in text
    )
    assert "1 can be compared, and 1 agree." in " ".join(text.split())
    assert "seed 3 in reduced form" in text
    assert "Not run for this page: table_1" in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("run", "table_9"), "There is no experiment 'table_9'"),
        (("page", "--source", "nowhere"), "There is no experiment in nowhere"),
        (("run", "table_2_1", "--quick", "--data", "nowhere"), "no file raetsch/heart.npz"),
        (("run", "wisconsin", "--quick", "--data", "nowhere"), "uci/breast_cancer_wisconsin.npz"),
    ],
)
def test_errors_are_one_line(arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = invoke(*arguments)
    assert result.exit_code == 1
    assert message in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("table_1", "raetsch/heart.npz"),
        ("table_2_1", "raetsch/heart.npz"),
        ("figure_2_7", "raetsch/thyroid.npz"),
        ("wisconsin", "uci/breast_cancer_wisconsin.npz"),
        ("table_18_1", "uci/sonar.npz"),
        ("figure_10", "usps.npz"),
    ],
)
def test_without_folder_and_network_one_line_says_what_is_missing(
    name, wanted, tmp_path, monkeypatch
):
    def fail(**_):
        warnings.warn("A network error occurred while downloading it. Retrying...", stacklevel=1)
        raise urllib.error.URLError("no network in tests")

    monkeypatch.delenv("BAYESPOINT_DATA", raising=False)
    monkeypatch.setattr("sklearn.datasets.fetch_openml", fail)
    result = invoke("run", name, "--quick", "--output", tmp_path)
    assert result.exit_code == 1
    assert "OpenML cannot be reached" in result.stderr
    assert f"{wanted} into a folder and pass --data FOLDER or set BAYESPOINT_DATA" in result.stderr
    assert result.output.count("\n") == 1
