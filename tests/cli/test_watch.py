import pandas as pd

from bayespoint.cli.trained import open_model
from bayespoint.cli.watch import Watch
from cli_helpers import mixed_table, ok, run


def test_new_categories_and_drift_are_told_with_all_names(tmp_path):
    table, model = mixed_table(400), tmp_path / "m"
    table.to_csv(tmp_path / "t.csv", index=False)
    options = ["--target", "kind", "--model", model, "--classifier", "linear"]
    ok("train", tmp_path / "t.csv", *options)
    same = run("predict", model, tmp_path / "t.csv")
    (line,) = same.stderr.splitlines()
    assert "equal rows that trained the model" in line  # and nothing about new categories or drift
    table["age"] += 5
    table.loc[:3, "town"] = ["Rom", "Rom", "Oslo", "Paris"]
    table.loc[3, "job"] = "pilot"
    table.to_csv(tmp_path / "new.csv", index=False)
    notes = run("predict", model, tmp_path / "new.csv").stderr
    assert "column 'town' has categories that training did not have" in notes
    assert "'Rom', 'Oslo', 'Paris' (4 rows)" in notes
    assert "column 'job' has categories that training did not have: 'pilot' (1 row)" in notes
    assert "these columns differ from training (share of rows that moved): 'age'" in notes


def test_models_without_a_summary_are_watched_for_categories_only(tmp_path, capsys):
    table = mixed_table(100)
    table.to_csv(tmp_path / "t.csv", index=False)
    options = ["--target", "kind", "--model", tmp_path / "m", "--classifier", "linear"]
    ok("train", tmp_path / "t.csv", *options)
    trained = open_model(tmp_path / "m")
    del trained.info["reference"]
    watch = Watch(trained)
    watch.see(pd.DataFrame({"age": [9.0] * 50, "town": ["Rom"] * 50, "job": ["baker"] * 50}))
    watch.tell()
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1
    assert "'Rom'" in lines[0]
