import warnings

import numpy as np
import pandas as pd
import pytest

from bayespoint import BayesPointClassifier, LinearBayesPointClassifier
from bayespoint.cli import fit, limits, machine
from bayespoint.cli.fit import fit_in_limits, row_size
from bayespoint.cli.source import Plan
from bayespoint.io.tables.columns import Columns

NAMES = [f"x{i}" for i in range(6)]
COLUMNS = Columns(numbers=NAMES, categories=[], target="y", integers=False)


def table(kind, n=1500, names=NAMES):
    """Return rows on which one kind of machine is better."""
    X = np.random.default_rng(0).standard_normal((n, len(names)))
    if kind == "kernel":
        y = np.where(X[:, 0] * X[:, 1] > 0, "in", "out")
    else:
        noise = np.random.default_rng(1).logistic(size=n)
        y = np.where(X.sum(axis=1) + noise > 0, "in", "out")
    return pd.DataFrame(X, columns=names), y


@pytest.fixture
def unclear(monkeypatch):
    """Compare machines on small tables, too."""
    monkeypatch.setattr(machine, "MAX_EXACT_ROWS", 100)


@pytest.mark.parametrize(
    ("kind", "classifier"),
    [("kernel", BayesPointClassifier), ("linear", LinearBayesPointClassifier)],
)
def test_the_better_machine_is_chosen(kind, classifier, unclear, capsys):
    names = NAMES if kind == "kernel" else [f"x{i}" for i in range(60)]
    columns = Columns(numbers=names, categories=[], target="y", integers=False)
    fitted = fit_in_limits(columns, *table(kind, names=names), Plan(), lambda text: None)
    assert fitted.contest.winner == kind
    assert isinstance(fitted.pipeline[-1], classifier)
    assert fitted.n_rows == 1350
    assert fitted.contest.n_test == 150
    assert f"{kind} machine is chosen" in capsys.readouterr().err


def test_a_wish_is_a_command(unclear, capsys):
    fitted = fit_in_limits(COLUMNS, *table("kernel"), Plan("linear"), lambda text: None)
    assert isinstance(fitted.pipeline[-1], LinearBayesPointClassifier)
    assert fitted.contest is None
    assert fitted.n_rows == 1500
    assert capsys.readouterr().err == ""


def test_without_a_time_limit_the_kernel_machine_gets_a_sample(monkeypatch):
    monkeypatch.setattr(fit, "MAX_KERNEL_ROWS", 300)
    fitted = fit_in_limits(COLUMNS, *table("kernel"), Plan("kernel"), lambda text: None)
    assert fitted.n_rows == 300


@pytest.mark.parametrize("kind", ["kernel", "linear"])
def test_a_time_limit_is_kept_without_warnings_and_not_stored(kind, monkeypatch):
    monkeypatch.setattr(limits, "MIN_SECONDS", 1e-3)
    X, y = table(kind, 30_000)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted = fit_in_limits(COLUMNS, X, y, Plan(kind, max_time=0.01), lambda text: None)
    assert fitted.n_rows < 30_000
    assert fitted.pipeline[-1].max_time is None
    assert fitted.pipeline.predict_proba(X[:5]).shape == (5, 2)


def test_little_memory_means_fewer_rows_or_parts(monkeypatch):
    X, y = table("linear")
    plan = Plan("kernel", max_memory=2**30)
    size = row_size(COLUMNS, X, y, plan)
    assert size.kernel == 3 * 8 * 6 + 64 * 2
    free = 500 * size.kernel / fit.KERNEL_ROWS_SHARE
    monkeypatch.setattr(limits, "MIN_BYTES", 0)
    monkeypatch.setattr(limits, "resident_bytes", lambda: 2**30 - free)
    monkeypatch.setattr(machine, "CACHE_SHARE", 1e4)  # matrices are not the question here
    kernel = fit_in_limits(COLUMNS, X, y, plan, lambda text: None)
    assert 498 <= kernel.n_rows <= 502
    free, sizes = 500 * size.linear / fit.LINEAR_ROWS_SHARE, []
    learn_part = fit.learn_part
    monkeypatch.setattr(
        fit, "learn_part", lambda p, X, y, *more: sizes.append(len(y)) or learn_part(p, X, y, *more)
    )
    linear = fit_in_limits(COLUMNS, X, y, Plan("linear", max_memory=2**30), lambda text: None)
    assert linear.n_rows == sum(sizes) == 1500
    assert len(sizes) > 1
    whole = fit_in_limits(COLUMNS, X, y, Plan("linear"), lambda text: None)
    differ = whole.pipeline.predict(X) != linear.pipeline.predict(X)
    assert differ.mean() < 0.05


def test_independent_weights_need_memory_for_each_class(monkeypatch):
    X, _ = table("linear")
    y = np.arange(1500) % 10
    size = row_size(COLUMNS, X, y, Plan())
    assert size.linear == 3 * 8 * 6 + 16 * 9
    monkeypatch.setattr(fit, "MAX_FULL_WEIGHTS", 10)
    assert row_size(COLUMNS, X, y, Plan()).linear == 3 * 8 * 6 + (12 + 32 * 9) * 6


def test_too_little_memory_is_an_error_before_it_is_taken():
    with pytest.raises(ValueError, match=r"at most 100M of memory may be taken, but the program"):
        fit_in_limits(COLUMNS, *table("linear"), Plan(max_memory=100 * 2**20), lambda text: None)
