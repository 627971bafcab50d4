import hashlib

import pandas as pd
import pytest
import typer

from bayespoint.cli.pool import Shown, read_pool
from bayespoint.cli.source import Plan
from bayespoint.io.tables.wishes import make_wishes
from cli_helpers import mixed_table


def pool_of(path, table, target="kind", shown=Shown(), **wishes):  # noqa: B008
    table.to_csv(path, index=False)
    return read_pool(str(path), target, Plan(wishes=make_wishes(**wishes)), shown)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "pool.csv"


def test_a_target_that_is_not_in_the_file(path):
    pool = pool_of(path, mixed_table(50).drop(columns="kind"))
    assert pool.labels == {}
    assert pool.columns.target == "kind"
    assert pool.X.shape == (50, 4)
    assert pool.facts()["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()


def test_labels_that_are_in_the_file(path):
    table = mixed_table(50)
    table.loc[5:, "kind"] = None
    pool = pool_of(path, table)
    assert pool.labels == dict(enumerate(table["kind"][:5]))
    assert "kind" not in pool.X.columns
    assert "kind" not in pool.rows.table.column_names
    assert len(pool.X) == 50


def test_an_empty_target(path):
    assert pool_of(path, mixed_table(50).assign(kind=None)).labels == {}


def test_classes_are_texts(path):
    pool = pool_of(path, mixed_table(30).assign(kind=["1", "02"] + [None] * 28))
    assert pool.labels == {0: "1", 1: "02"}
    assert not pool.columns.integers


def test_decimal_commas_and_indices_are_read_as_train_reads_them(path):
    table = mixed_table(60).drop(columns="kind")
    table["price"] = [f"{i},5 €" for i in range(60)]
    table.insert(0, "id", range(1, 61))
    table.to_csv(path, index=False, sep=";")
    pool = read_pool(str(path), "kind", Plan(), Shown())
    assert pool.X["price"].tolist() == [i + 0.5 for i in range(60)]
    assert "id" in pool.columns.left_out
    assert pool.rows.show(2)["cells"][0]["text"] == "3"  # it is shown all the same
    assert "2,5 €" in [cell["text"] for cell in pool.rows.show(2)["cells"]]


def test_what_is_shown_and_used(path):
    table = mixed_table(50).assign(photo=[f"{i}.png" for i in range(50)]).drop(columns="kind")
    pool = pool_of(path, table, shown=Shown(("town", "age"), "photo"))
    assert [cell["name"] for cell in pool.rows.show(0)["cells"]] == ["town", "age"]
    assert "photo" not in pool.columns.used
    assert pool.rows.show(0)["image"]
    pool = pool_of(path, table, columns=["age", "town"])
    assert pool.columns.used == ["age", "town"]
    assert [cell["name"] for cell in pool.rows.show(0)["cells"]] == ["age", "town"]
    pool = pool_of(path, table, text=["job"], drop=["photo"])
    assert pool.rows.show(0)["cells"][0]["name"] == "job"


def test_parquet(tmp_path):
    table = mixed_table(50).drop(columns="kind")
    table.to_parquet(tmp_path / "pool.parquet")
    pool = read_pool(str(tmp_path / "pool.parquet"), "kind", Plan(), Shown())
    assert pool.X.shape == (50, 4)
    assert pool.rows.key(0)


@pytest.mark.parametrize(
    ("data", "target", "message"),
    [
        ("-", "kind", "cannot be standard input"),
        ("pool.csv", None, "Name the column for the classes with --target"),
        ("rows.svm", "kind", "cannot read the rows of a LIBSVM"),
    ],
)
def test_what_cannot_be_labeled(tmp_path, monkeypatch, data, target, message):
    monkeypatch.chdir(tmp_path)
    mixed_table(20).to_csv("pool.csv", index=False)
    (tmp_path / "rows.svm").write_text("1 1:2 3:4\n-1 2:1\n" * 10)
    with pytest.raises(typer.BadParameter, match=message):
        read_pool(data, target, Plan(), Shown())


def test_columns_that_are_not_there(path):
    with pytest.raises(ValueError, match="tonw"):
        pool_of(path, mixed_table(20), shown=Shown(("tonw",)))


def test_classes_that_cannot_be_typed(path):
    table = pd.DataFrame({"a": range(6), "kind": ["yes", "Yes", "", "", "", ""]})
    with pytest.raises(ValueError, match="differs in capitals only"):
        pool_of(path, table)
