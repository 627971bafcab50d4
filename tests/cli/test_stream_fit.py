import numpy as np
import pandas as pd
import pytest

from bayespoint import BayesPointClassifier, LinearBayesPointClassifier
from bayespoint.cli import source
from bayespoint.cli.learn import HeldOut
from bayespoint.cli.source import Plan, read_source
from bayespoint.cli.stream_fit import Sample, fit_stream


def test_a_sample_is_as_large_as_wanted_and_fair():
    counts = np.zeros(10)
    for seed in range(200):
        sample = Sample(20, seed)
        for part in range(10):
            y = np.arange(10 * part, 10 * part + 10)
            sample.add(pd.DataFrame({"x": y}), y)
        X, y = sample.rows()
        assert X["x"].tolist() == y.tolist()
        assert len(np.unique(y)) == 20
        counts += np.bincount(y // 10, minlength=10)
    # Each part has a tenth of 4000 rows; allow four standard deviations of a binomial variable.
    assert np.abs(counts - 400).max() < 4 * np.sqrt(4000 * 0.1 * 0.9)


def streamed(path, monkeypatch, plan, kind):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2000, 3))
    inside = (
        X[:, 0] * X[:, 1] > 0 if kind == "kernel" else X @ [1, 1, 1] + rng.logistic(size=2000) > 0
    )
    table = pd.DataFrame(X, columns=list("abc")).assign(y=np.where(inside, "in", "out"))
    table.to_csv(path, index=False)
    monkeypatch.setattr(source, "MAX_ROWS_IN_MEMORY", 500)
    monkeypatch.setattr(source, "ROWS_PER_CHUNK", 300)
    monkeypatch.setattr("bayespoint.io.tables.csv_table.BLOCK_BYTES", 8000)
    monkeypatch.setattr("bayespoint.cli.stream_fit.COMPARED_SHARE", 0.1)
    found = read_source(str(path), "y", plan)
    assert found.rest is not None
    held_out = HeldOut(0.1, 0)
    first = held_out.take(found.X, found.y)
    return fit_stream(found, *first, plan, held_out, lambda text: None), held_out


@pytest.mark.parametrize(
    ("kind", "classifier"),
    [("kernel", BayesPointClassifier), ("linear", LinearBayesPointClassifier)],
)
def test_the_better_machine_is_chosen(tmp_path, monkeypatch, kind, classifier):
    (fitted, n_read), held_out = streamed(tmp_path / "t.csv", monkeypatch, Plan(), kind)
    assert fitted.contest.winner == kind
    assert isinstance(fitted.pipeline[-1], classifier)
    assert n_read == 2000 - len(held_out)
    n_apart = fitted.contest.n_test
    assert fitted.n_rows == n_read - (n_apart if kind == "kernel" else 0)
    X, y = held_out.rows()
    assert fitted.pipeline.score(X, y) > 0.75


@pytest.mark.parametrize("kind", ["kernel", "linear"])
def test_a_wish_is_a_command(tmp_path, monkeypatch, kind):
    other = {"kernel": "linear", "linear": "kernel"}[kind]
    monkeypatch.setattr("bayespoint.cli.stream_fit.MAX_KERNEL_ROWS", 400)
    (fitted, n_read), _ = streamed(tmp_path / "t.csv", monkeypatch, Plan(kind), other)
    assert fitted.contest is None
    assert fitted.n_rows == (n_read if kind == "linear" else 400)


def test_reading_stops_when_its_time_is_over_and_says_so(tmp_path, monkeypatch, capsys):
    plan = Plan("linear", max_time=100.0)
    streamed(tmp_path / "t.csv", monkeypatch, plan, "linear")
    assert "only the first" not in capsys.readouterr().err
    monkeypatch.setattr("bayespoint.cli.stream_fit.WHOLE_TIME", 0.0)
    (fitted, n_read), held_out = streamed(tmp_path / "t.csv", monkeypatch, plan, "linear")
    assert 0 < fitted.n_rows == n_read < 1000
    told = f"only the first {n_read + len(held_out)} rows of t.csv that have a class are used"
    assert f"{told}, because of --max-time 100" in capsys.readouterr().err


def test_without_memory_for_a_kernel_machine_the_linear_one_is_kept(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("bayespoint.cli.stream_fit.MIN_BYTES", np.inf)
    plan = Plan(max_memory=2**40)
    (fitted, _), _ = streamed(tmp_path / "t.csv", monkeypatch, plan, "kernel")
    assert isinstance(fitted.pipeline[-1], LinearBayesPointClassifier)
    assert "leaves none for a kernel machine" in capsys.readouterr().err
