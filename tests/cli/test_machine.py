import numpy as np
import pandas as pd
import pytest

from bayespoint import BayesPointClassifier, LinearBayesPointClassifier
from bayespoint.cli.machine import (
    Contest,
    Entry,
    is_clear,
    judge_entry,
    make_pipeline,
    n_rows_used,
)
from bayespoint.cli.source import Plan
from bayespoint.io.tables.columns import Columns

COLUMNS = Columns(numbers=["a", "b"], categories=[], target="y", integers=False)


def table(n=60):
    X = pd.DataFrame(np.random.default_rng(0).standard_normal((n, 2)), columns=["a", "b"])
    return X, np.where(X["a"] > 0, "yes", "no")


@pytest.mark.parametrize("best", ["kernel", "linear"])
def test_the_better_probabilities_win_and_both_are_shown(best, capsys):
    good, bad = Entry(5000, 0.25, 0.051, 3.0), Entry(200_000, 0.5, 0.123, 1.0)
    contest = Contest(*((good, bad) if best == "kernel" else (bad, good)), 3000)
    assert contest.winner == contest.to_dict()["winner"] == best
    contest.announce()
    said = capsys.readouterr().err
    assert f"{best} machine is chosen: log loss 0.250, 5.1 % errors (trained with 5,000" in said
    assert "log loss 0.500, 12.3 % errors (trained with 200,000 rows in 1.0 s)" in said
    assert "tested on 3,000 training rows that they had not seen" in said


def test_small_tables_need_no_comparison():
    assert is_clear(10_000, 1000)
    assert not is_clear(10_001, 3)
    assert not is_clear(100, 1001)


def test_limits_reach_the_classifier():
    plan = Plan(max_time=1000.0, max_memory=2**40, seed=3)
    linear, kernel = (make_pipeline(COLUMNS, k, plan, 0.5)[-1] for k in ("linear", "kernel"))
    assert isinstance(linear, LinearBayesPointClassifier)
    assert isinstance(kernel, BayesPointClassifier)
    assert 490 < linear.max_time <= 500 > kernel.max_time > 490
    assert kernel.cache_size == 2000
    small = make_pipeline(COLUMNS, "kernel", Plan(max_memory=2**31))[-1]
    assert small.cache_size < 1024
    assert make_pipeline(COLUMNS, "linear", Plan())[-1].max_time is None


@pytest.mark.parametrize("kind", ["linear", "kernel"])
def test_a_class_that_a_machine_does_not_know_counts_as_an_error(kind):
    X, y = table()
    pipeline = make_pipeline(COLUMNS, kind, Plan()).fit(X, y)
    assert n_rows_used(pipeline) == 60
    y = np.where(np.arange(60) < 30, "other", y)
    entry = judge_entry(pipeline, X, y, np.array(["no", "other", "yes"]), 60, 1.0)
    assert 0.5 <= entry.error < 0.7
    assert entry.log_loss > 0.5 * -np.log(1e-10)


def test_rows_that_a_kernel_machine_left_out_do_not_count():
    X, y = table()
    pipeline = make_pipeline(COLUMNS, "kernel", Plan()).fit(X, y)
    pipeline[-1].loo_proba_[:7] = np.nan
    assert n_rows_used(pipeline) == 53
