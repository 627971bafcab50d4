import csv
import math

from bayespoint.papers.experiment import Measured, Outcome
from bayespoint.papers.keep import lines_of, write_csv


def test_lines_have_verdicts_where_there_are_both():
    numbers = {"heart, SVM error %": Measured(25.4, 0.4, 100), "something": Measured(1.0)}
    outcome = Outcome(numbers, [], lambda: None)
    first, second = lines_of("table_1", outcome)
    assert (first["far"], first["verdict"]) == ("0", "agrees")
    assert (second["error"], second["verdict"]) == ("", "")


def test_files_have_a_column_for_each_key_and_nothing_for_nan(tmp_path):
    path = tmp_path / "runs.csv"
    write_csv(path, [{"a": 1 / 3, "b": math.nan}, {"a": 2, "c": "x, y"}])
    with open(path, encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    assert lines == [{"a": "0.333333", "b": "", "c": ""}, {"a": "2", "b": "", "c": "x, y"}]
