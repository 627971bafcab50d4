from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from bayespoint.active import Predictions
from bayespoint.labeling.entries import Answer
from bayespoint.labeling.finish import beside, write_answers, write_labeled, write_predicted
from bayespoint.labeling.rows import Rows

ROWS = Rows(pa.table({"a": ['x, "y"', None, "z\nz"], "b": ["1,5", "2", "03"]}), ["a"])


def read(path):
    return pd.read_csv(path, dtype=str, keep_default_na=False)


@pytest.mark.parametrize(
    ("pool", "result"),
    [
        ("pool.csv", "pool.journal.csv"),
        ("my.data.csv.gz", "my.data.journal.csv"),
        ("pool", "pool.journal.csv"),
        (".csv", ".csv.journal.csv"),
    ],
)
def test_names_beside_the_pool(pool, result):
    assert beside(Path("folder") / pool, "journal.csv") == Path("folder") / result


def test_the_labeled_file_is_the_pool_with_its_target(tmp_path):
    write_labeled(tmp_path / "l.csv", ROWS, "kind", {1: "yes", 2: "ü"})
    table = read(tmp_path / "l.csv")
    assert table.columns.tolist() == ["a", "b", "kind"]
    assert table["kind"].tolist() == ["", "yes", "ü"]
    assert table["a"].tolist() == ['x, "y"', "", "z\nz"]
    assert table["b"].tolist() == ["1,5", "2", "03"]


def predictions():
    return Predictions(
        np.array(["yes", "no", "yes"], object),
        np.array([np.nan, 0.987654321, 0.6]),
        np.array([False, True, False]),
        np.array(["person", "model", "refused"], object),
    )


def test_refused_rows_have_no_prediction(tmp_path):
    assert write_predicted(tmp_path / "p.csv", predictions(), True) == (2, 1)
    table = read(tmp_path / "p.csv")
    assert table["row"].tolist() == ["2", "3"]
    assert table["prediction"].tolist() == ["no", ""]
    assert table["probability"].tolist() == ["0.987654", "0.6"]
    assert table["accepted"].tolist() == ["true", "false"]


def test_without_a_promise_everything_is_predicted(tmp_path):
    assert write_predicted(tmp_path / "p.csv", predictions(), False) == (2, 2)
    table = read(tmp_path / "p.csv")
    assert table.columns.tolist() == ["row", "prediction", "probability"]
    assert table["prediction"].tolist() == ["no", "yes"]


def test_answers_alone(tmp_path):
    answers = [Answer(2, "k", "yes", "t2"), Answer(0, "k", "no", "t1"), Answer(1, "k", None, "t3")]
    assert write_answers(tmp_path / "a.csv", ROWS, "kind", answers) == 2
    table = read(tmp_path / "a.csv")
    assert table["row"].tolist() == ["1", "3"]
    assert table["kind"].tolist() == ["no", "yes"]
    assert table["b"].tolist() == ["1,5", "03"]
