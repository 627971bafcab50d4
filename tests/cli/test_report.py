import numpy as np
import pytest

from cli_helpers import fails, ok, read_exactly, run_json


@pytest.mark.parametrize(
    ("model", "data"),
    [
        ("linear.bpm", "test.parquet"),
        ("kernel.bpm", "test.csv"),
        ("three.bpm", "three.csv"),
        ("sparse.bpm", "more.svm"),
    ],
)
def test_a_page_about_a_model(world, tmp_path, model, data):
    out = tmp_path / "r.html"
    result = run_json(
        *("report", world / model, world / data, "--output", out),
        *("--title", "<b>Köln</b>", "--reject-rate", "0.1"),
    )
    page = out.read_text(encoding="utf-8")
    assert result["bytes"] == out.stat().st_size < 1_000_000
    assert "<b>Köln</b>" not in page
    assert "&lt;b&gt;Köln&lt;/b&gt;" in page
    expected = run_json("evaluate", world / model, world / data, "--reject-rate", "0.1")
    assert result["error"] == expected["error"]


def test_rows_can_be_kept_out_of_it(world, tmp_path):
    out, arguments = tmp_path / "r.html", ["report", world / "linear.bpm", world / "test.csv"]
    ok(*arguments, "--output", out)
    widths = read_exactly(world / "test.csv")["width"].map("{:.4g}".format)
    shown = sum(width in out.read_text() for width in widths)
    assert shown >= 10
    ok(*arguments, "--output", out, "--examples", "0")
    assert sum(width in out.read_text() for width in widths) <= shown - 10


def test_wrong_arguments_write_nothing(world, tmp_path):
    fails("report", world / "linear.bpm", world / "test.csv", code=2)
    line = fails(
        *("report", world / "linear.bpm", world / "test.csv"),
        *("--output", tmp_path / "r.html", "--target", "age"),
    )
    assert line
    assert list(tmp_path.iterdir()) == []


def test_rows_that_trained_the_model_do_not_judge_it(world, tmp_path):
    out = tmp_path / "r.html"
    arguments = ("report", world / "linear.bpm", world / "train.csv", "--output", out)
    result = run_json(*arguments)
    n_rows = len(read_exactly(world / "train.csv"))
    seen = result["seen"]
    assert 0 < result["n_rows"] == n_rows - seen["n_seen"] < n_rows / 2
    page = out.read_text(encoding="utf-8")
    assert f"seen {seen['n_seen']:,} of the {n_rows:,} rows in training" in page
    assert f"On {result['n_rows']:,} rows that it had not seen" in page
    run_json(*arguments, "--include-training-rows")
    assert "that it had not seen" not in out.read_text(encoding="utf-8")


def test_baselines_and_drift_come_from_the_model_file(world, tmp_path):
    table = read_exactly(world / "test.csv")
    table["width"] += 10 * table["width"].std()
    table.to_csv(tmp_path / "moved.csv", index=False)
    out = tmp_path / "r.html"
    ok("report", world / "linear.bpm", tmp_path / "moved.csv", "--output", out)
    page = out.read_text(encoding="utf-8")
    assert "held out in training" in page
    assert "random forest" in page
    assert "differs from training by more than chance explains: width" in page


def test_a_column_that_follows_from_the_answer_is_accused(world, tmp_path):
    for name in ("train", "test"):
        table = read_exactly(world / f"{name}.csv")
        # A copy with a few changes, so that training does not leave it out.
        other = table["kind"].sample(frac=1, random_state=0).to_numpy()
        changed = np.random.default_rng(0).random(len(table)) < 0.02
        table["later"] = np.where(changed, other, table["kind"])
        table["later"] = table["later"].map({"no": "refused", "yes": "paid"})
        table.to_csv(tmp_path / f"{name}.csv", index=False)
    model, out = tmp_path / "m.bpm", tmp_path / "r.html"
    ok("train", tmp_path / "train.csv", "--target", "kind", "--model", model)
    ok("report", model, tmp_path / "test.csv", "--output", out)
    assert "predicts almost every answer alone: “later”" in out.read_text(encoding="utf-8")
    ok("report", world / "linear.bpm", world / "test.csv", "--output", out)
    assert "almost every answer alone" not in out.read_text(encoding="utf-8")
