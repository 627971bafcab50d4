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
