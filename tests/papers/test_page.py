import csv
import urllib.error
import warnings
from fnmatch import fnmatchcase
from importlib.resources import files

import pytest
from typer.testing import CliRunner

from bayespoint.cli.app import app
from bayespoint.papers.page import reason_for, write_page
from bayespoint.papers.published import _table
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
    assert "![the angle between hypotheses and its straight proxy](kept/figure_12.png)" in text
    assert "1 published figures can be compared, 1 agree" in text
    assert "seed 3 in reduced form" in text
    assert "Not run for this page: table_1" in text


def test_differences_have_a_reason(tmp_path):
    header = "quantity,ours,error,n,published,place,far,verdict\n"
    line = '"banana, BPM error %",13.6,0.1,100,15.1 ± 0.14,here,-8.7,is lower\n'
    (tmp_path / "table_1.csv").write_text(header + line)
    (tmp_path / "table_1.json").write_text(
        '{"seed": 0, "quick": false, "seconds": 1, "version": "0", "notes": []}'
    )
    write_page(tmp_path, tmp_path / "page.md")
    text = (tmp_path / "page.md").read_text()
    difference = "Differs by more than two standard errors: banana, BPM error %. "
    assert difference + "The paper's billiard stops early" in text
    assert "1 published figures can be compared, 0 agree" in text
    assert reason_for("table_1", "something else") == "We do not know why."


def test_agreement_for_want_of_repetitions_is_counted_apart(tmp_path):
    header = "quantity,ours,error,n,published,place,far,verdict\n"
    lines = (
        "a,1,0.1,3,1.4,here,-4,agrees\nb,1,0.1,3,1.1,here,-1,agrees\nc,1,1,9,9,here,-8,is lower\n"
    )
    (tmp_path / "figure_9.csv").write_text(header + lines)
    (tmp_path / "figure_9.json").write_text(
        '{"seed": 0, "quick": false, "seconds": 1, "version": "0", "notes": []}'
    )
    write_page(tmp_path, tmp_path / "page.md")
    text = (tmp_path / "page.md").read_text()
    assert "3 published figures can be compared, 2 agree, 1 of these only because" in text


def test_reasons_belong_to_published_figures():
    text = (files("bayespoint.papers") / "reasons.csv").read_text(encoding="utf-8")
    for line in csv.DictReader(text.splitlines()):
        quantities = [quantity for name, quantity in _table() if name == line["experiment"]]
        assert line["experiment"] in EXPERIMENTS
        assert line["reason"].endswith(".")
        assert not line["quantity"] or any(fnmatchcase(q, line["quantity"]) for q in quantities)


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
    assert f"{wanted} by --data" in result.stderr
    assert result.output.count("\n") == 1
