import numpy as np
import pytest

from bayespoint.cli import source
from cli_helpers import fails, mixed_table, ok, run_json


@pytest.mark.parametrize("name", ["train.csv", "three.csv", "rows.svm"])
def test_every_row_is_predicted_once(world, name):
    target = [] if name.endswith("svm") else ["--target", "kind"]
    arguments = ["cross-validate", world / name, *target, "--folds", 3, "--classifier", "linear"]
    result = run_json(*arguments)
    assert result["n_rows"] == (200 if name.endswith("svm") else 240)
    assert len(result["fold_errors"]) == 3
    assert result["error"]["value"] == pytest.approx(np.mean(result["fold_errors"]), abs=0.01)
    assert "each predicted by a model trained with the other 2 of 3 folds" in ok(*arguments)


def test_too_few_rows_for_the_folds(world, tmp_path):
    table = mixed_table(40)
    table.loc[:, "kind"] = ["a"] * 3 + ["b"] * 37
    table.to_csv(tmp_path / "t.csv", index=False)
    arguments = ["cross-validate", tmp_path / "t.csv", "--target", "kind"]
    assert "a row for each of the 5 folds, but one has 3" in fails(*arguments)
    fails(*arguments, "--folds", "1", code=2)
    assert "--target" in fails("cross-validate", tmp_path / "t.csv", code=2)


def test_too_many_rows(world, monkeypatch):
    monkeypatch.setattr(source, "MAX_ROWS_IN_MEMORY", 100)
    monkeypatch.setattr("bayespoint.io.tables.csv_table.BLOCK_BYTES", 2000)
    line = fails("cross-validate", world / "train.csv", "--target", "kind")
    assert "too large to cross-validate" in line
