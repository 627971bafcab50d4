import shutil
from pathlib import Path

import pytest

from bayespoint.papers.ledger import AGREE, IMPOSSIBLE, TESTED, UNTESTED, entries, ledger
from bayespoint.papers.page import write_page
from bayespoint.papers.published import KINDS, _table
from bayespoint.papers.registry import find

DOCS = Path(__file__).parents[2] / "docs"
HEADER = "quantity,ours,error,n,published,place,far,verdict\n"
CIRCUMSTANCES = '{"seed": 0, "quick": false, "seconds": 1, "version": "0", "notes": []}'


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "table_1.csv").write_text(
        HEADER
        + '"heart, SVM error %",25,0.1,100,25.4,here,-1,agrees\n'
        + '"waveform, SVM error %",13.4,0.1,100,13.0,here,2.4,is higher\n'
        + '"sonar, SVM error %",17,0.1,100,15.4,here,4,is higher\n'
        + '"banana, BPM error %",13.6,0.1,100,15.1,here,-8.7,is lower\n'
        + '"something of ours",1,,1,,,,\n'
    )
    (tmp_path / "figure_6.csv").write_text(
        HEADER + '"left, SVM error %",1,,1,6.1,here,,not compared\n'
    )
    for name in ("table_1", "figure_6"):
        (tmp_path / f"{name}.json").write_text(CIRCUMSTANCES)
    return tmp_path


def test_each_number_is_in_one_column(folder):
    kept = [find("table_1"), find("figure_6")]
    columns = {e.line["quantity"]: e.column for e in entries(kept, folder) if not e.kind}
    assert columns == {
        "heart, SVM error %": AGREE,
        "waveform, SVM error %": TESTED,
        "sonar, SVM error %": UNTESTED,
        "left, SVM error %": IMPOSSIBLE,
    }


def test_what_is_compared_again_is_listed_apart(folder):
    text = ledger([find("table_1"), find("figure_6")], folder)
    assert "4 independent numbers are printed" in text
    assert "3 can be compared, and 1 agree." in text
    assert f"{KINDS['again']}*: table_1 0 of 1 agree." in text
    assert "banana" not in text
    assert "waveform, SVM error %: 13.4 ± 0.1, published 13.0 (+2.4). Reason tested by" in text


def test_reduced_runs_do_not_count(folder):
    path = folder / "table_1.json"
    path.write_text(path.read_text().replace("false", "true"))
    assert entries([find("table_1")], folder) == []


def test_each_printed_number_counts_once():
    """Only one comparison of 000's table 1 counts, and one of table 18.1."""
    counting = [key for key, number in _table().items() if not number.kind]
    assert {number.kind for number in _table().values()} == {"", *KINDS}
    of_table_1 = [q for name, q in counting if name in ("table_1", "algorithm_2")]
    assert len(of_table_1) == len(set(of_table_1)) == 14
    assert [q for name, q in counting if name == "table_18_1"] == ["errors, mean of all entries"]


def test_the_page_is_that_of_the_kept_runs(tmp_path):
    """`bayespoint papers page` was run after the last experiment."""
    without_pictures = shutil.ignore_patterns("*.png")
    shutil.copytree(DOCS / "papers", tmp_path / "papers", ignore=without_pictures)
    write_page(tmp_path / "papers", tmp_path / "papers.md")
    written = (tmp_path / "papers.md").read_text("utf-8")
    assert written == (DOCS / "papers.md").read_text("utf-8")
