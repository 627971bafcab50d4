import csv
from fnmatch import fnmatchcase
from importlib.resources import files

from bayespoint.papers.page import reason_for, write_page
from bayespoint.papers.published import _table
from bayespoint.papers.registry import EXPERIMENTS


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
    assert "1 published numbers can be compared; 0 agree" in text
    assert reason_for("table_1", "something else") == "We do not know why."


def test_agreement_due_to_few_repetitions_is_counted_separately(tmp_path):
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
    assert "3 published numbers can be compared; 2 agree, 1 of them only because" in text


def test_reasons_belong_to_published_numbers():
    text = (files("bayespoint.papers") / "reasons.csv").read_text(encoding="utf-8")
    for line in csv.DictReader(text.splitlines()):
        quantities = [quantity for name, quantity in _table() if name == line["experiment"]]
        assert line["experiment"] in EXPERIMENTS
        assert line["reason"].endswith(".")
        assert not line["quantity"] or any(fnmatchcase(q, line["quantity"]) for q in quantities)
