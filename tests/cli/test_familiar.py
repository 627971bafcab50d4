import pandas as pd

from bayespoint.cli.familiar import Familiar
from cli_helpers import mixed_table, ok, run

WORDS = "rows that were checked equal rows that trained the model"


def test_a_prediction_of_training_rows_is_told(world):
    result = run("predict", world / "kernel.bpm", world / "train.csv")
    assert WORDS in result.stderr
    assert WORDS not in result.stdout
    sparse = run("predict", world / "sparse.bpm", world / "rows.svm")
    assert WORDS in sparse.stderr


def test_new_rows_and_a_few_old_ones_are_not_told(world, tmp_path):
    assert WORDS not in run("predict", world / "kernel.bpm", world / "test.csv").stderr
    few = pd.concat([mixed_table(300, seed=5), pd.read_csv(world / "train.csv")[:1]])
    few.to_csv(tmp_path / "few.csv", index=False)
    assert WORDS not in run("predict", world / "kernel.bpm", tmp_path / "few.csv").stderr


def test_repeats_by_chance_are_not_told(tmp_path):
    """Rows of two columns with few values: new rows equal training rows as a rule."""
    table = mixed_table(400)
    table = pd.DataFrame({"old": table["age"] > 40, "job": table["job"], "kind": table["kind"]})
    table[:300].to_csv(tmp_path / "old.csv", index=False)
    table[300:].to_csv(tmp_path / "new.csv", index=False)
    ok("train", tmp_path / "old.csv", "--target", "kind", "--model", tmp_path / "m")
    assert WORDS not in run("predict", tmp_path / "m", tmp_path / "new.csv").stderr


def test_a_model_without_a_record_is_silent(capsys):
    familiar = Familiar(None)
    familiar.see(mixed_table(5))
    familiar.tell()
    assert capsys.readouterr() == ("", "")
