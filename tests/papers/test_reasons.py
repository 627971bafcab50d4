import csv
import re
from fnmatch import fnmatchcase
from importlib.resources import files
from pathlib import Path

from bayespoint.papers.published import _table
from bayespoint.papers.reasons import FIELD, NOT_RUN, UNKNOWN, fill_in, reason_for
from bayespoint.papers.registry import EXPERIMENTS

DOCS = Path(__file__).parents[2] / "docs"
TEXT = (files("bayespoint.papers") / "reasons.csv").read_text(encoding="utf-8")
LINES = list(csv.DictReader(TEXT.splitlines()))


def test_reasons_belong_to_published_numbers():
    for line in LINES:
        quantities = [quantity for name, quantity in _table() if name == line["experiment"]]
        assert line["experiment"] in EXPERIMENTS
        assert line["reason"].endswith(".")
        assert not line["quantity"] or any(fnmatchcase(q, line["quantity"]) for q in quantities)


def test_what_tests_a_reason_runs_in_the_suite():
    """Every experiment runs in quick form in test_registry.py."""
    tests = {line["test"] for line in LINES if line["test"] or line["quantity"]}
    assert tests
    for test in tests:
        kind, _, name = test.partition(" ")
        assert kind == "experiment"
        assert name in EXPERIMENTS


def test_measured_numbers_in_prose_come_from_kept_runs():
    """A number with a decimal point is printed in a paper, or is a setting of 000's tolerance."""
    printed = {f"{n.value:g}" for n in _table().values()} | {"0.01", "0.0001"}
    for line in LINES:
        text = re.sub(r"\([^()]*sec\. [^()]*\)|sec\. \d+\.\d", "", FIELD.sub("", line["reason"]))
        for number in re.findall(r"\d+\.\d+", text):
            assert f"{float(number):g}" in printed, (line["experiment"], number)


def test_every_field_is_a_kept_number():
    for line in LINES:
        assert NOT_RUN not in fill_in(line["reason"], DOCS / "papers")


def test_fields_become_numbers_with_three_digits(tmp_path):
    (tmp_path / "table_1.csv").write_text('quantity,ours\n"a, b %",12.3456\n')
    assert fill_in("It is {table_1: a, b %} %.", tmp_path) == "It is 12.3 %."
    assert fill_in("It is {figure_4: c}.", tmp_path) == f"It is {NOT_RUN}."
    assert fill_in("It is {table_1: d}.", tmp_path) == f"It is {NOT_RUN}."


def test_reason_is_found_by_pattern():
    assert reason_for("table_1", "something else") is UNKNOWN
    assert reason_for("table_1", "banana, BPM error %").test == "experiment algorithm_2"
